"""Concat: of one tensor, of nothing, of slices that belong together."""

import operator

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.canonicalize.slice import is_static, set_cuts
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, drop, has_shapes, is_like, none_for, rebuilt
from xdsl_tpu.passes.tensors import shape_of


class RemoveConcat(RewritePattern):
    """Concat(x) -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) == 1 and not has_relu(op) and is_like(op.inputs[0], op.output):
            drop(op, op.inputs[0], rewriter)


class DropEmptyConcatInputs(RewritePattern):
    """Concat(x: 4x8, y: 0x8) -> Concat(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(*op.inputs):
            return
        filled = [value for value in op.inputs if 0 not in shape_of(value)]
        if filled and len(filled) < len(op.inputs):
            op.operands = filled
            rewriter.notify_op_modified(op)


class ConcatWeights(RewritePattern):
    """Concat(W1, W2) -> one weight."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if has_relu(op) or not all(map(is_f32_weight, op.inputs)):
            return
        values = [array for value in op.inputs if (array := values_of(value)) is not None]
        if not values or len(values) != len(op.inputs):
            return
        joined = np.concatenate(values, axis=op.axis.value.data)
        rewriter.replace(op, make_weight(op, derived_name(op, ""), joined))


class ZerosToPad(RewritePattern):
    """Concat(zeros, x: 4x7) -> Pad(x), with zeros before or behind the one operand that is none."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        others = [place for place, value in enumerate(op.inputs) if not is_f32_weight(value)]
        if has_relu(op) or len(others) != 1 or len(op.inputs) == 1 or not has_shapes(*op.inputs):
            return
        (place,) = others
        beside = [values_of(value) for value in op.inputs if is_f32_weight(value)]
        if any(values is None or values.any() for values in beside):
            return
        shape = shape_of(op.inputs[place])
        axis = op.axis.value.data % len(shape)
        sizes = [shape_of(value)[axis] for value in op.inputs]
        counts = [0] * (2 * len(shape))
        counts[axis], counts[axis + len(shape)] = sum(sizes[:place]), sum(sizes[place + 1 :])
        made = top.PadOp.make(
            op.location,
            (op.inputs[place], none_for(op, rewriter)),
            result_types=op.result_types,
            paddings=counts,
            mode="constant",
        )
        rewriter.replace(op, made)


class ConcatNeighbourSlices(RewritePattern):
    """Concat(Slice(x, 0..2), Slice(x, 2..5)) along the sliced axis -> Slice(x, 0..5)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        slices = [value.owner for value in op.inputs if isinstance(value.owner, top.SliceOp)]
        if has_relu(op) or len(slices) < 2 or len(slices) != len(op.inputs):
            return
        first = slices[0]
        if not all(is_static(part) and part.input is first.input for part in slices):
            return
        axis = op.axis.value.data % len(shape_of(op.output))
        joined = list(first.cuts())
        for part in slices[1:]:
            cuts = list(part.cuts())
            current, following = joined[axis], cuts[axis]
            cuts[axis] = current
            if cuts != joined or current.step <= 0 or following.step != current.step:
                return
            if following.first != current.first + current.count * current.step:
                return
            joined[axis] = Cut(current.first, current.count + following.count, current.step)
        merged = rebuilt(first, result_types=[op.output.type], location=op.location)
        set_cuts(merged, joined)
        rewriter.replace(op, merged)


class ConcatOfConcats(RewritePattern):
    """Concat(Concat(x, y), z) along one axis -> Concat(x, y, z).

        s = Concat(x, y, z)                                   Concat(x, y, w)
        Concat(Slice(s, all of x and y), w)           ->

    The inner Concat is for this one alone, which may take Slices of it: rows that a loop writes
    into a tensor, one after the other, are one Concat.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(*op.inputs, op.output):
            return
        axis = op.axis.value.data % len(shape_of(op.output))
        made: list[Operation] = []
        parts: list[SSAValue] = []
        for value in op.inputs:
            parts += _parts(value, op, axis, made) or (value,)
        if len(parts) != len(op.inputs) or any(map(operator.is_not, parts, op.inputs)):
            rewriter.insert(made, InsertPoint.before(op))
            op.operands = parts
            rewriter.notify_op_modified(op)


def _parts(
    value: SSAValue, op: top.ConcatOp, axis: int, made: list[Operation]
) -> list[SSAValue] | None:
    """What an operand of `op` has of those of a Concat along `axis` that is for `op` alone, whose
    Slices are added to `made`; None of any other."""
    cut, inner = None, value.owner
    if isinstance(inner, top.SliceOp) and is_static(inner):
        cut, inner = inner, inner.input.owner
    if not isinstance(inner, top.ConcatOp) or has_relu(inner) or not has_shapes(*inner.inputs):
        return None
    shape = shape_of(inner.output)
    if inner.axis.value.data % len(shape) != axis or not _for_alone(inner, op):
        return None
    if cut is None:
        return list(inner.inputs)
    cuts, along = cut.cuts(), cut.cuts()[axis]
    others = (one.count == size for one, size in zip(cuts, shape, strict=True))
    if any(one.step != 1 for one in cuts) or not all(
        whole or place == axis for place, whole in enumerate(others)
    ):
        return None
    found: list[SSAValue] = []
    begin = 0
    for part in inner.inputs:
        size = shape_of(part)[axis]
        low, high = max(along.first - begin, 0), min(along.first + along.count - begin, size)
        begin += size
        if (low, high) == (0, size):
            found.append(part)
        elif low < high:
            name = derived_name(part, f"_from{low}_to{high}")
            made.append(slice_along(name, part, axis, (low, high), cut.offsetT))
            found.append(made[-1].results[0])
    return found


def _for_alone(inner: top.ConcatOp, op: top.ConcatOp) -> bool:
    """Whether nothing but `op` reads a Concat or a Slice of it, each in one place."""
    for use in inner.output.uses:
        if use.operation is op:
            continue
        if not isinstance(use.operation, top.SliceOp) or use.index:
            return False
        reader = use.operation.output.get_unique_use()
        if reader is None or reader.operation is not op:
            return False
    return True
