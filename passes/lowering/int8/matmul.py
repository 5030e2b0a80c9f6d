"""Matrix products: one scale for the whole right matrix."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, result_element, step_of
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import INT8, LoweringContext
from xdsl_tpu.passes.lowering.int8.scales import (
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
    """
    assert isinstance(op, top.MatMulOp)
    left = step_of(op.input)
    if is_weight(op.input) or left is None or not (is_none(op.bias) or is_weight(op.bias)):
        return None
    name, right, bias = required_name(op), op.right, op.bias
    if is_weight(right):
        numbers = numbers_of(right, ctx).astype(np.float64)
        given = given_scales(right, 1)
        largest = float(np.abs(numbers).max()) / SIGNED_MAX
        right_scale = (largest if given is None else float(given[0])) or 1.0
        stored = saturate(numbers / right_scale, signed=True)
        right = new_weight(ctx, f"{name}_filter_int8", stored, I8)
    else:
        step = step_of(right)
        if step is None:
            return None
        right_scale = step.scale
    unit = right_scale * left.scale
    corrected = corrected_bias(op, bias, shape_of(op.output)[-1], ctx)
    if corrected is not None:
        units = round_half_away(corrected.astype(np.float64) / unit)
        whole = np.clip(units, -(2**31), 2**31 - 1).astype(np.int32)
        rank = len(shape_of(op.output))
        bias = new_weight(ctx, f"{name}_bias_int32", whole.reshape(*[1] * (rank - 1), -1), I32)
    multiplier, shift = multiplier_and_shift(unit / result_element(op.output).scale)
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
