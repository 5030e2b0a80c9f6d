"""Whole command streams with the CRC of every result (tests/data/golden/README.md)."""

import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa import Command, Engine, decode
from xdsl_tpu.backend.machine import Machine

Array = npt.NDArray[Any]

_INPUT_SEED, _INPUT_SCALE = 100, 2.0
_F16_SEED, _F16_SCALE = 1, 0.08
_F32_SEED = 2
_MASK = np.uint64(0xFFFF_FFFF)
_F16_SEGMENT, _F32_SEGMENT, _RAW_SEGMENT = 1, 2, 3
_LOCAL = 1


def uniform(count: int, seed: int, first: int) -> Array:
    """Hashed element indices from `first` on, as f32 in [-1, 1)."""
    x = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B1)
    x = (x + np.uint64(seed)) & _MASK
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x ^= x >> np.uint64(shift)
        x = (x * np.uint64(factor)) & _MASK
    x = (x ^ (x >> np.uint64(16))).astype(np.uint32)
    return (x.astype(np.float64) / 2**31 - 1).astype(np.float32)


@dataclass(frozen=True)
class Trace:
    """A recorded stream: `data` are the arrays of its file, `meta` addresses and types."""

    data: dict[str, Array]
    meta: dict[str, Any]
    commands: list[Command]

    @property
    def segments(self) -> list[tuple[int, int, int]]:
        """Byte offset, length and kind of every piece of the weights."""
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


def prepare(trace: Trace, machine: Machine) -> None:
    """Write weights and input to DDR."""
    meta, base = trace.meta, machine.memory.chip.ddr_base
    machine.memory.ddr.reserve(meta["ctx_addr"] + meta["ctx_size"] - meta["ddr_base"])
    taken = 0
    for offset, length, kind in trace.segments:
        if kind == _RAW_SEGMENT:
            machine.memory.write(base + offset, trace.data["coeff_raw"][taken : taken + length])
            taken += length
        elif kind == _F16_SEGMENT:
            scale = np.float32(_F16_SCALE)
            weights = (uniform(length // 2, _F16_SEED, offset // 2) * scale).astype(np.float16)
            machine.memory.write(base + offset, weights)
        elif kind == _F32_SEGMENT:
            scale = np.float32(meta.get("synth_f32_amp", 0.5))
            machine.memory.write(
                base + offset, uniform(length // 4, _F32_SEED, offset // 4) * scale
            )
    for port in meta["io"]:
        if port["kind"] == "input":
            count = math.prod(port["shape"])
            values = trace.data.get(f"in_{port['name']}")
            if values is None:
                values = uniform(count, _INPUT_SEED, 0) * np.float32(_INPUT_SCALE)
            machine.memory.write(base + port["addr"], values)
