"""Softmax, norms and reductions on slices, along whatever a lane holds entirely."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.kernels import best as best_kernel
from xdsl_tpu.backend.kernels import norm
from xdsl_tpu.backend.kernels import reduce as reduction_kernel
from xdsl_tpu.backend.kernels import softmax as softmax_kernel
from xdsl_tpu.backend.kernels.mapping import ElementWise, Types
from xdsl_tpu.backend.kernels.reduction import Rows, plan_reduction, plan_rows
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.elementwise import run
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, TpuError
from xdsl_tpu.dialects.interfaces.shape import known_shape

F32 = DType.F32


@dataclass(frozen=True, slots=True)
class Lines:
    """How to see a slice so that the axis in question is its height, or its rows.

    `tail` are the height and width that the tensor gets.
    """

    plan: Rows
    tail: tuple[int, int]


def lines(x: LocalValue, size: int, inner: int, eu: int) -> Lines:
    """The lines of `size` elements, `inner` apart, that the lanes hold of a slice.

    Raises TpuError when the lines run across lanes or are cut by the slice.
    """
    _, _, h, w = x.tensor.shape
    if x.depth == x.full.d == 1 and (h, w) == (x.full.h, x.full.w):
        if size * inner == h * w:
            return Lines(plan_reduction(size, inner, eu), (size, inner))
        if inner == 1 and h * w % size == 0:
            return Lines(plan_rows(size, h * w // size, eu), (h * w // size, size))
    elif size == h == x.full.h and inner == x.full.w and x.depth == x.full.d == 1:
        return Lines(plan_reduction(size, w, eu), (h, w))
    elif size == w == x.full.w and inner == 1 and x.depth == 1:
        return Lines(plan_rows(size, h, eu), (h, w))
    raise DoesNotFit(
        f"lines of {size} elements, {inner} apart, are not inside the lanes: the slice has "
        f"h {h} of {x.full.h}, w {w} of {x.full.w}, d {x.depth} of {x.full.d}"
    )


def softmax(context: LocalContext) -> None:
    """Emit a softmax along an axis inside the lanes."""
    op = context.op
    assert isinstance(op, tpu.SoftmaxOp)
    x = context.operand(0)
    shape = _shape(context)
    axis = op.axis.value.data % len(shape)
    inner = math.prod(shape[axis + 1 :])
    found = lines(x, shape[axis], inner, context.chip.eu(F32.bytes))
    types = Types(context.out.dtype, (x.dtype,))
    work = softmax_kernel.describe(op, types, found.plan, inner, context.chip)
    _run(context, found, work, [x.tensor])


def norms(context: LocalContext) -> None:
    """Emit a norm over what a lane holds of each row; weight and bias are in every lane."""
    op = context.op
    assert isinstance(op, norm.RowNorm)
    x, chip, size = context.operand(0), context.chip, norm.row_size(op, _shape(context))
    found = lines(x, size, 1, chip.eu(F32.bytes))
    given = [value for value in context.operands[1:3] if value is not None]
    types = Types(context.out.dtype, (x.dtype, *(value.dtype for value in given)))
    rows = [_parameter(context, value, found, size) for value in given]
    _run(context, found, norm.describe(op, types, found.plan, chip), [x.tensor, *rows])


def _parameter(context: LocalContext, value: LocalValue, found: Lines, size: int) -> LocalTensor:
    """A row of parameters, standing beside the lines."""
    channels = min(context.out.tensor.shape[1], context.chip.lanes)
    h, w = (1, size) if found.plan.along_width else (size, 1)
    return aligned(context.chip, value.tensor.address, (1, channels, h, w), value.dtype)


def reduce(context: LocalContext) -> None:
    """Emit a reduction along an axis inside the lanes."""
    op = context.op
    assert isinstance(op, tpu.ReduceOp)
    x = context.operand(0)
    _, size, inner = reduction_kernel.reduced_extent(op, _shape(context))
    found = lines(x, size, inner, context.chip.eu(F32.bytes))
    types = Types(context.out.dtype, (x.dtype,))
    _run(context, found, reduction_kernel.describe(op, types, found.plan), [x.tensor], made=1)


def best(context: LocalContext) -> None:
    """Emit a choice of the best of rows inside the lanes."""
    op = context.op
    assert isinstance(op, tpu.BestOp)
    x, made, size = context.operand(0), op.result_shapes()[0][-1], _shape(context)[-1]
    found = lines(x, size, 1, eu := context.chip.eu(F32.bytes))
    plan, tail = found.plan, found.tail
    if not plan.along_width:
        plan, tail = plan_rows(size, 1, eu), (1, size)
    given = [value for value in context.operands if value is not None]
    types = Types(context.out.dtype, tuple(value.dtype for value in given))
    work = best_kernel.describe(op, types, plan)
    operands = [_seen(context, value.tensor, tail) for value in given]
    _run(context, Lines(plan, tail), work, operands, made=made)


def _shape(context: LocalContext) -> Sequence[int]:
    shape = known_shape(context.op.operands[0].type)
    if shape is None:
        raise TpuError("its operand has no static shape")
    return shape


def _run(
    context: LocalContext,
    found: Lines,
    work: ElementWise,
    operands: Sequence[LocalTensor],
    made: int | None = None,
) -> None:
    """Compute with x and the result, which has `made` elements for each line (by default as many),
    seen as the lines want it; lines are never cut."""
    x, *others = operands
    seen = _seen(context, x, found.tail)
    along_rows, (height, width) = found.plan.along_width, found.tail
    tail = found.tail
    if made is not None:
        tail = (height, made) if along_rows else (made, width)
    out = _seen(context, context.out.tensor, tail)
    line = width if along_rows and made is None else None
    run(context, work, out, [seen, *others], whole=seen.shape, line=line)


def _seen(context: LocalContext, tensor: LocalTensor, tail: tuple[int, int]) -> LocalTensor:
    """An EU-aligned tensor with another height and width."""
    n, c, h, w = tensor.shape
    if math.prod(tail) != h * w:
        raise DoesNotFit(f"a slice of {h} x {w} cannot be seen as {tail[0]} x {tail[1]}")
    shape: Shape4 = (n, c, tail[0], tail[1])
    return aligned(context.chip, tensor.address, shape, tensor.dtype)
