"""Loading, running and comparing single-command vectors (tests/data/golden/README.md)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.bm1684x import INSTRUCTIONS

from xdsl_tpu.backend.isa import Command, Engine, InstructionSet
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.elements import bfloat16_to_float32
from xdsl_tpu.backend.machine.memory import Placed

Array = npt.NDArray[Any]

_UNSIGNED: dict[str, Any] = {
    **dict.fromkeys(("ui8", "si8"), np.uint8),
    **dict.fromkeys(("ui16", "si16", "f16", "bf16"), np.uint16),
    **dict.fromkeys(("ui32", "si32", "f32"), np.uint32),
}
_VALUES: dict[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "si8": np.int8,
    "si16": np.int16,
    "si32": np.int32,
}


@dataclass(frozen=True)
class Vector:
    """One command with the contents of its operands before and its results after."""

    entry: dict[str, Any]
    shard: Path
    instructions: InstructionSet = INSTRUCTIONS

    @property
    def name(self) -> str:
        return self.entry["id"]

    @property
    def command(self) -> Command:
        """With what the commands before it wrote to registers."""
        raw = [bytes.fromhex(one) for one in (*self.entry.get("before", ()), self.entry["raw"])]
        engine = Engine(self.entry["engine"])
        *_, command = self.instructions.decode_stream(b"".join(raw), engine, len(raw))
        return command

    @property
    def form(self) -> str:
        return self.command.form.name

    @property
    def function(self) -> int:
        return self.command.function

    def array(self, operand: dict[str, Any]) -> Array:
        return shard(self.shard)[operand["array"]]


@cache
def shard(path: Path) -> dict[str, Array]:
    with np.load(path) as data:
        return dict(data)


def vectors(folder: Path, instructions: InstructionSet = INSTRUCTIONS) -> Iterator[Vector]:
    for entry in json.loads((folder / "index.json").read_text()):
        yield Vector(entry, folder / entry["shard"], instructions)


def region(machine: Machine, operand: dict[str, Any]) -> Placed:
    """The memory an operand occupies, with broadcast dimensions reduced to what is stored."""
    dtype = np.dtype(_UNSIGNED[operand["dtype"]])
    n, c, h, w = operand["data_shape"]
    sn, sc, sh, sw = operand["stride"]
    memory = machine.memory
    places = {"L": memory.local.place, "G": memory.ddr.place, "S": memory.static.place}
    return places[operand["mem"]](operand["addr"], (n, c, h, w), (sn, sc, sh, sw), dtype)


def prepare(machine: Machine, vector: Vector, clear: int = 0) -> None:
    """Write the operands, in order and without the bits in `clear` counted from the top."""
    for operand in vector.entry["inputs"]:
        bits = vector.array(operand)
        mask = bits.dtype.type((1 << (8 * bits.itemsize - clear)) - 1)
        region(machine, operand).write(bits & mask)


def results(machine: Machine, vector: Vector) -> list[tuple[str, Array, Array]]:
    """(element type, got, wanted) of every result, as unsigned integers."""
    return [
        (o["dtype"], region(machine, o).read().copy(), vector.array(o))
        for o in vector.entry["outputs"]
    ]


def values(bits: Array, dtype: str) -> Array:
    """Stored bits as numbers in float64."""
    if dtype == "bf16":
        return bfloat16_to_float32(bits).astype(np.float64)
    return bits.view(_VALUES.get(dtype, bits.dtype)).astype(np.float64)


def mismatches(bits: Array, wanted: Array, dtype: str) -> int:
    """Elements that differ; any two NaNs are the same."""
    different = bits != wanted
    if dtype in ("f16", "bf16", "f32"):
        different &= ~(np.isnan(values(bits, dtype)) & np.isnan(values(wanted, dtype)))
    return int(different.sum())
