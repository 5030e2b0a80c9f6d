"""Mish written out."""

from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, close, gated_products, replace
from xdsl_tpu.frontend.onnx.graph import Graph, Node


class FuseMish(Fusion):
    """x * Tanh(Softplus(x)) -> Mish(x); the tensor keeps the name of the product."""

    anchors = frozenset({"Softplus"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        tanh = graph.sole_user(anchor.output)
        if tanh is None or tanh.op_type != "Tanh":
            return False
        for found in gated_products(graph, tanh):
            if found.x == anchor.inputs[0] and close(found.scale, 1.0) and not found.offset:
                return replace(graph, found.last, found.x, "Mish", suffix="Mul")
        return False
