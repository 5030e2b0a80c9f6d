"""Weights of the quantised domain."""

from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.weights import as_float32
from xdsl_tpu.passes.lowering.context import LoweringContext
from xdsl_tpu.passes.lowering.int8.scales import Array
from xdsl_tpu.passes.tensors import element_of, required_name, shape_of

SI8, UI8 = IntegerType(8, Signedness.SIGNED), IntegerType(8, Signedness.UNSIGNED)
I8, I32 = IntegerType(8), IntegerType(32)


def numbers_of(weight: SSAValue, ctx: LoweringContext) -> Array:
    """The f32 numbers of a weight, in its type's shape."""
    assert isinstance(weight.owner, top.WeightOp)
    assert ctx.weights is not None
    array = ctx.weights[required_name(weight.owner)]
    return as_float32(array, element_of(weight)).reshape(shape_of(weight))


def corrected_bias(
    op: Operation, bias: SSAValue, channels: int, ctx: LoweringContext
) -> Array | None:
    """The numbers of a constant bias, flat, with the correction of this op's mean error if any.

    None when there is neither. Raises TpuError for a correction of another number of channels.
    """
    numbers = None if is_none(bias) else numbers_of(bias, ctx).reshape(-1)
    correction = ctx.corrections.get(required_name(op))
    if correction is None:
        return numbers
    if len(correction) != channels:
        raise TpuError(
            f"{op.name} '{required_name(op)}' has {channels} output channels, its bias correction "
            f"{len(correction)} numbers: make a table for this model with tpu-calibrate"
        )
    added = np.array(correction, np.float32)
    return added if numbers is None else numbers + added


def new_weight(ctx: LoweringContext, name: str, values: Array, element: IntegerType) -> SSAValue:
    """A weight of integers, in front of the op being lowered."""
    assert ctx.weights is not None
    ctx.weights[name] = np.ascontiguousarray(values)
    made = top.WeightOp.make(name, (), result_types=(TensorType(element, values.shape),))
    return ctx.add(made)[0]


def given_scales(weight: SSAValue, count: int) -> Array | None:
    """The scales a weight brings with it from a quantised model, `count` of them; else None."""
    assert isinstance(weight.owner, top.WeightOp)
    if weight.owner.scale is None:
        return None
    scales = np.array(floats(weight.owner.scale))
    return np.broadcast_to(scales, (count,)) if scales.size in (1, count) else None


def unlimited(op: Operation) -> dict[str, Any]:
    """Attributes of a quantised op that may end in a ReLU: saturation is its limit."""
    return {"relu_limit": -1.0} if "relu_limit" in op.attributes else {}
