"""Layer normalisation written out in elementary ops."""

from dataclasses import dataclass

from xdsl_tpu.frontend.onnx.fusions.fusion import (
    Fusion,
    is_polynomial,
    per_element,
    reduced_axes,
    with_scalar,
)
from xdsl_tpu.frontend.onnx.graph import Graph, Node


@dataclass(frozen=True)
class _Standardised:
    """`(x - mean) / sqrt(variance + epsilon)` over `axes`, and the nodes before its division."""

    x: str
    axes: tuple[int, ...]
    epsilon: float
    inside: tuple[Node, ...]


class FuseLayerNorm(Fusion):
    """Recognise normalisation over the last axes, or over channels, with an optional affine part.

        m = ReduceMean(x);  d = x - m;  v = ReduceMean(d ^ 2)
        y = d / Sqrt(v + epsilon) [* weight] [+ bias]
    becomes
        y = LayerNormalization(x, weight, bias)      over the last axes
        y = PixelNormalization(x, weight, bias)      over axis 1 of three or more
    """

    anchors = frozenset({"Div"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        found = _standardised(graph, anchor)
        if found is None:
            return False
        shape = graph.shape(found.x)
        trailing = found.axes == tuple(range(len(shape) - len(found.axes), len(shape)))
        if not trailing and found.axes != (1,):
            return False
        span = shape[found.axes[0] :]
        size = span if trailing else (shape[1], *[1] * (len(shape) - 2))
        chain, parameters = [anchor], ["", ""]
        for position, op_type in enumerate(("Mul", "Add")):
            user = graph.sole_user(chain[-1].output)
            if user and user.op_type == op_type:
                parameters[position] = per_element(graph, user, chain[-1].output, size)
                chain += [user] if parameters[position] else []
        *inside, last = *found.inside, *chain
        if not graph.private(inside, last):
            return False
        graph.become(
            last,
            "LayerNormalization" if trailing else "PixelNormalization",
            [found.x, *parameters],
            axis=-len(found.axes),
            epsilon=found.epsilon,
        )
        return True


def _standardised(graph: Graph, division: Node) -> _Standardised | None:
    centred = graph.made_by(division.inputs[0], "Sub")
    root = graph.made_by(division.inputs[1], "Sqrt")
    if not centred or not root:
        return None
    mean = graph.made_by(centred.inputs[1], "ReduceMean")
    total = graph.made_by(root.inputs[0], "Add")
    pair = with_scalar(graph, total) if total else None
    variance = graph.made_by(pair[0], "ReduceMean") if pair else None
    if not mean or not total or not pair or not variance or mean.inputs[0] != centred.inputs[0]:
        return None
    square = graph.made_by(variance.inputs[0], "Pow", "Mul")
    again = _same_difference(graph, square, centred) if square else None
    axes = reduced_axes(graph, mean)
    if not square or not again or axes is None or axes != reduced_axes(graph, variance):
        return None
    inside = (centred, again, root, mean, total, variance, square)
    return _Standardised(centred.inputs[0], axes, pair[1], inside)


def _same_difference(graph: Graph, square: Node, centred: Node) -> Node | None:
    """The node that is squared, if it is `centred` or computes the same."""
    again = graph.made_by(square.inputs[0], "Sub")
    if not again or again.inputs != centred.inputs:
        return None
    return again if is_polynomial(graph, square.output, again.output, {2: 1.0}) else None
