"""Ops that mix the elements of one tensor: pools, norms, reductions, matrix products."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.tpu import PoolMode
from xdsl_tpu.passes.lowering.channels import over_channels
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import (
    F16,
    F32,
    INT8,
    CannotLowerError,
    Lowering,
    LoweringContext,
    Lowerings,
)
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import required_name, shape_of

POOLS: dict[int, type[NamedOp]] = {1: tpu.Pool1DOp, 2: tpu.Pool2DOp}
"""Kernel rank -> op."""


MOST_SUMMED = 9
"""Elements of a window whose mean is good enough in f16: the chip rounds after each addition."""


def _pool(mode: PoolMode) -> Lowering:
    """Max pooling has a 16-bit version; averages over more than a few elements run in f32."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
        assert isinstance(op, top.MaxPoolOp | top.AvgPoolOp)
        is_short = ctx.element == F16 and prod(ints(op.kernel_shape)) <= MOST_SUMMED
        element = ctx.element if mode is PoolMode.Max or is_short else F32
        if len(op.kernel_shape) == 3:
            return pool_by_planes(op, ctx, element, mode)
        target = POOLS.get(len(op.kernel_shape))
        if target is None:
            raise CannotLowerError(
                f"{op.name} '{required_name(op)}': kernel of rank {len(op.kernel_shape)}"
            )
        return build(op, ctx, target, (op.input,), element, pool_mode=mode)

    return lower


def pool_by_planes(
    op: "top.MaxPoolOp | top.AvgPoolOp", ctx: LoweringContext, element: Attribute, mode: PoolMode
) -> Sequence[SSAValue]:
    """A pool of N, C, D, H, W -> Pool2D of every plane, then Pool2D along the planes.

    The mean of a box is a mean of means: all rows of a box have the same number of elements.
    """
    do = Steps(op, ctx)
    (n, c, depth, *plane), target = shape_of(op.input), shape_of(op.output)
    kernel, strides, pads = ints(op.kernel_shape), ints(op.strides) or (1,) * 3, ints(op.pads)
    pads = pads or (0,) * 6
    places = target[2:] if len(target) == 5 else (1, 1, 1)
    shared = {"pool_mode": mode, "count_include_pad": op.count_include_pad}
    x = do.reshaped("planes", op.input, (n, c * depth, *plane), element)
    x = do.step(
        "pooled_planes",
        tpu.Pool2DOp,
        [x],
        (n, c * depth, *places[1:]),
        element,
        kernel_shape=list(kernel[1:]),
        strides=list(strides[1:]),
        pads=[*pads[1:3], *pads[4:]],
        **shared,
    )
    x = do.reshaped("columns", x, (n, c, depth, places[1] * places[2]), element)
    x = do.step(
        "pooled",
        tpu.Pool2DOp,
        [x],
        (n, c, places[0], places[1] * places[2]),
        element,
        kernel_shape=[kernel[0], 1],
        strides=[strides[0], 1],
        pads=[pads[0], 0, pads[3], 0],
        do_relu=op.do_relu,
        relu_limit=op.relu_limit,
        **shared,
    )
    return [do.last(tpu.ReshapeOp, [x], element, shape=list(target))]


def _reduce(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Reduce of axes 0 and 2 -> Reduce of 2, then of 0: the chip reduces neighbouring axes.

    Every mode is its own second step: the mean of means of equal size, the norm of norms. Channels
    are reduced as `over_channels` does.
    """
    assert isinstance(op, top.ReduceOp)
    if (reduced := over_channels(op, ctx)) is not None:
        return reduced
    shape, name = list(shape_of(op.input)), required_name(op)
    axes = sorted(axis % len(shape) for axis in ints(op.axes))
    runs = _neighbours(axes)
    if len(runs) < 2 or ctx.element == INT8:
        return same(tpu.ReduceOp)(op, ctx)
    value = ctx.as_type(op.input, ctx.element)
    for run in reversed(runs[1:]):
        for axis in run:
            shape[axis] = 1
        made = tpu.ReduceOp.make(
            f"{name}_{run[0]}",
            (value, ctx.none(), ctx.none()),
            result_types=(TensorType(ctx.element, shape),),
            axes=run,
            keepdims=True,
            mode=op.mode.data,
        )
        value = ctx.add(made)[0]
    kept = bool(op.keepdims.value.data)
    final = [1 if axis in runs[0] else size for axis, size in enumerate(shape)]
    last = tpu.ReduceOp.make(
        name if kept else f"{name}_{runs[0][0]}",
        (value, ctx.none(), ctx.none()),
        result_types=(TensorType(ctx.element, final),),
        axes=runs[0],
        keepdims=True,
        mode=op.mode.data,
    )
    if kept:
        return ctx.add(last)
    (value,) = ctx.add(last)
    sizes = shape_of(op.output)
    return build(op, ctx, tpu.ReshapeOp, (value,), ctx.element, keep=False, shape=sizes)


def _neighbours(axes: Sequence[int]) -> list[list[int]]:
    """Ascending axes in runs without gaps."""
    runs: list[list[int]] = []
    for axis in axes:
        if runs and runs[-1][-1] == axis - 1:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    return runs


LOWERINGS: Lowerings = {
    top.AvgPoolOp: _pool(PoolMode.Avg),
    top.GroupNormOp: same(tpu.GroupNormOp),
    top.InstanceNormOp: same(tpu.InstanceNormOp, in_f32=True),
    top.LayerNormOp: same(tpu.LayerNormOp),
    top.MatMulOp: same(tpu.MatMulOp),
    top.MaxPoolOp: _pool(PoolMode.Max),
    top.PixelNormOp: same(tpu.PixelNormOp),
    top.ReduceOp: _reduce,
    top.RMSNormOp: same(tpu.RMSNormOp),
}
