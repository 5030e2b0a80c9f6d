"""Fields that do not lie in a command's own bits but in registers, which another command writes.

A set that has registers gives such fields the bits behind those of their form (`forms.json`,
`registers`), so that kernels, text, checks and the machine see them like others: who issues
commands puts one that writes registers in front (`written_before`), who reads a queue gives
commands what its registers hold (`Registers`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from xdsl_tpu.backend.isa.command import Command
from xdsl_tpu.backend.isa.forms import Form

_WORD = 32
_WORD_MASK = (1 << _WORD) - 1
UNUSED = 127
"""A register that nothing reads, for the places of a command that has less than three to write."""

_PLACES = ("reg_idx0", "reg_idx1", "reg_idx2")


@dataclass
class Registers:
    """What the registers hold while the commands of a queue go by."""

    held: dict[int, int]

    def filled(self, command: Command) -> Command:
        """The command with the fields that registers have; one that writes registers is noted."""
        if _PLACES[0] in command.form.by_name:
            self.held |= _written(command)
            return command
        wanted = _read(command.form, command)
        values = {name: self.held.get(number, 0) for name, number in wanted.items()}
        if not any(values.values()):
            return command
        return replace(command, fields={**command.fields, **{k: v for k, v in values.items() if v}})

    def written_before(self, form: Form, fields: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """The fields of the commands that write what a command of these fields reads and registers
        do not hold: three of them at most each."""
        wanted = _read(form, _Fields(fields))
        missing = [
            (number, fields.get(name, 0))
            for name, number in wanted.items()
            if self.held.get(number) != fields.get(name, 0)
        ]
        self.held |= dict(missing)
        for first in range(0, len(missing), len(_PLACES)):
            some = missing[first : first + len(_PLACES)]
            some += [(UNUSED, 0)] * (len(_PLACES) - len(some))
            numbers = {name: number for name, (number, _) in zip(_PLACES, some, strict=True)}
            (_, one), (_, two), (_, three) = some
            yield {**numbers, "imm0": one, "imm1": two | three << _WORD}


class _Fields(dict[str, int]):
    def __missing__(self, name: str) -> int:
        return 0


def _written(command: Command) -> dict[int, int]:
    more = command["imm1"]
    values = command["imm0"], more & _WORD_MASK, more >> _WORD
    return {command[name]: value for name, value in zip(_PLACES, values, strict=True)}


def _read(form: Form, fields: "Command | _Fields") -> dict[str, int]:
    """The registers that a command reads, by the names of their fields."""
    return {
        name: one.number
        for name, one in form.registers.items()
        if all(fields[flag] for flag in one.when)
    }
