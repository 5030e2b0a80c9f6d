"""Piecewise linear gates written out with Clip."""

from xdsl_tpu.frontend.onnx.fusions.fusion import (
    Fusion,
    close,
    gated_products,
    polynomial,
    replace,
    with_scalar,
)
from xdsl_tpu.frontend.onnx.graph import Graph, Node


class FuseHardSwish(Fusion):
    """x * Clip(x + 3, 0, 6) / 6, or x * HardSigmoid(x, 1/6, 0.5) -> HardSwish(x)."""

    anchors = frozenset({"Clip", "HardSigmoid"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        for found in gated_products(graph, anchor):
            if not found.offset and self._is_gate(graph, anchor, found.x, found.scale):
                return replace(graph, found.last, found.x, "HardSwish")
        return False

    def _is_gate(self, graph: Graph, gate: Node, x: str, scale: float) -> bool:
        if gate.op_type == "HardSigmoid":
            slope, offset = gate.attribute("alpha", 0.2), gate.attribute("beta", 0.5)
            fits = close(slope, 1 / 6) and close(offset, 0.5) and close(scale, 1.0)
            return fits and gate.inputs[0] == x
        inner = _clipped(graph, gate, x)
        if inner is None:
            return False
        slope, offset, top = inner
        return close(slope / top, 1 / 6) and close(offset / top, 0.5) and close(scale * top, 1.0)


class FuseHardSigmoid(Fusion):
    """Clip(a * x + b, 0, top) / top -> HardSigmoid(x, alpha=a / top, beta=b / top)."""

    anchors = frozenset({"Clip"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        x = _base(graph, anchor.inputs[0])
        inner = _clipped(graph, anchor, x) if x else None
        if not x or inner is None:
            return False
        slope, offset, top = inner
        last = anchor
        if not close(top, 1.0):
            user = graph.sole_user(anchor.output)
            if not user or not _scales_by(graph, user, anchor.output, 1 / top):
                return False
            last = user
        return replace(graph, last, x, "HardSigmoid", alpha=slope / top, beta=offset / top)


def _clipped(graph: Graph, clip: Node, x: str) -> tuple[float, float, float] | None:
    """Slope and offset of the line of `x` that is clipped to 0..top, and top."""
    low, top = graph.scalar(clip.input(1)), graph.scalar(clip.input(2))
    line = polynomial(graph, clip.inputs[0], x)
    if low != 0 or not top or top < 0 or line is None or {*line} - {0, 1}:
        return None
    slope, offset = line.get(1, 0.0), line.get(0, 0.0)
    return (slope, offset, top) if slope and offset else None


def _base(graph: Graph, name: str) -> str | None:
    """The `x` of `a * x + b`."""
    node = graph.made_by(name, "Add")
    pair = with_scalar(graph, node) if node else None
    if pair is None:
        return None
    factor = graph.made_by(pair[0], "Mul", "Div")
    inner = with_scalar(graph, factor) if factor else None
    return inner[0] if inner else pair[0]


def _scales_by(graph: Graph, node: Node, x: str, factor: float) -> bool:
    line = polynomial(graph, node.output, x)
    return line is not None and set(line) == {1} and close(line[1], factor)
