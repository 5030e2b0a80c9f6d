"""How ops hand dimensions on from one value to another."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.top.abstract import BroadcastOp, UnaryOp
from xdsl_tpu.passes.linked_dims.change import Axes, Change
from xdsl_tpu.passes.tensors import shape_of

Rule = Callable[[Operation, SSAValue, int, Change], Axes | None]
"""Where in the values of an op a dimension of one of them is; None when the op needs it."""


def rule_of(op: Operation) -> Rule | None:
    """The rule of an op, if it hands dimensions on at all."""
    own = _RULES.get(type(op))
    if own is not None or not isinstance(op, UnaryOp | BroadcastOp):
        return own
    return _stretched if len(op.results) == 1 else None


def _stretched(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """Element by element: axes are counted from the end; shorter operands may not have it."""
    out = op.results[0]
    behind = len(shape_of(value)) - axis
    tensors = [one for one in (*op.operands, out) if not is_none(one)]
    shorter = [shape_of(one) for one in tensors if len(shape_of(one)) < behind]
    for shape in shorter:
        if prod(shape[: max(0, change.width - behind + len(shape))]) > 1:
            return None  # it has only the last of the dimensions that become one
    return {one: len(shape_of(one)) - behind for one in tensors if len(shape_of(one)) >= behind}


def _product(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """A dimension of the batch that both matrices have, or rows of the left one."""
    assert isinstance(op, top.MatMulOp)
    plain = not (op.hdim_is_batch.value.data or op.output_transpose.value.data)
    if not plain or not op.keep_dims.value.data:
        return None
    left, right, out = (len(shape_of(one)) for one in (op.input, op.right, op.output))
    last = axis + change.width - 1
    if left == right == out and last < left - 2:
        return dict.fromkeys((op.input, op.right, op.output), axis)
    is_rows = right == 2 and left == out and not op.left_transpose.value.data
    if not is_rows or change.width == 1 or value is op.right or last >= left - 1:
        return None
    return dict.fromkeys((op.input, op.output), axis)


def _along(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """Ops with an `axis` of their own: Softmax, Split, Concat."""
    own = _integer(op, "axis") % len(shape_of(op.results[0]))
    given = [one for one in op.operands if not is_none(one)]
    if axis <= own < axis + change.width:
        return None
    return dict.fromkeys((*given, *op.results), axis)


def _normalised(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """Norms over the last dimensions; their parameters have nothing but those."""
    rank = len(shape_of(op.results[0]))
    first = rank - 1 if isinstance(op, top.RMSNormOp) else _integer(op, "axis") % rank
    if value not in (op.operands[0], op.results[0]) or axis + change.width > first:
        return None
    return dict.fromkeys((op.operands[0], op.results[0]), axis)


def _grouped(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """Positions of a norm over groups of channels; its parameters have ones there."""
    assert isinstance(op, top.GroupNormOp)
    rank = len(shape_of(op.output))
    given = [one for one in (op.weight, op.bias) if not is_none(one)]
    if axis < 2 or any(len(shape_of(one)) != rank for one in given):
        return None
    return dict.fromkeys((op.input, *given, op.output), axis)


def _reduced(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """Dimensions that a reduction goes over together, or leaves; one alone it may have to keep."""
    assert isinstance(op, top.ReduceOp)
    rank = len(shape_of(op.input))
    over = {place % rank for place in ints(op.axes)}
    within = [place in over for place in range(axis, axis + change.width)]
    if not op.keepdims.value.data or any(within) != all(within) or within == [True]:
        return None
    return dict.fromkeys((op.input, op.output), axis)


def _permuted(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    assert isinstance(op, top.PermuteOp)
    order = ints(op.order)
    source = order[axis] if value is op.output else axis
    place = order.index(source)
    together = tuple(range(source, source + change.width))
    if order[place : place + change.width] != together:
        return None
    return {op.input: source, op.output: place}


def _sliced(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    assert isinstance(op, top.SliceOp)
    static = all(map(is_none, (op.offsetT, op.endsT, op.stepsT))) and not op.axes.data
    if not static:
        return None
    whole = shape_of(op.input), shape_of(op.output)
    kept = all(
        whole[0][one] == whole[1][one] and ints(op.steps)[one] == 1
        for one in range(axis, axis + change.width)
    )
    return dict.fromkeys((op.input, op.output), axis) if kept else None


def _squeezed(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    assert isinstance(op, top.SqueezeOp)
    return _with_more(op.input, op.output, ints(op.axes), value, axis, change)


def _unsqueezed(op: Operation, value: SSAValue, axis: int, change: Change) -> Axes | None:
    assert isinstance(op, top.UnsqueezeOp)
    return _with_more(op.output, op.input, ints(op.axes), value, axis, change)


def _with_more(
    long: SSAValue,
    short: SSAValue,
    axes: Sequence[int],
    value: SSAValue,
    axis: int,
    change: Change,
) -> Axes | None:
    """One value has `axes` more than the other; they stay."""
    rank = len(shape_of(long))
    kept = [one for one in range(rank) if one not in {place % rank for place in axes}]
    if len(kept) != len(shape_of(short)) or len(kept) < 2 or change.width > 1:
        return None  # of scalars nothing is left
    own = axis if value is long else kept[axis]
    return {long: own, short: kept.index(own)} if own in kept else None


_RULES: Mapping[type[Operation], Rule] = {
    top.ConcatOp: _along,
    top.GroupNormOp: _grouped,
    top.LayerNormOp: _normalised,
    top.MatMulOp: _product,
    top.PermuteOp: _permuted,
    top.RMSNormOp: _normalised,
    top.ReduceOp: _reduced,
    top.SliceOp: _sliced,
    top.SoftmaxOp: _along,
    top.SplitOp: _along,
    top.SqueezeOp: _squeezed,
    top.UnsqueezeOp: _unsqueezed,
}


def attributes_without(op: Operation, axes: Axes, change: Change) -> dict[str, Attribute]:
    """The attributes of an op that number dimensions, without the one that goes."""
    axis = axes.get(op.operands[0], -1)

    def renumbered(places: Sequence[int], gone: int) -> Attribute:
        return I64_ARRAY.encode([place - (place > gone) for place in places])

    match op:
        case top.PermuteOp():
            order = ints(op.order)
            return {"order": renumbered([place for place in order if place != axis], axis)}
        case top.SliceOp():
            lists = {name: [*ints(getattr(op, name))] for name in ("offset", "ends", "steps")}
            if change.width > 1:
                lists["ends"][axis + 1] = change.without(shape_of(op.input), axis)[axis]
            found = {
                name: I64_ARRAY.encode([*list_[:axis], *list_[axis + 1 :]])
                for name, list_ in lists.items()
            }
            kept = [place for place in ints(op.hasparamConvert_axes) if place != axis]
            return {**found, "hasparamConvert_axes": renumbered(kept, axis)}
        case top.SoftmaxOp() | top.SplitOp() | top.ConcatOp() | top.LayerNormOp():
            own = _integer(op, "axis") % len(shape_of(op.operands[0]))
            old = cast(IntegerAttr, op.attributes["axis"])
            return {"axis": IntegerAttr(own - (own > axis), old.type)}
        case top.ReduceOp():
            rank = len(shape_of(op.input))
            gone = axis + change.width - 1
            over = [place % rank for place in ints(op.axes) if place % rank != gone]
            return {"axes": renumbered(over, axis)}
        case top.SqueezeOp():
            rank = len(shape_of(op.input))
            return {"axes": renumbered([place % rank for place in ints(op.axes)], axis)}
        case top.UnsqueezeOp():
            rank = len(shape_of(op.output))
            places = [place % rank for place in ints(op.axes)]
            return {"axes": renumbered(places, axes[op.output])}
        case _:
            return {}


def _integer(op: Operation, name: str) -> int:
    return cast(IntegerAttr, op.attributes[name]).value.data
