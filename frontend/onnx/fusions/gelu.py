"""GELU written out, in its exact form and its two approximations."""

from math import pi, sqrt

from xdsl_tpu.frontend.onnx.fusions.fusion import (
    Fusion,
    close,
    gated_products,
    is_polynomial,
    replace,
)
from xdsl_tpu.frontend.onnx.graph import Graph, Node

TANH_ARGUMENT = {1: sqrt(2 / pi), 3: sqrt(2 / pi) * 0.044715}
"""Powers of x to coefficients."""


class FuseErfGelu(Fusion):
    """x * 0.5 * (1 + Erf(x / sqrt(2))) -> GELU(x), its factors in any order."""

    anchors = frozenset({"Erf"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        for found in gated_products(graph, anchor):
            if not close(found.scale, 0.5) or not close(found.offset, 1.0):
                continue
            if is_polynomial(graph, anchor.inputs[0], found.x, {1: sqrt(0.5)}):
                return replace(graph, found.last, found.x, "GELU", approximate="none")
        return False


class FuseTanhGelu(Fusion):
    """x * 0.5 * (1 + Tanh(sqrt(2/pi) * (x + 0.044715 * x^3))) -> GELU(x, approximate=tanh)."""

    anchors = frozenset({"Tanh"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        for found in gated_products(graph, anchor):
            if not close(found.scale, 0.5) or not close(found.offset, 1.0):
                continue
            if is_polynomial(graph, anchor.inputs[0], found.x, TANH_ARGUMENT):
                return replace(graph, found.last, found.x, "GELU", approximate="tanh")
        return False


class FuseSigmoidGelu(Fusion):
    """x * Sigmoid(1.702 * x) -> GELU(x, approximate=sigm)."""

    anchors = frozenset({"Sigmoid"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        for found in gated_products(graph, anchor):
            if not close(found.scale, 1.0) or found.offset:
                continue
            if is_polynomial(graph, anchor.inputs[0], found.x, {1: 1.702}):
                return replace(graph, found.last, found.x, "GELU", approximate="sigm")
        return False
