"""Softmax written out in elementary ops."""

from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, reduced_axes
from xdsl_tpu.frontend.onnx.graph import Graph, Node


class FuseSoftmax(Fusion):
    """e = Exp(x [- ReduceMax(x)]);  y = e / ReduceSum(e) -> y = Softmax(x), over one axis."""

    anchors = frozenset({"Div"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        exponential = graph.made_by(anchor.inputs[0], "Exp")
        total = graph.made_by(anchor.inputs[1], "ReduceSum")
        if not exponential or not total or total.inputs[0] != exponential.output:
            return False
        axes = reduced_axes(graph, total)
        if axes is None or len(axes) != 1:
            return False
        x, inside = exponential.inputs[0], [exponential, total]
        if shift := self._shift(graph, x, axes):
            x = shift[0].inputs[0]
            inside += shift
        if not graph.private(inside, anchor):
            return False
        graph.become(anchor, "Softmax", [x], axis=axes[0])
        return True

    def _shift(self, graph: Graph, name: str, axes: tuple[int, ...]) -> tuple[Node, Node] | None:
        """The subtraction of the maximum, which changes nothing but the range of numbers."""
        difference = graph.made_by(name, "Sub")
        largest = graph.made_by(difference.inputs[1], "ReduceMax") if difference else None
        if not difference or not largest or largest.inputs[0] != difference.inputs[0]:
            return None
        return (difference, largest) if reduced_axes(graph, largest) == axes else None
