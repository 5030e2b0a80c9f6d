"""What an executor works on, and how it finds its operands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import LayoutCode
from xdsl_tpu.backend.machine.elements import (
    U8,
    Array,
    Element,
    flushed,
    product,
    settled,
    widened,
)
from xdsl_tpu.backend.machine.memory import Memory, Placed, Quad
from xdsl_tpu.backend.machine.nibbles import Nibbles, bytes_shape
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Outside:
    """A command met indices that name no row: how many, and the first of them."""

    command: Command
    index: int
    rows: int
    count: int


@dataclass(frozen=True)
class State:
    """The chip, its memories, the numerics mode and what was noticed; executors change nothing
    else."""

    chip: Chip
    memory: Memory
    exact: bool
    executors: "Executors"
    outside: list[Outside] = field(default_factory=list[Outside])

    def execute(self, command: Command) -> None:
        """Carry out a command. Raises TpuError when it is not simulated or does not fit."""
        executor = self.executors.get((command.form.name, command.function))
        if executor is None:
            raise TpuError("this form and function is not simulated")
        executor(self, command)

    def load(self, kind: Element, stored: Array) -> Array:
        """The values of an operand; in exact mode subnormal f32 and bf16 ones are zero."""
        values = kind.load(stored)
        return flushed(values) if self.exact else values

    def constant(self, value: Array) -> Array:
        """A constant operand as `load` would have given it."""
        return flushed(value) if self.exact else value

    def settled(self, result: Array, first: Array, second: Array) -> Array:
        """A float result flushed, in exact mode with the chip's NaN of its two operands."""
        return flushed(settled(result, first, second) if self.exact else result)

    def computed(self, operation: np.ufunc, first: Array, second: Array) -> Array:
        """`operation` on floats, settled; in exact mode products are flushed before rounding."""
        if first.dtype == second.dtype == np.float16:  # numpy computes so, one by one
            return operation(widened(first), widened(second)).astype(np.float16)
        flushing = self.exact and operation is np.multiply
        result = product(first, second) if flushing else operation(first, second)
        return self.settled(result, first, second)

    def eu_aligned(self, address: int, shape: Quad, kind: Element) -> Placed:
        """A local tensor whose channel rows are padded to the lane width (layout code 0)."""
        if kind.packed:
            return self._nibbles(self.eu_aligned(address, bytes_shape(shape), U8), shape, kind)
        if address % self.chip.eu_bytes:
            raise TpuError(
                f"EU-aligned tensor at local address {address:#x}: the address must be a "
                f"multiple of {self.chip.eu_bytes}"
            )
        eu = self.chip.eu(kind.size)
        return self._packed(address, shape, kind, -(-shape[2] * shape[3] // eu) * eu, shape[3])

    def compact(self, address: int, shape: Quad, kind: Element) -> Placed:
        """A local tensor without padding (channels of int4 start on whole bytes)."""
        if kind.packed:
            return self._nibbles(self.compact(address, bytes_shape(shape), U8), shape, kind)
        return self._packed(address, shape, kind, shape[2] * shape[3], shape[3])

    def line_aligned(self, address: int, shape: Quad, kind: Element) -> Placed:
        """A local tensor whose every row (h) is padded to the lane width; not of int4."""
        require(not kind.packed, "where line-aligned int4 lies is not known")
        eu = self.chip.eu(kind.size)
        row = -(-shape[3] // eu) * eu
        return self._packed(address, shape, kind, shape[2] * row, row)

    def local(self, address: int, shape: Quad, strides: Quad, kind: Element) -> Placed:
        """A local tensor with explicit element strides (layout code 3); not of int4."""
        require(not kind.packed, "where int4 with explicit strides (layout 3) lies is not known")
        return self.memory.local.place(address, shape, strides, kind.storage)

    @staticmethod
    def _nibbles(packed: Placed, shape: Quad, kind: Element) -> Nibbles:
        signed = kind.limits[0] < 0
        return Nibbles(packed.shape, packed.spans, packed.views, shape, signed)

    def _packed(self, address: int, shape: Quad, kind: Element, channel: int, row: int) -> Placed:
        lane = address // self.chip.local_bytes
        groups = -(-(lane + shape[1]) // self.chip.lanes)
        strides = (groups * channel, channel, row, 1)
        return self.memory.local.place(address, shape, strides, kind.storage)


Executor: TypeAlias = Callable[[State, Command], None]
"""Carries out one command; raises TpuError for what is not simulated."""

Executors: TypeAlias = Mapping[tuple[str, int], Executor]
"""Executors by form family and function."""


def require(condition: bool, message: str) -> None:
    """Raise TpuError with `message` unless the condition holds."""
    if not condition:
        raise TpuError(message)


def result_shape(command: Command) -> Quad:
    """The n, c, h, w of the result."""
    return command["res0_n"], command["res0_c"], command["res0_h"], command["res0_w"]


def short_tensor(state: State, command: Command, operand: str, kind: Element) -> Placed:
    """A tensor of the result's shape with the layout its `*_str` field selects (0 or 3)."""
    return laid_out(state, command, operand, result_shape(command), kind)


def laid_out(state: State, command: Command, operand: str, shape: Quad, kind: Element) -> Placed:
    """A tensor with the layout its `*_str` field selects (0 or 3)."""
    address, layout = command[f"{operand}_addr"], command[f"{operand}_str"]
    if layout == LayoutCode.ALIGNED:
        return state.eu_aligned(address, shape, kind)
    if layout != LayoutCode.FREE:
        raise TpuError(f"{operand}_str = {layout}: only layouts 0 (EU-aligned) and 3 are simulated")
    n, c, h, w = (command[f"{operand}_{axis}_str"] for axis in "nchw")
    return state.local(address, shape, (n, c, h, w), kind)


def same_spans(*tensors: Placed) -> None:
    """Element-wise operands must start on the lane of the result."""
    first = tensors[0].spans
    for tensor in tensors[1:]:
        if tensor.spans != first:
            raise TpuError(
                "element-wise operands must start on the lane of the result: lanes "
                f"{[t.spans[0].lane for t in tensors]}"
            )


def first_lane(tensor: Placed) -> Placed:
    """Operands of the matrix unit start on lane 0; other lanes were never seen to work."""
    lane = tensor.spans[0].lane
    require(lane == 0, f"operands of the matrix unit must start on lane 0, not {lane}")
    return tensor


def on_result_lane(state: State, command: Command, *operands: str) -> None:
    """Per-channel operands start on the lane of the result."""
    lane = command["res0_addr"] // state.chip.local_bytes
    for name in operands:
        other = command[f"{name}_addr"] // state.chip.local_bytes
        require(other == lane, f"{name} is on lane {other}, the result on lane {lane}")


def views_of(placed: Placed | Array, count: int) -> tuple[Array, ...]:
    """The views of a tensor, or a constant once per view of the others."""
    return placed.views if isinstance(placed, Placed) else (placed,) * count
