"""Matrix products: one scale for the whole right matrix."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, result_element, step_of
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import INT8, LoweringContext
from xdsl_tpu.passes.lowering.int8.scales import (
    Array,
    least_scale,
    multiplier_and_shift,
    round_half_away,
    saturate,
)
from xdsl_tpu.passes.lowering.int8.types import (
    I8,
    I32,
    corrected_bias,
    given_scales,
    new_weight,
    numbers_of,
    unlimited,
)
from xdsl_tpu.passes.tensors import is_weight, required_name, shape_of


def matmul(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """matmul(x, right, bias) -> MatMul(x, right_i8, bias_i32) {multipliers, rshifts}.

    The right matrix is a weight, which is quantised to +-127, or an activation, which already is.
    The left one's zero point, times the sum of a column of weights, is taken from the bias; two
    activations with zero points, stacks of weights beside one, and sums of more products than one
    command holds, have no 8-bit form.
    """
    assert isinstance(op, top.MatMulOp)
    left = step_of(op.input, ctx.asymmetric)
    if is_weight(op.input) or left is None or not (is_none(op.bias) or is_weight(op.bias)):
        return None
    if shape_of(op.input)[-2 if op.left_transpose.value.data else -1] > LIMITS.extent:
        return None
    name, right, bias = required_name(op), op.right, op.bias
    sums: Array | None = None
    columns = shape_of(op.output)[-1]
    corrected = corrected_bias(op, bias, columns, ctx)
    if is_weight(right):
        if left.zero_point and (len(shape_of(right)) > 2 or op.hdim_is_batch.value.data):
            return None
        numbers = numbers_of(right, ctx).astype(np.float64)
        given = given_scales(right, 1)
        largest = float(np.abs(numbers).max()) / SIGNED_MAX
        least = 0.0 if corrected is None else float(least_scale(corrected, left.scale).max())
        right_scale = (max(largest, least) if given is None else float(given[0])) or 1.0
        stored = saturate(numbers / right_scale, signed=True)
        right = new_weight(ctx, f"{name}_filter_int8", stored, I8)
        if left.zero_point:
            sums = stored.sum(axis=1 if op.right_transpose.value.data else 0, dtype=np.int64)
    else:
        step = step_of(right, ctx.asymmetric)
        if step is None or step.zero_point or left.zero_point:
            return None
        right_scale = step.scale
    unit = right_scale * left.scale
    if corrected is None and sums is not None:
        corrected = np.zeros(columns, np.float32)
    if corrected is not None:
        exact = corrected.astype(np.float64) / unit
        units = round_half_away(exact if sums is None else exact - left.zero_point * sums)
        whole = np.clip(units, -(2**31), 2**31 - 1).astype(np.int32)
        rank = len(shape_of(op.output))
        bias = new_weight(ctx, f"{name}_bias_int32", whole.reshape(*[1] * (rank - 1), -1), I32)
    out_scale = result_element(op.output, ctx.asymmetric).scale
    multiplier, shift = multiplier_and_shift(unit / out_scale)
    return build(
        op,
        ctx,
        tpu.MatMulOp,
        (op.input, right, bias),
        INT8,
        multipliers=(multiplier,),
        rshifts=(shift,),
        cal_i8=True,
        **unlimited(op),
    )
