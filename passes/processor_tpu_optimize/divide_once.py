"""One reciprocal for all that is divided by the same number."""

import math

from xdsl.dialects.builtin import f32
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.graph import derived_name
from xdsl_tpu.passes.tensors import number_type, shape_of

LEAST_SHARED = 4
"""Quotients by one number from which on its reciprocal is worth an op of its own: a quotient takes
about as long as eight products."""


class DivideOnce(RewritePattern):
    """Div(x: NxCxHxW, y: NxCx1xW) in f32 -> Mul(x, Reciprocal(y)): a quotient for each y.

    Only where y has the rows and channels of the result, whose lanes it then lies in: a divisor
    of one channel would be inverted in a single lane for as long as all lanes divide. Not in the
    vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.DivOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or op.is_reverse.value.data:
            return
        value, divisor = op.inputs
        if any(number_type(x) != f32 for x in (value, divisor, op.output)):
            return
        shape, shared = shape_of(op.output), shape_of(divisor)
        if len(shape) < 3 or len(shared) != len(shape) or shared[:2] != shape[:2]:
            return
        if math.prod(shape) < LEAST_SHARED * math.prod(shared):
            return
        inverse = tpu.ReciprocalOp.make(
            derived_name(op, "_inverse"), (divisor,), result_types=[divisor.type]
        )
        product = tpu.MulOp.make(
            op.location,
            (value, inverse),
            result_types=op.result_types,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        rewriter.replace(op, [inverse, product])
