"""Activations with what comes before them: a bias, a gate, a mask."""

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def gelu(body: Body) -> None:
    """Gelu(x), BiasGelu(x, bias) -> Gelu(x + bias)."""
    body.add("Gelu", _biased(body), output=body.node.output)


def fast_gelu(body: Body) -> None:
    """FastGelu(x[, bias]) -> Gelu(x + bias, approximate=tanh)."""
    body.add("Gelu", _biased(body), output=body.node.output, approximate="tanh")


def quick_gelu(body: Body) -> None:
    """QuickGelu(x) -> x Sigmoid(alpha x): SiLU for alpha 1."""
    x, alpha = body.node.inputs[0], body.node.attribute("alpha", 1.702)
    scaled = x if alpha == 1.0 else body.add("Mul", x, body.number(alpha, x))
    body.add("Mul", x, body.add("Sigmoid", scaled), output=body.node.output)


def bias_split_gelu(body: Body) -> None:
    """BiasSplitGelu(x, bias) -> the first half of x + bias times Gelu of the second one."""
    axis, half = len(body.shape(0)) - 1, body.shape(0)[-1] // 2
    x = _biased(body)
    gate = body.add("Gelu", body.slice(x, axis, half, 2 * half))
    body.add("Mul", body.slice(x, axis, 0, half), gate, output=body.node.output)


def bias_add(body: Body) -> None:
    """BiasAdd(x, bias, skip) -> x + bias + skip."""
    x, bias, skip = body.node.inputs
    body.add("Add", body.add("Add", x, bias), skip, output=body.node.output)


def bias_softmax(body: Body) -> None:
    """BiasSoftmax(x, bias) -> Softmax(x + bias) over the last axis."""
    axis = body.node.attribute("axis", 1) % len(body.shape(0))
    if axis != len(body.shape(0)) - 1:
        raise UnsupportedNode("only a softmax over the last axis is supported")
    body.add("Softmax", _biased(body), output=body.node.output, axis=axis)


def _biased(body: Body) -> str:
    """x + bias; x where there is no bias."""
    x, bias = body.node.inputs[0], body.node.input(1)
    return body.add("Add", x, bias) if bias else x


COMPOSED: dict[str, Composition] = {
    "BiasAdd": bias_add,
    "BiasGelu": gelu,
    "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu,
    "FastGelu": fast_gelu,
    "Gelu": gelu,
    "QuickGelu": quick_gelu,
}
