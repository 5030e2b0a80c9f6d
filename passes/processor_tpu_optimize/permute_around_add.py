"""Permutes on both sides of a sum become one, or none."""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, none_for, rebuilt, sole_producer, sole_user
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    composed,
    move_behind,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import shape_of


class MovePermuteAfterAdd(RewritePattern):
    """Add(Permute(x), Permute(y)) -> Permute(Add(x, y)), when the orders are equal.

        Permute [0, 3, 1, 2], Reshape    twice          Add
        Add                                       ->    Permute [0, 3, 1, 2]
                                                        Reshape

    Both Permutes may be followed by equal Reshapes. Their inputs have equal shapes, and nothing
    in between has another use.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or op.inputs[0].type != op.inputs[1].type:
            return
        reshapes = [sole_producer(value, tpu.ReshapeOp) for value in op.inputs]
        reshaped = all(one is not None for one in reshapes)
        values = [one.input for one in reshapes if one is not None] if reshaped else op.inputs
        permutes = [one for value in values if (one := sole_permute(value)) is not None]
        if len(permutes) != 2 or len({ints(one.order) for one in permutes}) != 1:
            return
        if permutes[0].input.type != permutes[1].input.type:
            return
        sources = [one.input for one in permutes]
        if not reshaped:
            move_behind(op, permutes, sources, rewriter)
            return
        total = rebuilt(
            op,
            operands=sources,
            result_types=[sources[0].type],
            location=name_loc(derived_name(op, f"_{derived_name(permutes[0], '')}")),
        )
        order, none = ints(permutes[0].order), none_for(op, rewriter)
        behind = permute(derived_name(op, "_r_permute"), total.output, order, none)
        last = reshape(op.location, behind.output, shape_of(op.output))
        rewriter.replace(op, [total, behind, last])


class ErasePermuteAroundAdd(RewritePattern):
    """Permute(Add(Permute(x, a), Permute(y, b)), c) -> Add(x, Permute(y, b then c)), c undoes a.

        Permute a    Permute b                       Permute b then c
               Add                    ->      Add
             Permute c

    Of three Permutes one stays, on the other branch; none when c undoes b as well. Nothing has
    another use, and both inputs have the shape of the sum.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.AddOp, rewriter: PatternRewriter) -> None:
        after = sole_user(op.output, tpu.PermuteOp)
        if after is None or len(op.inputs) != 2:
            return
        permutes = [one for value in op.inputs if (one := sole_permute(value)) is not None]
        if len(permutes) != 2 or any(value.type != op.output.type for value in op.inputs):
            return
        last = ints(after.order)
        identity = tuple(range(len(last)))
        orders = [composed(ints(one.order), last) for one in permutes]
        if identity not in orders:
            return
        none = none_for(op, rewriter)
        operands: list[SSAValue] = []
        for one, order in zip(permutes, orders, strict=True):
            if order == identity:
                operands.append(one.input)
                continue
            moved = permute(derived_name(one, "_r_permute"), one.input, order, none)
            rewriter.insert(moved)
            operands.append(moved.output)
        total = rebuilt(
            op, operands=operands, result_types=[after.output.type], location=after.location
        )
        rewriter.insert(total)
        rewriter.replace(after, (), (total.output,))
        rewriter.erase(op)
        for one in permutes:
            rewriter.erase(one)
