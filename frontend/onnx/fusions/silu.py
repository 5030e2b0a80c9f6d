"""SiLU, also called swish, written out."""

from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, close, gated_products, replace
from xdsl_tpu.frontend.onnx.graph import Graph, Node


class FuseSiLU(Fusion):
    """x * Sigmoid(x) -> SiLU(x); the tensor keeps the name of the product."""

    anchors = frozenset({"Sigmoid"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        for found in gated_products(graph, anchor):
            if found.x == anchor.inputs[0] and close(found.scale, 1.0) and not found.offset:
                return replace(graph, found.last, found.x, "SiLU", suffix="Mul")
        return False
