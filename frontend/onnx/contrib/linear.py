"""Convolutions and products with what comes behind or before them."""

from collections.abc import Sequence
from typing import Any

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

NAMED: dict[str, tuple[str, ...]] = {
    "": (),
    "Elu": ("alpha",),
    "Gelu": (),
    "HardSigmoid": ("alpha", "beta"),
    "HardSwish": (),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Sigmoid": (),
    "Softplus": (),
    "Tanh": (),
}
"""Activations of fused ops, and which attributes their parameters are."""


def fused_conv(body: Body) -> None:
    """FusedConv(x, w, b, z) -> activation(Conv(x, w, b) + z)."""
    kept = {k: v for k, v in body.node.attributes.items() if not k.startswith("activation")}
    activation = body.node.attribute("activation", "")
    parameters = body.node.attribute("activation_params", list[float]())
    x, w, b, z = (body.node.input(index) for index in range(4))
    y = body.add("Conv", *[x, w, b][: 3 if b else 2], **kept)
    y = body.add("Add", y, z) if z else y
    activated(body, y, activation, parameters)


def fused_gemm(body: Body) -> None:
    """FusedGemm(a, b, c) -> activation(Gemm(a, b, c))."""
    kept = {k: v for k, v in body.node.attributes.items() if not k.startswith("activation")}
    names = ("activation_alpha", "activation_beta", "activation_gamma")
    given = [body.node.attributes[n] for n in names if n in body.node.attributes]
    y = body.add("Gemm", *filter(None, body.node.inputs), **kept)
    activated(body, y, body.node.attribute("activation", ""), given)


def fused_matmul(body: Body) -> None:
    """FusedMatMul(a, b) -> alpha MatMul of both, each transposed as it says.

    `transA` exchanges the last two dimensions; `transBatchA` makes the first one that of rows.
    """
    node = body.node
    a = _turned(body, 0, node.attribute("transA", 0), node.attribute("transBatchA", 0))
    b = _turned(body, 1, node.attribute("transB", 0), node.attribute("transBatchB", 0))
    alpha = node.attribute("alpha", 1.0)
    if alpha == 1.0:
        body.add("MatMul", a, b, output=node.output)
        return
    product = body.add("MatMul", a, b)
    body.add("Mul", product, body.number(alpha, node.inputs[0]), output=node.output)


def activated(body: Body, y: str, activation: str, parameters: Sequence[float]) -> None:
    """The node's output as an activation of `y`; UnsupportedNode for one without a name here."""
    output = body.node.output
    if activation == "Clip":
        bounds = (body.number(value, body.node.inputs[0]) for value in parameters)
        body.add("Clip", y, *bounds, output=output)
        return
    if activation not in NAMED:
        raise UnsupportedNode(f"its activation '{activation}' is not supported")
    given: dict[str, Any] = dict(zip(NAMED[activation], parameters, strict=False))
    body.add(activation or "Identity", y, output=output, **given)


def _turned(body: Body, index: int, swapped: int, of_batch: int) -> str:
    x, rank = body.node.inputs[index], len(body.shape(index))
    order = [*range(rank)]
    if of_batch:
        order = [*order[1:-1], 0, rank - 1]
    if swapped and rank > 1:
        order[-2:] = order[:-3:-1]
    return x if order == sorted(order) else body.transpose(x, order)


COMPOSED: dict[str, Composition] = {
    "FusedConv": fused_conv,
    "FusedGemm": fused_gemm,
    "FusedMatMul": fused_matmul,
    "TransposeMatMul": fused_matmul,
}
