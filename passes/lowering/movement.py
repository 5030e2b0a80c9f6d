"""Ops that only move, repeat, select or rename elements."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none, is_ranked_tensor
from xdsl_tpu.passes.lowering.common import build, follow, same
from xdsl_tpu.passes.lowering.context import CannotLowerError, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of


def _slice(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """slice(x, none, none, none) -> Slice with a buffer; bounds must be attributes."""
    assert isinstance(op, top.SliceOp)
    if not all(map(is_none, (op.offsetT, op.endsT, op.stepsT))):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its bounds are not constant")
    operands = (ctx.as_type(op.input, ctx.element), *op.operands[1:])
    return build(op, ctx, tpu.SliceOp, operands, ctx.element)


MOST_SEEN_BACKWARDS = 32
"""Elements of a border that are moved one by one; more are looked up together."""


def _pad(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """pad(x) -> Pad(x, paddings = none, left_select, right_select, buffer).

    A long reflection, as a spectrogram has it around its samples, is a Concat (`_reflected`).
    """
    assert isinstance(op, top.PadOp)
    if op.paddingsT is not None and not is_none(op.paddingsT):
        raise CannotLowerError(f"{op.name} '{required_name(op)}': its paddings are not constant")
    x = ctx.as_type(op.input, ctx.element)
    rank, counts = len(shape_of(op.input)), ints(op.paddings)
    padded = [axis for axis in range(rank) if counts[axis] or counts[rank + axis]]
    if op.mode.data == "reflect" and rank != 4 and len(padded) == 1:
        (axis,) = padded
        before, after = counts[axis], counts[rank + axis]
        if min(before, after) >= 0 and before + after > MOST_SEEN_BACKWARDS:
            return _reflected(op, ctx, x, axis, (before, after))
    return build(op, ctx, tpu.PadOp, (x, *[ctx.none()] * 4), ctx.element)


def _reflected(
    op: top.PadOp, ctx: LoweringContext, x: SSAValue, axis: int, counts: tuple[int, int]
) -> Sequence[SSAValue]:
    """pad(x: 1x16000) {reflect by 200} -> Concat(Gather(x) from 200 to 1, x, Gather(x) backwards).

    No command moves elements backwards otherwise than one by one.
    """
    do, shape = Steps(op, ctx), [*shape_of(op.input)]
    (before, after), size = counts, shape[axis]
    kind = ctx.tensor_type(op.output, ctx.element)
    assert is_ranked_tensor(kind)
    element, parts = kind.get_element_type(), [x]
    if before:
        order = do.integers("order_before", np.arange(before, 0, -1))
        shape[axis] = before
        first = do.step("before", tpu.GatherOp, [x, order], shape, element, axis=axis)
        parts.insert(0, first)
    if after:
        order = do.integers("order_after", np.arange(size - 2, size - 2 - after, -1))
        shape[axis] = after
        last = do.step("after", tpu.GatherOp, [x, order], shape, element, axis=axis)
        parts.append(last)
    return [do.last(tpu.ConcatOp, parts, ctx.element, axis=axis)]


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


def _reverse(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """reverse(x) -> Gather(x) by indices from the last to the first."""
    assert isinstance(op, top.ReverseOp)
    shape, do = shape_of(op.input), Steps(op, ctx)
    axis = op.axis.value.data % len(shape)
    order = do.integers("order", np.arange(shape[axis])[::-1])
    return [
        do.last(tpu.GatherOp, [ctx.as_type(op.input, ctx.element), order], ctx.element, axis=axis)
    ]


LOWERINGS: Lowerings = {
    top.ConcatOp: same(tpu.ConcatOp),
    top.Depth2SpaceOp: same(tpu.Depth2SpaceOp),
    top.FlattenOp: _flatten,
    top.PadOp: _pad,
    top.PermuteOp: same(tpu.PermuteOp),
    top.ReshapeOp: follow(tpu.ReshapeOp),
    top.ReverseOp: _reverse,
    top.ShuffleChannelOp: same(tpu.ShuffleChannelOp),
    top.SliceOp: _slice,
    top.SplitOp: _split,
    top.SqueezeOp: follow(tpu.SqueezeOp),
    top.SwapChannelOp: same(tpu.SwapChannelOp),
    top.SwapDimInnerOp: same(tpu.SwapDimInnerOp),
    top.TileOp: follow(tpu.TileOp),
    top.UnsqueezeOp: follow(tpu.UnsqueezeOp),
    top.UpsampleOp: same(tpu.UpsampleOp),
}
