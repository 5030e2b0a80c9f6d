"""Reshape: chains shrink to one, and Reshapes move to where they vanish."""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import reshaped_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    drop,
    has_shapes,
    is_like,
    is_returned,
    rebuilt,
    sole_producer,
    users,
)
from xdsl_tpu.passes.tensors import shape_of


class FlattenToReshape(RewritePattern):
    """Flatten(x: 1x2048x1x1) {start_dim = 1} -> Reshape(x) {shape = [1, 2048]}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.FlattenOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output):
            return
        flat = top.ReshapeOp.make(
            op.location,
            (op.input,),
            result_types=[op.output.type],
            flatten_start_dim=op.start_dim.value.data,
            shape=shape_of(op.output),
        )
        rewriter.replace(op, flat)


class ViewToReshape(RewritePattern):
    """View(x, W) -> Reshape(x) of the same result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ViewOp, rewriter: PatternRewriter) -> None:
        if has_shapes(op.input, op.output):
            rewriter.replace(op, reshape(op.location, op.input, shape_of(op.output)))


class TopFuseReshape2(RewritePattern):
    """Reshape(x: 1x96) of shape 1x96 -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        if has_shapes(op.input) and is_like(op.input, op.output):
            drop(op, op.input, rewriter)


class TopReshapeFuse(RewritePattern):
    """Reshape(Reshape(x)) -> Reshape(x), when the first has no other use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.ReshapeOp)
        if inner is None or not has_shapes(op.output):
            return
        rewriter.replace(op, _from(op, inner.input))


class TopReshapeFuse2(RewritePattern):
    """x -> Reshape -> {Reshape back to x's shape, y} -> {x, Reshape -> y}.

    What reads x under its own shape again reads x itself; the first Reshape stays for the others.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        if not op.output.has_more_than_one_use() or not has_shapes(op.input):
            return
        restoring = [
            user
            for user in users(op.output)
            if isinstance(user, top.ReshapeOp) and is_like(user.output, op.input)
        ]
        for user in restoring:
            drop(user, op.input, rewriter)
        if restoring:
            rewriter.replace(op, reshape(op.location, op.input, shape_of(op.output)))


class TopFuseReshape3(RewritePattern):
    """Reshape(Add(Reshape(x): 1x64x3x49, W: 1x64x1x49)): 64x3x49 without the leading 1s."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        addition = sole_producer(op.input, top.AddOp)
        if addition is None or len(addition.inputs) != 2 or not has_shapes(*addition.inputs):
            return
        left, right = addition.inputs
        inner, weight = sole_producer(left, top.ReshapeOp), sole_producer(right, top.WeightOp)
        if inner is None or weight is None:
            return
        shapes = [shape_of(value) for value in (op.input, left, right)]
        if shapes[0][1:] != shape_of(op.output) or any(shape[0] != 1 for shape in shapes):
            return
        narrow = [
            reshape(inner.location, inner.input, shapes[1][1:]),
            reshaped_weight(weight, shapes[2][1:]),
        ]
        name = op.location if is_returned(op) else addition.location
        dropped = rebuilt(addition, operands=narrow, result_types=[op.output.type], location=name)
        rewriter.replace(op, [*narrow, dropped])


class TopAddReshapeSwap(RewritePattern):
    """LayerNorm(Reshape(Add(x, y))) -> LayerNorm(Add(Reshape(x), Reshape(y))); MatMul likewise.

    All inputs have the size of the result. Where an input is a LayerNorm or MatMul of one
    use the Reshape stays, as the Add then stands between two of them already.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        addition = sole_producer(op.input, top.AddOp)
        if addition is None or not has_shapes(*addition.inputs, op.output):
            return
        if not any(isinstance(user, top.LayerNormOp | top.MatMulOp) for user in users(op.output)):
            return
        for value in addition.inputs:
            if not is_like(value, addition.output):
                return
            if sole_producer(value, top.LayerNormOp) or sole_producer(value, top.MatMulOp):
                return
        shape = shape_of(op.output)
        moved = [
            reshape(derived_name(value, "_r_reshape"), value, shape) for value in addition.inputs
        ]
        swapped = rebuilt(
            addition, operands=moved, result_types=[op.output.type], location=op.location
        )
        rewriter.replace(op, [*moved, swapped])


def _from(op: top.ReshapeOp, value: SSAValue) -> top.ReshapeOp:
    """The same Reshape of another value; its attributes stay when they mean the same for it."""
    if 0 in ints(op.shape or ()) or (op.shape is None and op.flatten_start_dim.value.data >= 0):
        return reshape(op.location, value, shape_of(op.output))
    return rebuilt(op, operands=(value,))
