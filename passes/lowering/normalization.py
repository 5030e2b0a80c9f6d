"""Normalisations that are composed of other ops, in f32."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.matrices import product_along
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of


def _lrn(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """lrn(x) -> x * (bias + alpha * mean of the squares of nearby channels) ^ -beta.

    The mean is a product with a band matrix along the channels.
    """
    assert isinstance(op, top.LRNOp)
    do, shape, size = Steps(op, ctx), shape_of(op.input), op.size.value.data
    square = do.step("square", tpu.MulOp, [op.input, op.input], shape)
    channels = shape[1]
    apart = np.arange(channels)[:, None] - np.arange(channels)
    near = (apart >= -((size - 1) // 2)) & (apart <= size // 2)
    mean = product_along(do, square, 1, near / size, F32, "_near")
    scaled = do.step("scaled", tpu.MulConstOp, [mean], shape, const_val=op.alpha.value.data)
    base = do.step("base", tpu.AddConstOp, [scaled], shape, const_val=op.bias.value.data)
    return [do.last(tpu.MulOp, [op.input, _inverse_power(do, base, op.beta.value.data)])]


def _inverse_power(do: Steps, base: SSAValue, power: float) -> SSAValue:
    """base ^ -power of positive numbers; the usual 3/4 by two roots."""
    shape = shape_of(base)
    if power in (0.5, 0.75):
        root = do.step("root", tpu.ActiveOp, [base], shape, mode=ActiveMode.RSQRT)
        if power == 0.5:
            return root
        again = do.step("root_of_root", tpu.ActiveOp, [root], shape, mode=ActiveMode.SQRT)
        return do.step("factor", tpu.MulOp, [root, again], shape)
    logarithm = do.step("log", tpu.ActiveOp, [base], shape, mode=ActiveMode.LN)
    exponent = do.step("exponent", tpu.MulConstOp, [logarithm], shape, const_val=-power)
    return do.step("factor", tpu.ActiveOp, [exponent], shape, mode=ActiveMode.EXP)


def _batch_norm(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """batchnorm(x) -> (x - mean) * (gamma / sqrt(variance + epsilon)) + beta.

    Constant parameters have become a Scale long before.
    """
    assert isinstance(op, top.BatchNormOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    one_each = (1, shape[1], *(1 for _ in shape[2:]))

    def parameter(label: str, value: SSAValue) -> SSAValue:
        return do.reshaped(label, value, one_each, F32)

    variance, epsilon = parameter("variance", op.variance), op.epsilon.value.data
    positive = do.step("positive", tpu.AddConstOp, [variance], one_each, const_val=epsilon)
    factor = do.step("factor", tpu.ActiveOp, [positive], one_each, mode=ActiveMode.RSQRT)
    if not is_none(op.gamma):
        operands = [factor, parameter("gamma", op.gamma)]
        factor = do.step("scale", tpu.MulOp, operands, one_each)
    mean = parameter("mean", op.mean)
    apart = do.step("apart", tpu.SubOp, [op.input, mean], shape)
    relu: dict[str, Any] = {"do_relu": op.do_relu, "relu_limit": op.relu_limit}
    if is_none(op.beta):
        return [do.last(tpu.MulOp, [apart, factor], **relu)]
    normal = do.step("normal", tpu.MulOp, [apart, factor], shape)
    return [do.last(tpu.AddOp, [normal, parameter("beta", op.beta)], **relu)]


LOWERINGS: Lowerings = {top.BatchNormOp: _batch_norm, top.LRNOp: _lrn}
