"""Permutes move behind sums with weights: the weight is permuted instead."""

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.graph import derived_name
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HEADS,
    applied,
    move_behind,
    sole_permute,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of
from xdsl_tpu.passes.weight_data import change_weight

_WEIGHT = 1
"""The operand that is a weight."""


@dataclass
class PermuteAddWeightReorderPattern(RewritePattern):
    """Add(Permute(x, [0, 2, 1, 3]), W) -> Permute(Add(x, W'), [0, 2, 1, 3]), Mul likewise.

        Permute [0, 2, 1, 3]  64x3x49x49          Add     W'  1x49x3x49
        Add     W             1x3x49x49     ->    Permute [0, 2, 1, 3]

    W, the second input, has four dimensions and no other use; W' is W permuted in the same way
    (its numbers, not only its shape), called `<sum>_transposed_add_weight`.
    """

    weights: Weights | None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, tpu.AddOp | tpu.MulOp) or len(op.inputs) != 2:
            return
        value, weight = op.inputs
        permute = sole_permute(value, HEADS)
        if permute is None or not is_weight(weight) or not weight.has_one_use():
            return
        shape = shape_of(weight)
        if len(shape) != len(HEADS):
            return
        kind = "add" if isinstance(op, tpu.AddOp) else "mul"
        change_weight(
            op,
            _WEIGHT,
            applied(HEADS, shape),
            lambda array: array.reshape(shape).transpose(HEADS),
            self.weights,
            name=derived_name(op, f"_transposed_{kind}_weight"),
        )
        move_behind(op, [permute], (permute.input, op.operands[_WEIGHT]), rewriter, "__trans")
