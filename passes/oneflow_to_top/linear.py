"""Matrix products."""

from xdsl_tpu.dialects import oneflow, top
from xdsl_tpu.dialects.oneflow.matmul import ProductOp
from xdsl_tpu.passes.oneflow_to_top.context import Context, Converters
from xdsl_tpu.passes.tensors import shape_of


def convert_product(context: Context, op: ProductOp) -> None:
    """matmul and its like -> top.MatMul, with the left operand permuted if transposed."""
    left = context.value(op.a)
    if op.transpose_a.value.data:
        rank = len(shape_of(left))
        left = context.permuted(op, left, (*range(rank - 2), rank - 1, rank - 2))
    product = context.emit(
        op,
        top.MatMulOp,
        (left, context.value(op.b), context.none),
        right_transpose=bool(op.transpose_b.value.data),
    )
    scaled = context.times(op, product, op.alpha.value.data)
    context.finish(op, context.plus(op, scaled, op.add_to_output))


def convert_linear(context: Context, op: oneflow.FusedMatmulBiasOp) -> None:
    """fused_matmul_bias -> top.MatMul; factors that are not 1 keep the bias out of it."""
    alpha, beta = op.alpha.value.data, op.beta.value.data
    together = alpha == 1.0 == beta
    bias = context.value(op.bias)
    operands = (context.value(op.x), context.value(op.weight), bias if together else context.none)
    out = context.emit(op, top.MatMulOp, operands, right_transpose=True)
    if not together:
        scaled = context.times(op, out, alpha)
        out = context.emit(op, top.AddOp, (scaled, context.times(op, bias, beta)))
    context.finish(op, context.plus(op, out, op.add_to_output))


CONVERTERS: Converters = {
    oneflow.BatchMatmulOp: convert_product,
    oneflow.BroadcastMatmulOp: convert_product,
    oneflow.FusedMatmulBiasOp: convert_linear,
    oneflow.MatmulOp: convert_product,
}
