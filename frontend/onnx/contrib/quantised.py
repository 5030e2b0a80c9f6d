"""Ops on 8-bit integers, as the same ops on floats between DequantizeLinear and QuantizeLinear.

With that, models in the form of operators are models in QDQ form. Integers that are only moved, or
of which the largest are taken, are floats there, too.
"""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

FIRST_SOFTMAX_OF_ONE_AXIS = 13
"""The first opset whose Softmax goes over one axis alone."""

Part = tuple[int, int, int]
"""Which inputs are the integers, their scale and their zero point."""


def _floats(body: Body, part: Part, axis: int = 1) -> str:
    names = [body.node.input(index) for index in part]
    return body.add("DequantizeLinear", *filter(None, names), axis=axis)


def _integers(body: Body, y: str, scale: int) -> None:
    """`y` as integers, the node's output, with the scale and zero point from input `scale` on."""
    names = [body.node.input(index) for index in (scale, scale + 1)]
    body.add("QuantizeLinear", y, *filter(None, names), output=body.node.output)


def linear_conv(body: Body) -> None:
    """QLinearConv -> Conv; its bias is in steps of both scales."""
    x, w = _floats(body, (0, 1, 2)), _floats(body, (3, 4, 5), axis=0)
    operands = [x, w]
    if bias := body.node.input(8):
        steps = body.reshape(body.add("Mul", body.node.inputs[1], body.node.inputs[4]), [-1])
        numbers = body.add("Cast", bias, to=1)
        operands.append(body.add("Mul", numbers, steps))
    _integers(body, body.add("Conv", *operands, **body.node.attributes), 6)


def linear_matmul(body: Body) -> None:
    """QLinearMatMul -> MatMul."""
    last = len(body.shape(3)) - 1
    b = _floats(body, (3, 4, 5), axis=last)
    _integers(body, body.add("MatMul", _floats(body, (0, 1, 2)), b), 6)


def gemm(body: Body) -> None:
    """QGemm -> Gemm; its bias is in steps of both scales and alpha."""
    node = body.node
    of_columns = 0 if node.attribute("transB", 0) else 1
    operands = [_floats(body, (0, 1, 2)), _floats(body, (3, 4, 5), axis=of_columns)]
    alpha = node.attribute("alpha", 1.0)
    if bias := node.input(6):
        steps = body.add("Mul", node.inputs[1], node.inputs[4])
        steps = body.add("Mul", steps, body.constant(float(alpha)))
        operands.append(body.add("Mul", body.add("Cast", bias, to=1), steps))
    y = body.add("Gemm", *operands, **node.attributes)
    if node.input(7):
        _integers(body, y, 7)
    else:
        body.add("Identity", y, output=node.output)


def of_one(op_type: str) -> Composition:
    """QLinearX(x, its scale and zero, y's) -> X."""

    def compose(body: Body) -> None:
        kept = {k: v for k, v in body.node.attributes.items() if k != "channels_last"}
        if body.node.attribute("channels_last", 0):
            raise UnsupportedNode("channels that come last are not supported")
        _integers(body, body.add(op_type, _floats(body, (0, 1, 2)), **kept), 3)

    return compose


def of_two(op_type: str) -> Composition:
    """QLinearX(a, its scale and zero, b, its scale and zero, y's) -> X."""

    def compose(body: Body) -> None:
        a, b = _floats(body, (0, 1, 2)), _floats(body, (3, 4, 5))
        _integers(body, body.add(op_type, a, b), 6)

    return compose


def reduce_mean(body: Body) -> None:
    """QLinearReduceMean -> ReduceMean."""
    axes, keepdims = body.node.attributes["axes"], bool(body.node.attribute("keepdims", 1))
    mean = body.reduce("ReduceMean", _floats(body, (0, 1, 2)), axes, keepdims)
    _integers(body, mean, 3)


def concat(body: Body) -> None:
    """QLinearConcat(y's scale and zero, parts with theirs) -> Concat."""
    parts = [_floats(body, (i, i + 1, i + 2)) for i in range(2, len(body.node.inputs), 3)]
    _integers(body, body.add("Concat", *parts, axis=body.node.attributes["axis"]), 0)


def softmax(body: Body) -> None:
    """QLinearSoftmax -> Softmax; before opset 13 it is over all dimensions from `axis` on."""
    node, rank = body.node, len(body.shape(0))
    axis = node.attribute("axis", -1) % rank
    if node.attributes["opset"] < FIRST_SOFTMAX_OF_ONE_AXIS and axis != rank - 1:
        raise UnsupportedNode("before opset 13 only a softmax over the last axis is supported")
    _integers(body, body.add("Softmax", _floats(body, (0, 1, 2)), axis=axis), 3)


def moved(body: Body) -> bool:
    """Ops that move integers of a QuantizeLinear -> the same on floats, with the same scale."""
    node = body.node
    source = body.graph.made_by(node.inputs[0], "QuantizeLinear")
    if source is None or (len(node.outputs) > 1 and node.op_type != "Split"):
        return False
    scale = source.inputs[1:]
    x = body.add("DequantizeLinear", node.inputs[0], *scale)
    floats = [f"{output}/floats" for output in node.outputs]
    operands = [x, *node.inputs[1:]]
    body.several(node.op_type, operands, ["", *floats[1:]], first=True, **node.attributes)
    for y, output in zip((body.protos[-1].output[0], *floats[1:]), node.outputs, strict=True):
        body.add("QuantizeLinear", y, *scale, output=output)
    return True


def same(op_type: str) -> Composition:
    """The standard op of the same name."""

    def compose(body: Body) -> None:
        body.add(op_type, *body.node.inputs, output=body.node.output, **body.node.attributes)

    return compose


