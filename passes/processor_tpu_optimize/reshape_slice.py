"""Reshapes around slices and products that only rename dimensions."""

from math import prod

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, none_for, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.processor_tpu_optimize.permutes import reshape
from xdsl_tpu.passes.tensors import shape_of


class ReshapeSliceSqueezePattern(RewritePattern):
    """Squeeze(Slice(Reshape(x))) -> Reshape(Slice(x)): cut the run of elements directly.

        Reshape 64x49x288 -> 64x49x3x3x32
        Slice   64x49x1x3x32, index 1 of 3     ->    Slice   64x49x96, elements 96..192 of 288
        Squeeze 64x49x3x32                           Reshape 64x49x3x32

    The Reshape splits one dimension, and the Slice takes one index, in steps of one, of the
    outermost part. Only the Squeeze uses the Slice.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.SqueezeOp, rewriter: PatternRewriter) -> None:
        cut = sole_producer(op.input, tpu.SliceOp)
        split = None if cut is None else cut.input.owner
        if cut is None or not isinstance(split, tpu.ReshapeOp):
            return
        if not all(map(is_none, (cut.offsetT, cut.endsT, cut.stepsT))):
            return
        old, new = shape_of(split.input), shape_of(split.output)
        changed = [i for i, part in enumerate(cut.cuts()) if part != Cut(0, new[i], 1)]
        if len(changed) != 1:
            return
        axis, part = changed[0], cut.cuts()[changed[0]]
        inner = _inner(old, new, axis)
        if inner is None or part.count != 1:
            return
        begin = part.first * inner
        direct = tpu.SliceOp.make(
            derived_name(cut, "_r_direct"),
            (split.input, *[none_for(op, rewriter)] * 4),
            result_types=[tensor_like(op.output, (*old[:axis], inner, *old[axis + 1 :]))],
            offset=[begin if i == axis else 0 for i in range(len(old))],
            ends=[begin + inner if i == axis else size for i, size in enumerate(old)],
            steps=[1] * len(old),
        )
        shaped = reshape(op.location, direct.output, shape_of(op.output))
        rewriter.replace(op, [direct, shaped])
        rewriter.erase(cut)


class MatMulRemoveReshapePattern(RewritePattern):
    """MatMul(Reshape(x), Reshape(y)) -> Reshape(MatMul(x, y)), if only ones are put in.

        Reshape 12x49x32 -> 1x12x49x32
        Reshape 12x32x49 -> 1x12x32x49    ->    MatMul  12x49x49
        MatMul  1x12x49x49                      Reshape 1x12x49x49

    The ones stand in front of or among the batch dimensions, which are the same on both sides
    before and after; there are more than two dimensions, as many on either side.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MatMulOp, rewriter: PatternRewriter) -> None:
        reshapes = [sole_producer(value, tpu.ReshapeOp) for value in (op.input, op.right)]
        left, right = reshapes
        if left is None or right is None or bool(op.hdim_is_batch) or not bool(op.keep_dims):
            return
        if shape_of(op.input)[:-2] != shape_of(op.right)[:-2]:
            return
        batch = shape_of(left.input)[:-2]
        if not batch or shape_of(right.input)[:-2] != batch:
            return
        if not all(map(_puts_in_ones, (left, right))):
            return
        product = rebuilt(
            op,
            operands=(left.input, right.input, *op.operands[2:]),
            result_types=[tensor_like(op.output, (*batch, *shape_of(op.output)[-2:]))],
            location=name_loc(derived_name(op, "_r_no_reshape")),
        )
        shaped = reshape(op.location, product.output, shape_of(op.output))
        rewriter.replace(op, [product, shaped])
        rewriter.erase(left)
        rewriter.erase(right)


def _inner(old: tuple[int, ...], new: tuple[int, ...], axis: int) -> int | None:
    """How many elements of dimension `axis` of `old` one index of its outermost part holds.

    None when the Reshape from `old` to `new` does anything but split that dimension.
    """
    added = len(new) - len(old)
    if added < 1 or axis >= len(old) or old[:axis] != new[:axis]:
        return None
    if (
        old[axis + 1 :] != new[axis + 1 + added :]
        or prod(new[axis : axis + 1 + added]) != old[axis]
    ):
        return None
    return old[axis] // new[axis]


def _puts_in_ones(op: tpu.ReshapeOp) -> bool:
    """Whether all a Reshape does is to add ones in front of the last two dimensions."""
    old, new = shape_of(op.input), shape_of(op.output)
    without = [size for size in new[:-2] if size != 1]
    return (
        len(new) > len(old)
        and new[-2:] == old[-2:]
        and without == [size for size in old[:-2] if size != 1]
    )
