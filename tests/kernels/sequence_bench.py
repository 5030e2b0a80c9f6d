"""Running an instruction sequence by itself: values in local memory, commands, values out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.mapping import Scratch, write_table
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4
from xdsl_tpu.backend.timing import tiu_cycles

Array = npt.NDArray[Any]
Build = Callable[[Emitter, LocalTensor, Sequence[LocalTensor]], None]
"""(emitter, result, operands): emits the sequence under test."""


@dataclass(frozen=True)
class Measured:
    """What a sequence computed and how many cycles its commands take."""

    values: Array
    cycles: int


class Bench:
    """Local memory to lay tensors out in, an emitter to give sequences, a machine of NaNs.

    Commands emitted before `run` (tables, fills) are executed but not counted.
    """

    def __init__(self, chip: Chip | None = None) -> None:
        self.chip = chip or load_chip("bm1684x")
        self.memory = LocalMemory(self.chip)
        self.program = Program("bench", self.chip.name, "F16")
        self.emitter = Emitter(self.chip, self.program)
        self.machine = Machine(self.chip, "exact")
        self.machine.memory.local.bytes[...] = 0xFF

    def tensor(self, values: Array, dtype: DType) -> LocalTensor:
        """An EU-aligned tensor that holds 4-D values; its padding keeps the NaNs."""
        n, c, h, w = values.shape
        tensor = self.memory.aligned((n, c, h, w), dtype)
        self._placed(tensor).write(values.astype(dtype.numpy))
        return tensor

    def scratch(self, kinds: Sequence[Scratch], sizes: Shape4) -> list[LocalTensor]:
        """Scratch tensors beside a tile of these sizes."""
        return [self.memory.aligned(kind.shape(sizes), kind.dtype) for kind in kinds]

    def table(self, values: Sequence[float], dtype: DType) -> LocalTensor:
        """A polynomial's coefficients in every lane."""
        table = self.memory.compact((1, self.chip.lanes, 1, len(values)), dtype)
        write_table(self.emitter, table, values)
        return table

    def run(self, shape: Shape4, dtype: DType, build: Callable[[LocalTensor], None]) -> Measured:
        """Emit by `build` into a new tensor, execute, read it."""
        out = self.memory.aligned(shape, dtype)
        before = len(self.program.tiu)
        build(out)
        self.machine.run(self.program.tiu, self.program.gdma)
        cycles = sum(tiu_cycles(c, self.chip) for c in self.program.tiu[before:])
        return Measured(np.array(self._placed(out).read(), copy=True), cycles)

    def _placed(self, tensor: LocalTensor) -> Any:
        place = self.machine.memory.local.place
        return place(tensor.address, tensor.shape, tensor.strides, tensor.dtype.numpy)


def measure(unary: Unary, values: Array, dtype: DType = DType.F16) -> Measured:
    """A function of one tensor over 64 * n values, in 64 lanes; cycles per 16-bit EU width."""
    bench = Bench()
    lanes = values.reshape(1, bench.chip.lanes, 1, -1)
    sizes: Shape4 = (1, bench.chip.lanes, 1, lanes.shape[3])
    x = bench.tensor(lanes, dtype)
    scratch = bench.scratch([Scratch(kind) for kind in unary.scratch], sizes)
    tables = [bench.table(table, unary.table_dtype) for table in unary.tables]

    def build(out: LocalTensor) -> None:
        unary.compute(bench.emitter, out, x, scratch, tables)

    measured = bench.run(sizes, dtype, build)
    widths, rest = divmod(lanes.shape[3], bench.chip.eu(DType.F16.bytes))
    assert not rest, "whole EU widths give whole cycles"
    per_width, rest = divmod(measured.cycles, widths)
    assert not rest
    return Measured(measured.values.reshape(values.shape), per_width)
