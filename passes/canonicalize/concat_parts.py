"""Slices that take apart again what was joined, with changes of form between."""

from dataclasses import dataclass, replace
from itertools import accumulate

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import VIEWS, has_relu, reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like, users
from xdsl_tpu.passes.tensors import axis_behind_view, shape_of


class PartsOfConcat(RewritePattern):
    """Slice(Permute(Concat(x: 1x4x9, y: 1x8x9)): 1x9x12, columns 0..4) -> Permute(x).

        Slice(Concat(Reshape(Concat(x, y)), Reshape(Concat(u, v))))
            ->  Concat(Reshape(x), Reshape(u))

    Between are Permutes, Concats along other dimensions, and changes of shape that keep the cut
    dimension; nothing else reads any of them. All that reads the last one are Slices, each of one
    operand: so detectors join boxes and scores, bring them into rows, and take them apart.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        span, maker = _span(op), op.input.owner
        if span is None or (isinstance(maker, top.ConcatOp) and _axis(maker) == span.axis):
            return
        for user in users(op.input):
            taken = _span(user) if isinstance(user, top.SliceOp) else None
            if taken is None or not _is_of_parts(op.input, taken):
                return
        made: list[Operation] = []
        _taken(op.input, span, made)
        made[-1].location = op.location
        rewriter.replace(op, made)


@dataclass(frozen=True)
class _Span:
    """`count` neighbours along one axis, from `first` on."""

    axis: int
    first: int
    count: int


def _span(op: top.SliceOp) -> _Span | None:
    """What a Slice takes, if it cuts one dimension, in steps of 1."""
    if not is_static(op):
        return None
    cuts, shape = op.cuts(), shape_of(op.input)
    cut = [axis for axis, size in enumerate(shape) if cuts[axis].count != size]
    if len(cut) != 1 or any(one.step != 1 for one in cuts) or not cuts[cut[0]].count:
        return None
    return _Span(cut[0], cuts[cut[0]].first, cuts[cut[0]].count)


def _axis(op: top.ConcatOp) -> int:
    return op.axis.value.data % len(shape_of(op.output))


def _operand(op: top.ConcatOp, span: _Span) -> SSAValue | None:
    """The operand of a Concat along the axis of a span that is that span."""
    sizes = [shape_of(value)[span.axis] for value in op.inputs]
    for value, size, end in zip(op.inputs, sizes, accumulate(sizes), strict=True):
        if (end - size, size) == (span.first, span.count):
            return value
    return None


def _before(value: SSAValue, span: _Span) -> _Span | None:
    """The span of the operands of what makes `value`; None if one span of each does not do."""
    maker = value.owner
    if isinstance(maker, top.ConcatOp):
        return None if has_relu(maker) or not has_shapes(*maker.inputs) else span
    if isinstance(maker, top.PermuteOp) and has_shapes(maker.input):
        return replace(span, axis=ints(maker.order)[span.axis])
    if isinstance(maker, VIEWS) and has_shapes(maker.operands[0]):
        axis = axis_behind_view(span.axis, shape_of(value), shape_of(maker.operands[0]))
        return None if axis is None else replace(span, axis=axis)
    return None


def _is_of_parts(value: SSAValue, span: _Span) -> bool:
    """Whether a span of `value` is made of whole operands of Concats along it."""
    before, maker = _before(value, span), value.owner
    if before is None:
        return False
    if isinstance(maker, top.ConcatOp) and _axis(maker) == span.axis:
        return _operand(maker, span) is not None
    return all(one.has_one_use() and _is_of_parts(one, before) for one in _operands(value))


def _operands(value: SSAValue) -> list[SSAValue]:
    """The operands of a Concat; of any other op the one that it gives another form."""
    maker = value.owner
    assert isinstance(maker, Operation)
    return list(maker.operands if isinstance(maker, top.ConcatOp) else maker.operands[:1])


def _taken(value: SSAValue, span: _Span, made: list[Operation]) -> SSAValue:
    """The span of `value`, which is of parts, with the ops for it added to `made`."""
    before, maker = _before(value, span), value.owner
    assert before is not None
    if isinstance(maker, top.ConcatOp) and _axis(maker) == span.axis:
        operand = _operand(maker, span)
        assert operand is not None
        return operand
    parts = [_taken(one, before, made) for one in _operands(value)]
    shape = list(shape_of(value))
    shape[span.axis] = span.count
    name = derived_name(value, f"_from{span.first}_to{span.first + span.count}")
    if isinstance(maker, top.ConcatOp | top.PermuteOp):
        kind, place = tensor_like(value, shape), name_loc(name)
        made.append(rebuilt(maker, operands=parts, result_types=[kind], location=place))
    else:
        made.append(reshape(name, parts[0], shape))
    return made[-1].results[0]
