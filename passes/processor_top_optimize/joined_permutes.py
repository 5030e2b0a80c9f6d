"""Concat of Permutes of one order: a Permute of a Concat."""

from xdsl.dialects.builtin import IntegerAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class ConcatBeforePermute(RewritePattern):
    """Concat(Permute(x), Permute(y)), both of one order -> Permute(Concat(x, y)).

        Permute  1x1024x12x64 -> 1x12x1024x64
        Permute  1x154x12x64 -> 1x12x154x64           Concat   1x1178x12x64
        Concat   1x12x1178x64                    ->   Permute  1x12x1178x64

    Tokens of an image and of a text make one attention: joined as products give them they lie one
    behind the other, and attention reads its heads from there. The last dimension stays the last:
    what turns columns to rows is done to each part where it is made.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        found = [sole_producer(value, top.PermuteOp) for value in op.inputs]
        permutes = [one for one in found if one is not None]
        if len(op.inputs) < 2 or len(permutes) != len(op.inputs) or not has_shapes(op.output):
            return
        order, shape = ints(permutes[0].order), shape_of(op.output)
        if order[-1] != len(order) - 1 or any(ints(one.order) != order for one in permutes):
            return
        before = [0] * len(shape)
        for place, axis in enumerate(order):
            before[axis] = shape[place]
        joined = rebuilt(
            op,
            operands=[one.input for one in permutes],
            result_types=[tensor_like(op.output, before)],
            location=name_loc(derived_name(op, "_before_permute")),
        )
        axis = joined.axis
        joined.axis = IntegerAttr(order[axis.value.data % len(shape)], axis.type)
        permute = rebuilt(
            permutes[0],
            operands=[joined.results[0]],
            result_types=op.result_types,
            location=op.location,
        )
        rewriter.replace(op, [joined, permute])
        for one in permutes:
            rewriter.erase(one)
