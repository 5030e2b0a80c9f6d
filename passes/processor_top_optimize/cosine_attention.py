"""Attention over rows of length 1: norms where heads lie beside each other, factors on queries."""

from math import prod

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer
from xdsl_tpu.passes.tensors import shape_of


class NormBeforePermute(RewritePattern):
    """RMSNorm(Permute(x, [0, 2, 1, 3])) -> Permute(RMSNorm(x), [0, 2, 1, 3]).

        Permute  64x64x3x32 -> 64x3x64x32          RMSNorm  64x64x3x32
        RMSNorm  64x3x64x32                  ->    Permute  64x64x3x32 -> 64x3x64x32

    The last dimension, that of the rows, stays the last. The Permute is then next to the product,
    which takes it in (`MatMulHdimBatchPattern`), and the rows are those of the product before.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.RMSNormOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        if permute is None or not has_shapes(permute.input):
            return
        order = ints(permute.order)
        if order[-1] != len(order) - 1:
            return
        norm = rebuilt(
            op,
            operands=(permute.input, op.gamma),
            result_types=[permute.input.type],
            location=name_loc(derived_name(op, "_r_before_permute")),
        )
        moved = rebuilt(
            permute, operands=(norm.output,), result_types=[op.output.type], location=op.location
        )
        rewriter.replace(op, [norm, moved])
        rewriter.erase(permute)


class ScaleOnQueries(RewritePattern):
    """Scale(MatMul(q, k), s, 0) -> MatMul(Mul(q, s), k), when q has fewer elements.

        MatMul  64x3x64x32 @ 64x3x32x64          Mul     64x3x64x32 * 1x3x1x1
        Scale   64x3x64x64 * 1x3x1x1       ->    MatMul  64x3x64x32 @ 64x3x32x64

    The factors are those of heads, dimension 1 of q. A MulConst that makes q becomes part of them.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, top.MatMulOp)
        if product is None or has_relu(product) or not has_shapes(product.input, op.output):
            return
        flags = (product.left_transpose, product.output_transpose, product.hdim_is_batch)
        if any(flag.value.data for flag in flags):
            return
        factors, shift = values_of(op.scale), values_of(op.bias)
        if factors is None or shift is None or np.any(shift):
            return
        value = product.input
        shape = shape_of(value)
        if len(shape) != 4 or shape[:3] != shape_of(op.output)[:3]:
            return
        if prod(shape) >= prod(shape_of(op.output)):
            return
        constant = sole_producer(value, top.MulConstOp)
        if constant is not None and not has_relu(constant):
            factors = factors * np.float32(constant.const_val.value.data)
            value = constant.input
        name = derived_name(op, "_of_heads")
        weight = make_weight(op, name, np.reshape(factors, (1, shape[1], 1, 1)))
        scaled = top.MulOp.make(
            derived_name(op, "_queries"), (value, weight), result_types=[value.type]
        )
        rebound = rebuilt(
            product,
            operands=(scaled, *product.operands[1:]),
            result_types=[op.output.type],
            location=op.location,
        )
        rebound.do_relu, rebound.relu_limit = op.do_relu, op.relu_limit
        rewriter.replace(op, [weight, scaled, rebound])
