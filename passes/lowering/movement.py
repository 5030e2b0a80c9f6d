"""Ops that only move, repeat, select or rename elements."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.lowering.common import build, follow, same, with_indices
from xdsl_tpu.passes.lowering.context import I32, CannotLowerError, LoweringContext, Lowerings
from xdsl_tpu.passes.tensors import is_weight, required_name


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


def _interp(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """A target shape that is a weight is already in the result type and the scales."""
    assert isinstance(op, top.InterpOp)
    if not is_none(op.target_shape) and not is_weight(op.target_shape):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its size is not constant")
    return build(op, ctx, tpu.InterpOp, (op.input, ctx.none()), ctx.element)


LOWERINGS: Lowerings = {
    top.ConcatOp: same(tpu.ConcatOp),
    top.Depth2SpaceOp: same(tpu.Depth2SpaceOp),
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
    top.SqueezeOp: follow(tpu.SqueezeOp),
    top.SwapChannelOp: same(tpu.SwapChannelOp),
    top.SwapDimInnerOp: same(tpu.SwapDimInnerOp),
    top.TileOp: follow(tpu.TileOp),
    top.TriluOp: same(tpu.TriluOp),
    top.UnsqueezeOp: follow(tpu.UnsqueezeOp),
    top.UpsampleOp: same(tpu.UpsampleOp),
}
