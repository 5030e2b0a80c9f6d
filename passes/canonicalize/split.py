"""Split, Unpack and Pack: Slices, Reshapes and Concats."""

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, tensor_like, users
from xdsl_tpu.passes.tensors import shape_of

_WHOLE = 2**63 - 1
"""The end of a dimension that is not cut."""


class SplitToSlice(RewritePattern):
    """Split(x: 6x8) {axis = 0, num = 3} -> Slice(x, rows 0..2), Slice(2..4), Slice(4..6)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SplitOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, *op.outputs):
            return
        axis = op.axis.value.data % len(shape_of(op.input))
        none = none_for(op, rewriter)
        slices: list[top.SliceOp] = []
        begin = 0
        for output in op.outputs:
            end = begin + shape_of(output)[axis]
            name = derived_name(output, "")
            slices.append(slice_along(name, op.input, axis, (begin, end), none))
            begin = end
        rewriter.replace(op, slices, [part.output for part in slices])


def slice_along(
    name: str | LocationAttr, value: SSAValue, axis: int, bounds: tuple[int, int], none: SSAValue
) -> top.SliceOp:
    """The part of `value` from bounds[0] up to, not including, bounds[1] along one axis."""
    shape = shape_of(value)
    begin, end = bounds
    return top.SliceOp.make(
        name,
        (value, none, none, none),
        result_types=[tensor_like(value, (*shape[:axis], end - begin, *shape[axis + 1 :]))],
        offset=[begin if i == axis else 0 for i in range(len(shape))],
        ends=[end if i == axis else _WHOLE for i in range(len(shape))],
        steps=[1] * len(shape),
        hasparamConvert_axes=[axis],
    )


def slice_every(
    name: str | LocationAttr, value: SSAValue, axis: int, step: int, count: int, none: SSAValue
) -> top.SliceOp:
    """`count` indices of `value` along one axis, from the first on, `step` apart."""
    shape = shape_of(value)
    rank = len(shape)
    return top.SliceOp.make(
        name,
        (value, none, none, none),
        result_types=[tensor_like(value, (*shape[:axis], count, *shape[axis + 1 :]))],
        offset=[0] * rank,
        ends=[(count - 1) * step + 1 if i == axis else _WHOLE for i in range(rank)],
        steps=[step if i == axis else 1 for i in range(rank)],
        hasparamConvert_axes=[axis],
    )


def shared_out(value: SSAValue) -> tuple[int, list[top.SliceOp]] | None:
    """The axis along which Slices share out a value, each index to one of them, and they in order;
    None where anything else reads it."""
    if not has_shapes(value):
        return None
    shape = shape_of(value)
    cuts: list[tuple[Cut, top.SliceOp]] = []
    axes = set[int]()
    for user in users(value):
        if not isinstance(user, top.SliceOp) or not is_static(user):
            return None
        parts = enumerate(zip(user.cuts(), shape, strict=True))
        changed = [(axis, part) for axis, (part, size) in parts if part != Cut(0, size, 1)]
        if len(changed) != 1:
            return None
        axes.add(changed[0][0])
        cuts.append((changed[0][1], user))
    if len(axes) != 1:
        return None
    (axis,) = axes
    cuts.sort(key=lambda found: found[0].first)
    begin = 0
    for part, _ in cuts:
        if part.step != 1 or part.first != begin:
            return None
        begin += part.count
    return (axis, [user for _, user in cuts]) if begin == shape[axis] else None


class UnpackToSlices(RewritePattern):
    """Unpack(x: 3x8) {axis = 0} -> Reshape(Slice(x, row i): 1x8): 8 for each row."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.UnpackOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, *op.outputs):
            return
        shape = shape_of(op.input)
        axis = op.axis.value.data % len(shape)
        none = none_for(op, rewriter)
        flat: list[top.ReshapeOp] = []
        for index, output in enumerate(op.outputs):
            name = derived_name(output, "_r_slice")
            part = slice_along(name, op.input, axis, (index, index + 1), none)
            rewriter.insert(part)
            flat.append(reshape(derived_name(output, ""), part.output, shape_of(output)))
        rewriter.replace(op, flat, [part.output for part in flat])


class PackToConcat(RewritePattern):
    """Pack(x: 8, y: 8) {axis = 0} -> Concat(Reshape(x): 1x8, Reshape(y): 1x8)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PackOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.output, *op.inputs):
            return
        shape = shape_of(op.output)
        axis = op.axis.value.data % len(shape)
        single = (*shape[:axis], 1, *shape[axis + 1 :])
        rows = [reshape(derived_name(op, f"_r_row{i}"), x, single) for i, x in enumerate(op.inputs)]
        concat = top.ConcatOp.make(op.location, rows, result_types=[op.output.type], axis=axis)
        rewriter.replace(op, [*rows, concat])
