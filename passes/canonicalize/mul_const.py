"""MulConst: factors that vanish, meet, or move into weights."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    drop,
    has_shapes,
    is_like,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.half_range import may_scale
from xdsl_tpu.passes.tensors import shape_of

_NEAR_ONE = 2e-5
_Product: TypeAlias = top.MatMulOp | top.ConvOp


@dataclass(frozen=True)
class _Chain:
    """A product and the Reshapes behind it, the last of them first."""

    reshapes: tuple[top.ReshapeOp, ...]
    product: _Product


class RemoveMulConst(RewritePattern):
    """MulConst(x, 1) -> x; factors that differ from 1 by at most 2e-5 count as 1."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        if has_relu(op) or not is_like(op.input, op.output):
            return
        if abs(op.const_val.value.data - 1.0) <= _NEAR_ONE:
            drop(op, op.input, rewriter)


class MergeMulConsts(RewritePattern):
    """MulConst(MulConst(x, a), b) -> MulConst(x, a * b), when the first has no relu."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.MulConstOp)
        if inner is None or has_relu(inner):
            return
        merged = top.MulConstOp.make(
            op.location,
            (inner.input,),
            result_types=[op.output.type],
            const_val=inner.const_val.value.data * op.const_val.value.data,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
            is_scalar=op.is_scalar,
        )
        rewriter.replace(op, merged)


class MergeMulConst(RewritePattern):
    """MulConst(Reshape(MatMul(x, W, b)), c) -> Reshape(MatMul(x, W * c, b * c)).

    Works for Conv, too, through any number of Reshapes. Nothing in the chain has another use,
    and no relu stands between the product and the factor unless the factor is positive and
    the relu has no limit. Weights stay what f16 can hold.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.output):
            return
        chain = _chain_to_product(op.input)
        if chain is None or has_relu(op):
            return
        product, factor = chain.product, op.const_val.value.data
        if has_relu(product) and (factor < 0 or product.relu_limit.value.data >= 0):
            return
        if (weights := _scaled_weights(product, factor)) is None:
            return
        operands = [weights.get(index, operand) for index, operand in enumerate(product.operands)]
        name = name_loc(derived_name(product, "_r_scaled"))
        kind = tensor_like(op.output, shape_of(product.output))
        scaled = rebuilt(product, operands=operands, result_types=[kind], location=name)
        rewriter.replace(product, [*weights.values(), scaled])
        for one in chain.reshapes:  # a calibrated range is that of the scaled numbers, too
            kind = tensor_like(op.output, shape_of(one.output))
            rewriter.replace_value_with_new_type(one.output, kind)
        last = chain.reshapes[0] if chain.reshapes else scaled
        last.location = op.location
        drop(op, op.input, rewriter)


def _chain_to_product(value: SSAValue) -> _Chain | None:
    """The ops from the one that makes `value` back to the MatMul or Conv; None if it is other."""
    reshapes: list[top.ReshapeOp] = []
    while (reshape := sole_producer(value, top.ReshapeOp)) is not None:
        reshapes.append(reshape)
        value = reshape.input
    product = sole_producer(value, top.MatMulOp) or sole_producer(value, top.ConvOp)
    return None if product is None else _Chain(tuple(reshapes), product)


def _scaled_weights(product: _Product, factor: float) -> dict[int, top.WeightOp] | None:
    """New weights for the operands that the factor moves into; None unless all are weights."""
    if isinstance(product, top.ConvOp) and len(product.kernel_shape.data) != 2:
        return None
    scaled: dict[int, top.WeightOp] = {}
    for index, operand in enumerate(product.operands[1:], start=1):
        if is_none(operand):
            continue
        values = values_of(operand) if is_f32_weight(operand) else None
        if values is None or (index == 1 and not may_scale(values, factor)):
            return None
        name = derived_name(operand, "_scaled")
        scaled[index] = make_weight(product, name, values * np.float32(factor))
    return scaled
