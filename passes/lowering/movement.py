"""Ops that only move, repeat, select or rename elements."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.lowering.common import build, follow, same, with_indices
from xdsl_tpu.passes.lowering.context import I32, CannotLowerError, LoweringContext, Lowerings
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of


def _slice(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """slice(x, none, none, none) -> Slice with a buffer; bounds must be attributes."""
    assert isinstance(op, top.SliceOp)
    if not all(map(is_none, (op.offsetT, op.endsT, op.stepsT))):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its bounds are not constant")
    operands = (ctx.as_type(op.input, ctx.element), *op.operands[1:])
    return build(op, ctx, tpu.SliceOp, operands, ctx.element)


def _pad(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """pad(x) -> Pad(x, paddings = none, left_select, right_select, buffer)."""
    assert isinstance(op, top.PadOp)
    if op.paddingsT is not None and not is_none(op.paddingsT):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its paddings are not constant")
    operands = (ctx.as_type(op.input, ctx.element), *[ctx.none()] * 4)
    return build(op, ctx, tpu.PadOp, operands, ctx.element)


def _flatten(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """flatten(x) -> Reshape(x) to the result's shape."""
    value = op.operands[0]
    if is_weight(value):
        value = ctx.as_type(value, ctx.element)
    shape = shape_of(op.results[0])
    return build(op, ctx, tpu.ReshapeOp, (value,), element_of(value), keep=False, shape=shape)


def _split(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """split(x) -> one Slice for every part, under the part's name."""
    assert isinstance(op, top.SplitOp)
    source = ctx.as_type(op.input, ctx.element)
    sizes, axis, start = shape_of(op.input), op.axis.value.data % len(shape_of(op.input)), 0
    parts: list[SSAValue] = []
    for part in op.results:
        shape = shape_of(part)
        cut = tpu.SliceOp.make(
            required_name(part),
            (source, *[ctx.none()] * 4),
            result_types=(ctx.tensor_type(part, ctx.element),),
            offset=[start if place == axis else 0 for place in range(len(sizes))],
            ends=[start + n if place == axis else n for place, n in enumerate(shape)],
            steps=[1] * len(sizes),
        )
        parts += ctx.add(cut)
        start += shape[axis]
    return parts


def _interp(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """A constant target shape is dropped: shape inference has turned it into scales."""
    assert isinstance(op, top.InterpOp)
    if not is_none(op.target_shape) and not is_weight(op.target_shape):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its size is not constant")
    if min(op.scale_h.value.data, op.scale_w.value.data) <= 0:
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its scales are not known")
    return build(op, ctx, tpu.InterpOp, (op.input, ctx.none()), ctx.element)


LOWERINGS: Lowerings = {
    top.ConcatOp: same(tpu.ConcatOp),
    top.Depth2SpaceOp: same(tpu.Depth2SpaceOp),
    top.FlattenOp: _flatten,
    top.GatherOp: with_indices(tpu.GatherOp, (1,), I32),
    top.GatherElementsOp: with_indices(tpu.GatherElementsOp, (1,), I32),
    top.GatherNDOp: with_indices(tpu.GatherNDOp, (1,), I32),
    top.GridSamplerOp: same(tpu.GridSamplerOp, in_f32=True),
    top.InterpOp: _interp,
    top.PadOp: _pad,
    top.PermuteOp: same(tpu.PermuteOp),
    top.ReshapeOp: follow(tpu.ReshapeOp),
    top.ReverseOp: same(tpu.ReverseOp),
    top.ScatterElementsOp: with_indices(tpu.ScatterElementsOp, (1,), I32),
    top.ScatterNDOp: with_indices(tpu.ScatterNDOp, (1,), I32),
    top.ShuffleChannelOp: same(tpu.ShuffleChannelOp),
    top.SliceOp: _slice,
    top.SplitOp: _split,
    top.SqueezeOp: follow(tpu.SqueezeOp),
    top.SwapChannelOp: same(tpu.SwapChannelOp),
    top.SwapDimInnerOp: same(tpu.SwapDimInnerOp),
    top.TileOp: follow(tpu.TileOp),
    top.TriluOp: same(tpu.TriluOp),
    top.UnsqueezeOp: follow(tpu.UnsqueezeOp),
    top.UpsampleOp: same(tpu.UpsampleOp),
}
