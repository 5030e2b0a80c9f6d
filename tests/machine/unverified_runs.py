"""Runs one command that no recording covers, its operands placed by `backend.operands`.

So the machine and those rules are held to each other: the bytes that change must be the ones that
a rule calls written.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.bm1684x import FORMS, decode

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Command, encode
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.status import is_unverified
from xdsl_tpu.backend.operands import Access, accesses
from xdsl_tpu.backend.timing import tiu_cycles, transfer

Array = npt.NDArray[Any]
CHIP = load_chip("bm1684x")


def make_command(form: str, function: int, **fields: int) -> Command:
    """A command as it comes out of a file: encoded and decoded."""
    kind = FORMS[form]
    raw = encode(Command(kind, {"cmd_id": 1, kind.function_field: function, **fields}))
    return decode(raw, kind.engine)


@dataclass
class Run:
    """A command with the arrays that its operands hold, by name; one per piece of an operand."""

    command: Command
    operands: dict[str, Array | tuple[Array, ...]]

    def result(self, dtype: str, name: str = "res0") -> Array:
        """What the command leaves in the written operand `name`."""
        command = self.command
        assert is_unverified(command)
        machine = Machine(CHIP)
        rng = np.random.default_rng(1)
        machine.memory.local.bytes[:] = rng.integers(0, 256, machine.memory.local.bytes.size)
        found = accesses(command, CHIP)
        self._write(machine, found)
        before = machine.memory.local.bytes.copy()
        machine.execute(command)
        changed = machine.memory.local.bytes != before
        assert not changed[~_written(found)].any()
        self._costs_something()
        (target,) = (a for a in found if a.operand == name and a.writes)
        return _placed(machine, target, np.dtype(dtype)).read().copy()

    def _write(self, machine: Machine, found: tuple[Access, ...]) -> None:
        for name, values in self.operands.items():
            pieces = values if isinstance(values, tuple) else (values,)
            places = [a for a in found if a.operand == name and not a.writes]
            for access, piece in zip(places, pieces, strict=bool(places)):
                _placed(machine, access, piece.dtype).write(piece)

    def _costs_something(self) -> None:
        if self.command.form.name.startswith("DMA"):
            assert transfer(self.command, CHIP).cycles >= 1
        else:
            assert tiu_cycles(self.command, CHIP) >= 1


def _placed(machine: Machine, access: Access, dtype: np.dtype[Any]) -> Placed:
    assert dtype.itemsize == access.size
    if access.local:
        return machine.memory.local.place(access.address, access.shape, access.strides, dtype)
    return machine.memory.place(access.address, access.shape, access.strides, dtype)


def _written(found: tuple[Access, ...]) -> npt.NDArray[np.bool_]:
    """The bytes of local memory that the operand rules call written."""
    shadow = Machine(CHIP)
    shadow.memory.local.bytes[:] = 0
    for access in found:
        if access.writes and access.local:
            ones = np.full(access.shape, -1, f"i{access.size}")
            _placed(shadow, access, ones.dtype).write(ones)
    return shadow.memory.local.bytes != 0
