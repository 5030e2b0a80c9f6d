"""Whole command streams with the CRC of every result (tests/data/golden/README.md)."""

import hashlib
import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from tests.bm1684x import decode

from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.machine import Machine

Array = npt.NDArray[Any]

_INPUT_SEED, _INPUT_SCALE = 100, 2.0
_MASK = np.uint64(0xFFFF_FFFF)
_LOCAL = 1


def hashed(count: int, seed: int, first: int) -> Array:
    """Hashed element indices from `first` on, as u32."""
    x = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B1)
    x = (x + np.uint64(seed)) & _MASK
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x ^= x >> np.uint64(shift)
        x = (x * np.uint64(factor)) & _MASK
    return (x ^ (x >> np.uint64(16))).astype(np.uint32)


def uniform(count: int, seed: int, first: int) -> Array:
    """Hashed element indices from `first` on, as f32 in [-1, 1)."""
    return (hashed(count, seed, first).astype(np.float64) / 2**31 - 1).astype(np.float32)


def _bytes(seed: int, mask: int, least: int = 0) -> Callable[[int, int], Array]:
    """`least` plus the hash's low bits, one byte each."""
    return lambda count, first: (least + (hashed(count, seed, first) & mask)).astype(np.uint8)


def _halves(seed: int, scale: float, middle: float = 0.0) -> Callable[[int, int], Array]:
    """f16 around `middle`, computed in f32."""

    def values(count: int, first: int) -> Array:
        spread = uniform(count, seed, first) * np.float32(scale)
        return (np.float32(middle) + spread).astype(np.float16)

    return values


RAW_KIND, F32_KIND = 3, 2
FORMULAS: dict[int, tuple[int, Callable[[int, int], Array]]] = {
    1: (2, _halves(1, 0.08)),
    4: (1, _bytes(3, 255)),
    5: (1, _bytes(4, 15)),
    6: (2, _halves(5, 0.002, 0.006)),
    7: (2, _halves(6, 0.25, 1.0)),
    8: (2, _halves(7, 1.0)),
    9: (1, _bytes(8, 63, 96)),
    10: (2, _halves(9, 1e-4, 4e-4)),
}
"""Kinds of weights that are a formula of the element's number: bytes of an element, and the values.

Kind 0 is zero, 2 is f32 with an amplitude of the trace's own, 3 is stored in the file.
"""


@dataclass(frozen=True)
class Trace:
    """A recorded stream: `data` are the arrays of its file, `meta` addresses and types."""

    data: dict[str, Array]
    meta: dict[str, Any]
    commands: list[Command]

    @property
    def segments(self) -> list[tuple[int, int, int]]:
        """Byte offset, length and kind of every piece of the weights."""
        if "coeff_segments" not in self.data:
            return []
        rows: list[list[int]] = self.data["coeff_segments"].tolist()
        return [(offset, length, kind) for offset, length, kind in rows]

    def queue(self, engine: Engine, count: int) -> list[Command]:
        """The commands of one queue among the first `count` executed ones."""
        return [c for c in self.commands[:count] if c.engine is engine]

    def region_crc(self, machine: Machine, position: int) -> int:
        """CRC32 of what the command at `position` wrote."""
        crc = 0
        for region in range(2):
            if where := self.data["res_mem"][position, region]:
                memory = machine.memory.local if where == _LOCAL else machine.memory.ddr
                shape = [int(size) for size in self.data["res_shape"][position, region]]
                strides = [int(step) for step in self.data["res_stride"][position, region]]
                for axis in (0, 2, 3):
                    shape[axis] = shape[axis] if strides[axis] else 1
                name = self.meta["dtypes"][self.data["res_dtype"][position, region]]
                dtype = np.dtype(f"u{int(name.lstrip('uibfs')) // 8 or 1}")
                placed = memory.place(
                    int(self.data["res_addr"][position, region]),
                    cast(tuple[int, int, int, int], tuple(shape)),
                    cast(tuple[int, int, int, int], tuple(strides)),
                    dtype,
                )
                crc = zlib.crc32(placed.read().tobytes(), crc)
        return crc


def load_trace(path: Path) -> Trace:
    with np.load(path) as file:
        data: dict[str, Array] = dict(file)
    raw = memoryview(data["raw"].tobytes())
    commands: list[Command] = []
    for is_gdma in data["engine"].tolist():
        command = decode(raw, Engine.GDMA if is_gdma else Engine.TIU)
        commands.append(command)
        raw = raw[command.form.size :]
    return Trace(data, json.loads(data["meta"].tobytes()), commands)


def weights(trace: Trace) -> npt.NDArray[np.uint8]:
    """The image of all weights; raises ValueError when it is not the recorded one."""
    end = max((offset + length for offset, length, _ in trace.segments), default=0)
    image = np.zeros(trace.meta.get("coeff_size", end), np.uint8)
    taken = 0
    for offset, length, kind in trace.segments:
        if kind == RAW_KIND:
            piece = trace.data["coeff_raw"][taken : taken + length]
            taken += length
        elif kind == F32_KIND:
            scale = np.float32(trace.meta.get("synth_f32_amp", 0.5))
            piece = uniform(length // 4, 2, offset // 4) * scale
        elif kind:
            size, values = FORMULAS[kind]
            piece = values(length // size, offset // size)
        else:
            continue
        image[offset : offset + length] = np.frombuffer(piece.tobytes(), np.uint8)
    wanted = trace.meta.get("coeff_synth_sha256")
    if wanted not in (None, hashlib.sha256(image.tobytes()).hexdigest()):
        raise ValueError("the weights made by formula are not those that were recorded")
    return image


def prepare(trace: Trace, machine: Machine) -> None:
    """Write weights and inputs to DDR."""
    meta, base = trace.meta, machine.memory.chip.ddr_base
    machine.memory.ddr.reserve(meta["ctx_addr"] + meta["ctx_size"] - meta["ddr_base"])
    machine.memory.write(base, weights(trace))
    for port in meta["io"]:
        if port["kind"] == "input":
            count = math.prod(port["shape"])
            values = trace.data.get(f"in_{port['name']}")
            if values is None:
                values = uniform(count, _INPUT_SEED, 0) * np.float32(_INPUT_SCALE)
            machine.memory.write(base + port["addr"], values)
