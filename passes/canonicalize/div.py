"""Div and Pow: cheaper ops that do the same."""

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import has_relu, in_place_of
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, sole_producer


class DivToMul(RewritePattern):
    """Div(x, W) -> Mul(x, 1 / W)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.DivOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or op.is_reverse.value.data or not is_f32_weight(op.inputs[1]):
            return
        values = values_of(op.inputs[1])
        if values is None or not np.all(values):
            return
        inverse = make_weight(op, derived_name(op.inputs[1], "_inverse"), np.float32(1) / values)
        product = in_place_of(op, top.MulOp, (op.inputs[0], inverse), is_scalar=op.is_scalar)
        rewriter.replace(op, [inverse, product])


class DivToSoftsign(RewritePattern):
    """Div(x, AddConst(Abs(x), 1)) -> Softsign(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.DivOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or op.is_reverse.value.data or has_relu(op):
            return
        value, divisor = op.inputs
        plus_one = sole_producer(divisor, top.AddConstOp)
        if plus_one is None or plus_one.const_val.value.data != 1.0 or has_relu(plus_one):
            return
        absolute = sole_producer(plus_one.input, top.AbsOp)
        if absolute is not None and absolute.input is value:
            softsign = top.SoftsignOp.make(op.location, (value,), result_types=[op.output.type])
            rewriter.replace(op, softsign)


class PowToProduct(RewritePattern):
    """Pow(x) {exponent = 2} -> Mul(x, x); exponent 1/2 -> Sqrt(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PowOp, rewriter: PatternRewriter) -> None:
        exponent = op.exponent.value.data
        if exponent == 2.0:
            product = top.MulOp.make(
                op.location, (op.input, op.input), result_types=[op.output.type]
            )
            rewriter.replace(op, product)
        elif exponent == 0.5:
            root = top.SqrtOp.make(op.location, (op.input,), result_types=[op.output.type])
            rewriter.replace(op, root)