def unrounded(body: Body) -> None:
    """DynamicQuantizeLinear before products alone -> its input, in steps of 1 (see `domain`)."""
    node = body.node
    ends = (node.inputs[0], body.constant(1.0), body.constant(np.zeros((), np.uint8)))
    for name, output in zip(ends, node.outputs, strict=False):
        if output:
            body.add("Identity", name, output=output)


def integer_matmul(body: Body) -> None:
    """MatMulInteger(x, w, -, zero) behind such -> MatMul(x, w - zero)."""
    body.add("MatMul", body.node.inputs[0], _steps(body, -1), output=body.node.output)


def integer_conv(body: Body) -> None:
    """ConvInteger(x, w, -, zero) behind such -> Conv(x, w - zero)."""
    attributes = body.node.attributes
    body.add("Conv", body.node.inputs[0], _steps(body, 0), output=body.node.output, **attributes)


def _steps(body: Body, axis: int) -> str:
    """The integers of a weight from its zero point on, as floats; one zero for each of `axis`."""
    shape = body.shape(1)
    weight = body.add("Cast", body.node.inputs[1], to=1)
    if not (zero := body.node.input(3)):
        return weight
    zero = body.add("Cast", zero, to=1)
    if len(body.shape(3)) == 1 and body.shape(3) != (1,):
        wide = [1] * len(shape)
        wide[axis] = shape[axis]
        zero = body.reshape(zero, wide)
    return body.add("Sub", weight, zero)


def dynamic_matmul(body: Body) -> None:
    """DynamicQuantizeMatMul(x, w, its scale and zero, bias) -> MatMul(x, w) + bias."""
    w, bias = _floats(body, (1, 2, 3), axis=1), body.node.input(4)
    product = body.add("MatMul", body.node.inputs[0], w, output="" if bias else body.node.output)
    if bias:
        body.add("Add", product, bias, output=body.node.output)


def matmul_to_float(body: Body) -> None:
    """MatMulIntegerToFloat(x, w, scales, zeros, bias) -> MatMul(x, w) + bias."""
    x, bias = body.node.inputs[0], body.node.input(6)
    x = x if body.is_float(0) else _floats(body, (0, 2, 4))
    w = _floats(body, (1, 3, 5), axis=1)
    product = body.add("MatMul", x, w, output="" if bias else body.node.output)
    if bias:
        body.add("Add", product, bias, output=body.node.output)


def dynamic_lstm(body: Body) -> None:
    """DynamicQuantizeLSTM(.., W and R in integers, .., their scales and zeros) -> LSTM.

    Its weights are [directions, inputs, 4 hidden], with a scale for each direction or column.
    """
    node = body.node
    operands = list(node.inputs[:8])
    for place, scale in ((1, 8), (2, 10)):
        kept = body.shape(scale)
        wide = (kept[0], 1, kept[1] if len(kept) > 1 else 1)
        numbers = body.add("Cast", node.inputs[place], to=1)
        if zero := node.input(scale + 1):
            zeros = body.reshape(body.add("Cast", zero, to=1), wide)
            numbers = body.add("Sub", numbers, zeros)
        weights = body.add("Mul", numbers, body.reshape(node.inputs[scale], wide))
        operands[place] = body.transpose(weights, (0, 2, 1))
    outputs = [*node.outputs, "", ""][:3]
    y = body.several("LSTM", operands, ["", *outputs[1:]], bool(outputs[0]), **node.attributes)
    if y:
        body.add("Identity", y, output=outputs[0])


def from_table(body: Body) -> bool:
    """DequantizeLinear of rows of a constant table -> Gather of rows of its floats."""
    node = body.node
    rows = body.graph.made_by(node.inputs[0], "Gather")
    is_constant = rows is not None and rows.inputs[0] in body.graph.constants
    if rows is None or not is_constant or body.shape(1) not in ((), (1,)):
        return False
    table = body.add("DequantizeLinear", rows.inputs[0], *node.inputs[1:])
    body.add("Gather", table, rows.inputs[1], output=node.output, axis=rows.attribute("axis", 0))
    return True


ON_INTEGERS: dict[str, Composition] = {
    "DequantizeLinear": from_table,
    **dict.fromkeys(
        ("Flatten", "Gather", "MaxPool", "Reshape", "Resize", "Slice", "Split", "Squeeze"), moved
    ),
    **dict.fromkeys(("Transpose", "Unsqueeze"), moved),
}
"""Ops of the standard that quantisers leave to integers."""

COMPOSED: dict[str, Composition] = {
    "ConvInteger": integer_conv,
    "DequantizeLinear": same("DequantizeLinear"),
    "DynamicQuantizeLSTM": dynamic_lstm,
    "DynamicQuantizeLinear": unrounded,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulInteger": integer_matmul,
    "MatMulIntegerToFloat": matmul_to_float,
    "QGemm": gemm,
    "QLinearAdd": of_two("Add"),
    "QLinearAveragePool": of_one("AveragePool"),
    "QLinearConcat": concat,
    "QLinearConv": linear_conv,
    "QLinearGlobalAveragePool": of_one("GlobalAveragePool"),
    "QLinearLeakyRelu": of_one("LeakyRelu"),
    "QLinearMatMul": linear_matmul,
    "QLinearMul": of_two("Mul"),
    "QLinearReduceMean": reduce_mean,
    "QLinearSigmoid": of_one("Sigmoid"),
    "QLinearSoftmax": softmax,
    "QuantizeLinear": same("QuantizeLinear"),
}
