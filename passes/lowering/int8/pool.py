"""Pooling on integers."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.tpu import PoolMode
from xdsl_tpu.passes.calibration.steps import result_element, step_of
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import INT8, LoweringContext
from xdsl_tpu.passes.lowering.int8.scales import positive_multiplier_and_shift
from xdsl_tpu.passes.lowering.int8.types import unlimited
from xdsl_tpu.passes.lowering.reduction import LOWERINGS, POOLS, pool_by_planes

VOLUME = 3
"""Dimensions that a window slides over."""


def maximum(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """maxpool(x) -> Pool of the same integers; of three dimensions planes, then along these."""
    assert isinstance(op, top.MaxPoolOp)
    if len(op.kernel_shape) in POOLS:
        return LOWERINGS[top.MaxPoolOp](op, ctx)
    if len(op.kernel_shape) != VOLUME:
        return None
    return pool_by_planes(op, ctx, result_element(op.output, ctx.asymmetric), PoolMode.Max)


def average(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """avgpool(x) -> Pool {multiplier, rshift}: the sum of a window times 1 / its size, rescaled.

    Windows of different sizes, adaptive ones and those that leave out padding, need f32.
    """
    assert isinstance(op, top.AvgPoolOp)
    step, target = step_of(op.input, ctx.asymmetric), POOLS.get(len(op.kernel_shape))
    uneven = any(ints(op.pads)) and not op.count_include_pad.value.data
    if step is None or target is None or op.is_adaptive.value.data or uneven:
        return None
    window = prod(ints(op.kernel_shape))
    scale = step.scale / (result_element(op.output, ctx.asymmetric).scale * window)
    multiplier, shift = positive_multiplier_and_shift(scale)
    return build(
        op,
        ctx,
        target,
        (op.input,),
        INT8,
        pool_mode=PoolMode.Avg,
        multiplier=multiplier,
        rshift=shift,
        **unlimited(op),
    )
