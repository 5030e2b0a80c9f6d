"""What is a product with a constant matrix along an axis: running sums."""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.tensors import shape_of

LARGEST_MATRIX = 1 << 24
"""Elements of a constant matrix that an op may become."""


def product_along(
    do: Steps, value: SSAValue, axis: int, matrix: Array, element: Attribute, label: str = ""
) -> SSAValue:
    """out[.., j, ..] = sum over i of value[.., i, ..] * matrix[i, j], i and j along `axis`.

    With a `label` a step, without one the op's result.
    """
    shape = shape_of(value)
    old, new = matrix.shape
    if matrix.size > LARGEST_MATRIX:
        raise do.refuse(f"a matrix of {old}x{new} for its axis {axis} is too large")
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if inner == 1:
        x = do.reshaped(f"rows{label}", value, (outer, old), element)
        operands, flat = [x, do.weight(f"matrix{label}", matrix, element)], (outer, new)
    else:
        x = do.reshaped(f"rows{label}", value, (outer, old, inner), element)
        left = do.weight(f"matrix{label}", np.ascontiguousarray(matrix.T)[None], element)
        operands, flat = [left, x], (outer, new, inner)
    result = (*shape[:axis], new, *shape[axis + 1 :])
    if not label and flat == result:
        return do.last(tpu.MatMulOp, operands, element)
    y = do.step(f"product{label}", tpu.MatMulOp, operands, flat, element)
    if label:
        return do.reshaped(f"resized{label}", y, result, element)
    return do.last(tpu.ReshapeOp, [y], element, shape=list(shape_of(do.op.results[0])))


def _cumsum(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """cumsum(x) -> x times an upper triangle of ones, in f32."""
    assert isinstance(op, top.CumSumOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    return [product_along(do, op.input, axis, np.tri(shape[axis]).T, F32)]


def _trilu(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """trilu(x) -> x where a constant triangle is 1, elsewhere 0."""
    assert isinstance(op, top.TriluOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    keep = np.triu if op.upper.value.data else np.tril
    ones = keep(np.ones(shape[-2:], np.float32), op.diagonal.value.data)
    mask = do.weight("triangle", ones.reshape((1,) * (len(shape) - 2) + ones.shape), ctx.element)
    x = ctx.as_type(op.input, ctx.element)
    operands = [mask, x, ctx.none()]
    return [do.last(tpu.WhereOp, operands, ctx.element, y_is_const=True, y_const_val=0.0)]


LOWERINGS: Lowerings = {
    top.CumSumOp: _cumsum,
    top.TriluOp: _trilu,
}
