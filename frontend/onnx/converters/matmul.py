"""Matrix products."""

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node


def convert_matmul(context: Context, node: Node) -> None:
    """MatMul -> top.MatMul without bias; a vector becomes a matrix of one row or column."""
    operands = [context.value(name) for name in node.inputs[:2]]
    shapes = [context.shape(name) for name in node.inputs[:2]]
    if min(map(len, shapes)) > 1:
        context.emit(node, top.MatMulOp, [*operands, context.none])
        return
    rows, columns = shapes
    if len(rows) == 1:
        operands[0] = _reshaped(context, node, "row", operands[0], (1, *rows))
    if len(columns) == 1:
        operands[1] = _reshaped(context, node, "column", operands[1], (*columns, 1))
    batch = (*rows[:-2], *columns[:-2])
    shape = (*batch, 1 if len(rows) == 1 else rows[-2], 1 if len(columns) == 1 else columns[-1])
    product = context.step(node, "product", top.MatMulOp, [*operands, context.none], shape)
    result = context.shape(node.output) or (1,)
    context.emit(node, top.ReshapeOp, [product], shape=result)


def _reshaped(
    context: Context, node: Node, label: str, value: SSAValue, shape: tuple[int, ...]
) -> SSAValue:
    return context.step(node, label, top.ReshapeOp, [value], shape, shape=shape)


def convert_gemm(context: Context, node: Node) -> None:
    """Gemm -> top.MatMul; transB, alpha and beta go into the weights where they are constant.

    A constant right side is stored as K, N. What is left over becomes ops of its own: a
    transposed left side, a scaled result, a bias that is not one constant a column.
    """
    rows, columns = context.shape(node.output)
    alpha = node.attribute("alpha", 1.0)
    left = context.value(node.inputs[0])
    if node.attribute("transA", 0):
        order = {"order": [1, 0]}
        shape = context.shape(node.inputs[0])[::-1]
        left = context.step(node, "transA", top.PermuteOp, [left], shape, **order)
    right, transposed, factor = _right(context, node, alpha)
    bias = _bias(context, node, columns)
    if bias is not None and factor == 1.0:
        context.emit(node, top.MatMulOp, [left, right, bias], right_transpose=transposed)
        return
    product = context.step(
        node,
        "product",
        top.MatMulOp,
        [left, right, context.none],
        (rows, columns),
        right_transpose=transposed,
    )
    _scale_and_add(context, node, product, factor)


def _right(context: Context, node: Node, alpha: float) -> tuple[SSAValue, bool, float]:
    """The right side, whether the product must transpose it, and what is left of alpha."""
    name, transposed = node.inputs[1], bool(node.attribute("transB", 0))
    data = context.graph.constant(name)
    if data is None:
        return context.value(name), transposed, alpha
    if not transposed and alpha == 1.0:
        return context.value(name), False, 1.0
    data = data.T if transposed else data
    fixed = data if alpha == 1.0 else data * np.float32(alpha)
    label = "fix" if alpha == 1.0 else f"fix_{alpha}"
    scales = context.graph.scales.get(name)
    one_scale = scales is not None and scales.size == 1 and alpha == 1.0
    return context.weight(f"{name}_{label}", fixed, name if one_scale else None), False, 1.0


def _bias(context: Context, node: Node, columns: int) -> SSAValue | None:
    """The bias as N elements, `none` when there is none; None when it is no such constant."""
    name, beta = node.input(2), node.attribute("beta", 1.0)
    if not name or beta == 0.0:
        return context.none
    data = context.graph.constant(name)
    if (
        data is None
        or data.size not in (1, columns)
        or data.shape[-1:] not in ((), (1,), (columns,))
    ):
        return None
    if data.shape == (columns,) and beta == 1.0:
        return context.value(name)
    fixed = np.broadcast_to(data.reshape(-1) * np.float32(beta), (columns,))
    return context.weight(f"{name}_fix_{columns}_{beta}", fixed)


def _scale_and_add(context: Context, node: Node, product: SSAValue, factor: float) -> None:
    shape = context.shape(node.output)
    has_bias = node.input(2) and node.attribute("beta", 1.0)
    if factor != 1.0 and not has_bias:
        context.emit(node, top.MulConstOp, [product], const_val=factor)
        return
    if factor != 1.0:
        product = context.step(node, "alpha", top.MulConstOp, [product], shape, const_val=factor)
    bias, beta = context.value(node.inputs[2]), node.attribute("beta", 1.0)
    if beta != 1.0:
        bias_shape = context.shape(node.inputs[2])
        bias = context.step(node, "beta", top.MulConstOp, [bias], bias_shape, const_val=beta)
    context.emit(node, top.AddOp, [product, bias])


CONVERTERS: dict[str, Converter] = {
    "Gemm": convert_gemm,
    "MatMul": convert_matmul,
}
