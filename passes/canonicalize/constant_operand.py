"""Ops of a tensor and a weight of one element: the number becomes an attribute."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import unit_coefficients
from xdsl_tpu.passes.constants import number_of
from xdsl_tpu.passes.graph import has_shapes, is_like, sole_producer
from xdsl_tpu.passes.tensors import shape_of


class CompareToCompareConst(RewritePattern):
    """Compare(x, W with one element c) -> CompareConst(x, c)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.CompareOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.lhs, op.rhs, op.output):
            return
        for value, other, inversed in ((op.lhs, op.rhs, False), (op.rhs, op.lhs, True)):
            number = number_of(other)
            if number is None or shape_of(value) != shape_of(op.output):
                continue
            constant = top.CompareConstOp.make(
                op.location,
                (value,),
                result_types=[op.output.type],
                mode=op.mode,
                const_val=number,
                inversed=inversed,
            )
            rewriter.replace(op, constant)
            return


class FuseNotEqual(RewritePattern):
    """CompareConst(CompareConst(x, c) {Equal}, 0) {Equal} -> CompareConst(x, c) {NotEqual}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.CompareConstOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.CompareConstOp)
        if inner is None or inner.mode.data != "Equal" or op.const_val.value.data != 0.0:
            return
        if op.mode.data not in ("Equal", "Not"):
            return
        merged = top.CompareConstOp.make(
            op.location,
            (inner.input,),
            result_types=[op.output.type],
            mode="NotEqual",
            const_val=inner.const_val,
            inversed=inner.inversed,
        )
        rewriter.replace(op, merged)


class MaxMinToConst(RewritePattern):
    """Max(x, W with one element c) -> MaxConst(x, c); Min -> MinConst."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MaxOp | top.MinOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not has_shapes(*op.inputs):
            return
        kind = top.MaxConstOp if isinstance(op, top.MaxOp) else top.MinConstOp
        for value, other in (op.inputs, reversed(op.inputs)):
            if is_like(value, op.output) and (number := number_of(other)) is not None:
                constant = kind.make(
                    op.location, (value,), result_types=[op.output.type], const_val=number
                )
                rewriter.replace(op, constant)
                return


class SubToAddConst(RewritePattern):
    """Sub(x, W with one element c) -> AddConst(x, -c)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SubOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or op.is_reverse.value.data or not has_shapes(*op.inputs):
            return
        value, other = op.inputs
        number = number_of(other)
        if number is None or not is_like(value, op.output) or not unit_coefficients(op):
            return
        constant = top.AddConstOp.make(
            op.location,
            (value,),
            result_types=[op.output.type],
            const_val=-number,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
            is_scalar=op.is_scalar,
        )
        rewriter.replace(op, constant)
