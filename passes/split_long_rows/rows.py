"""Rows that are reduced in parts, so that each part fits the memory of a lane.

A row is the middle one of (outer, size, inner).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.weights import as_float32
from xdsl_tpu.passes.lowering.context import F32, LoweringContext
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of

Extent = tuple[int, int, int]

MARGIN = 2048
"""Bytes of a lane for what does not grow with rows: tables, statistics, gaps of alignment."""

REDUCE_BYTES = 17
"""Per element of an f32 row of a Reduce: two buffers, two tiles, what a step leaves."""

SHORTEST = 64
"""Parts are not made shorter than this to occupy lanes."""


@dataclass(frozen=True)
class Rows:
    """What is known when an op is looked at: the chip, and where to build."""

    chip: Chip
    ctx: LoweringContext

    def fits(self, row_bytes: int) -> bool:
        """Whether rows of which a kernel keeps so many bytes in a lane fit.

        A memory for which no part is short enough is left to the kernels to refuse.
        """
        if self.longest < 2 * SHORTEST:
            return True
        return row_bytes + MARGIN <= self.chip.local_bytes

    @property
    def longest(self) -> int:
        """Elements of the longest row that a Reduce in f32 takes."""
        return (self.chip.local_bytes - MARGIN) // REDUCE_BYTES

    def cut(self, extent: Extent) -> tuple[int, int]:
        """Number and length of the equal parts of a row; what is left over is shorter.

        Long enough to fit, short enough to occupy the lanes; a divisor when there is a good one.
        """
        outer, size, inner = extent
        wanted = min(self.longest, max(SHORTEST, size * outer * inner // self.chip.lanes))
        exact = next((n for n in range(wanted, wanted // 4, -1) if size % n == 0), None)
        length = exact or wanted
        return size // length, length


def in_f32(do: Steps, label: str, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The value in f32 in another shape."""
    if stored_element(element_of(value)) != F32:
        value = do.step(f"{label}_f32", tpu.CastOp, [value], shape_of(value))
    return do.reshaped(f"{label}_rows", value, shape, F32)


def parameter(do: Steps, value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """A norm's weight or bias in f32 in a shape that broadcasts, a constant over and over until it
    is full; None when there is none."""
    if is_none(value):
        return None
    if not is_weight(value):
        return in_f32(do, required_name(value), value, shape)
    if do.ctx.weights is None:
        numbers = np.zeros(shape, np.float32)  # only types count without weights
    else:
        numbers = as_float32(do.ctx.weights[required_name(value)], element_of(value))
    return do.weight(f"{required_name(value)}_rows", np.resize(numbers, tuple(shape)))


def reduced_rows(
    rows: Rows, do: Steps, label: str, value: SSAValue, extent: Extent, mode: str
) -> SSAValue:
    """(outer, size, inner) in f32 -> (outer, 1, inner) by a reduction of parts, and of those.

    `mode` is one that is its own second step: a sum, a maximum, a minimum or a norm.
    """
    outer, size, inner = extent
    value = do.reshaped(f"{label}_along", value, extent, F32)
    if size <= rows.longest:
        return do.reduced(label, value, 1, mode)
    count, length = rows.cut(extent)
    whole, left = value, size - count * length
    if left:
        whole = _part(do, f"{label}_whole", value, 0, count * length)
    parts = do.reshaped(f"{label}_cut", whole, (outer, count, length, inner), F32)
    parts = do.reduced(f"{label}_parts", parts, 2, mode)
    parts = do.reshaped(f"{label}_of_parts", parts, (outer, count, inner), F32)
    if left:
        rest = _part(do, f"{label}_rest", value, count * length, size)
        rest = do.reduced(f"{label}_of_rest", rest, 1, mode)
        count += 1
        parts = do.step(f"{label}_all", tpu.ConcatOp, [parts, rest], (outer, count, inner), axis=1)
    return reduced_rows(rows, do, f"{label}_again", parts, (outer, count, inner), mode)


def mean_of_rows(rows: Rows, do: Steps, label: str, value: SSAValue, extent: Extent) -> SSAValue:
    """As `reduced_rows`, the mean."""
    total = reduced_rows(rows, do, f"{label}_sum", value, extent, "ReduceSum")
    return do.step(label, tpu.MulConstOp, [total], shape_of(total), const_val=1.0 / extent[1])


def _part(do: Steps, label: str, value: SSAValue, start: int, end: int) -> SSAValue:
    """Elements of rows from `start` to `end`."""
    outer, _, inner = shape_of(value)
    return do.step(
        label,
        tpu.SliceOp,
        [value],
        (outer, end - start, inner),
        offset=[0, start, 0],
        ends=[outer, end, inner],
        steps=[1, 1, 1],
    )


def finished(do: Steps, value: SSAValue) -> SSAValue:
    """The value as the replaced op gave it: element type, shape and name."""
    result = do.op.results[0]
    element, shape = element_of(result), shape_of(result)
    if stored_element(element_of(value)) == stored_element(element):
        return do.last(tpu.ReshapeOp, [value], element, shape=list(shape))
    if shape_of(value) == shape:
        return do.last(tpu.CastOp, [value], element)
    value = do.step("narrow", tpu.CastOp, [value], shape_of(value), element)
    return do.last(tpu.ReshapeOp, [value], element, shape=list(shape))
