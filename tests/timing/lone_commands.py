"""Single commands with the cycles that the vendor's compiler gives them, without a program.

One line per command: where it comes from, its engine, its cycles and its bytes in hexadecimal.
"""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bm1684x import decode

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.timing import tiu_cycles, transfer

SUFFIX = ".commands.gz"


@dataclass(frozen=True)
class Recorded:
    """A command as it stands in a program, and the vendor's estimate for it in cycles."""

    source: str
    command: Command
    cycles: int

    @property
    def name(self) -> str:
        """Form and function in words, as `sAR.add`."""
        command = self.command
        return f"{command.form.name}.{command.function_name}"

    def agrees(self, chip: Chip) -> bool:
        """Whether our model gives the command the same cycles."""
        if self.command.engine is Engine.TIU:
            return tiu_cycles(self.command, chip) == self.cycles
        return transfer(self.command, chip).cycles == self.cycles


def lone_commands(path: Path) -> Iterator[Recorded]:
    """The commands of a `.commands.gz` file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            source, engine, cycles, raw = line.split()
            yield Recorded(source, decode(bytes.fromhex(raw), Engine(engine)), int(cycles))
