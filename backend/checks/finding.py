"""What a check reports."""

from dataclasses import dataclass
from enum import Enum

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program


class Fault(Enum):
    """The kinds of mistake a chip would not report but act on."""

    UNWRITTEN = "read before write"
    RACE = "race"
    MISALIGNED = "misaligned"
    LANE = "wrong lane"
    OUT_OF_RANGE = "out of range"
    CONTRADICTION = "fields contradict each other"
    OVERLAP = "overwrites its own operand"
    OUTSIDE = "outside arena and coefficients"
    COEFFICIENTS = "write over coefficients"
    SEQUENCE = "id out of sequence"
    END = "end marker"
    DEADLOCK = "deadlock"
    CROSSING = "race between cores"
    UNKNOWN = "unknown operands"


@dataclass(frozen=True, slots=True)
class Place:
    """A command of a program in words; `engine` is None for the program as a whole. The first
    core, which may be the only one, is not mentioned."""

    engine: Engine | None = None
    identity: int = 0
    instruction: str = ""
    layer: str = ""
    core: int = 0

    def __str__(self) -> str:
        if self.engine is None:
            return "program"
        layer = f", layer '{self.layer}'" if self.layer else ""
        core = f"core {self.core}, " if self.core else ""
        return f"{core}{self.engine.value} command {self.identity} ({self.instruction}{layer})"


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake: its kind, the command, and what is wrong with which bytes."""

    fault: Fault
    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.fault.value}: {self.message}"


def place_of(program: Program, engine: Engine, position: int) -> Place:
    """The command at an index of a queue, with the layer it was made for."""
    command = program.queue(engine)[position]
    indices = program.layer_indices(engine)
    index = indices[position] if position < len(indices) else -1
    layer = program.layers[index].name if 0 <= index < len(program.layers) else ""
    function = command.function_name
    return Place(engine, position + 1, f"{command.form.name}.{function}", layer)
