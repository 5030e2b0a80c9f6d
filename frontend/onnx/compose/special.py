"""Numbers that are none: telling them, and the softmax that exporters guard against them."""

from dataclasses import dataclass

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.graph import Graph, Node

MASKED = -30000.0
"""What is added to masked scores in place of minus infinity: finite in every float format, and
low enough that its exponential beside any other score is 0."""


def is_nan(body: Body) -> None:
    """IsNaN(x) -> Not(|x| > -1), which is what comparisons with NaN give: false."""
    size = body.add("Abs", body.node.inputs[0])
    number = body.add("Greater", size, body.constant(-1.0))
    body.add("Not", number, output=body.node.output)


def is_inf(body: Body) -> None:
    """IsInf(x) -> |x|, x or -x equals infinity and is a number."""
    x, node = body.node.inputs[0], body.node
    positive, negative = (node.attribute(f"detect_{s}", 1) for s in ("positive", "negative"))
    if positive and negative:
        x = body.add("Abs", x)
    elif negative:
        x = body.add("Neg", x)
    elif not positive:
        body.add("Greater", body.add("Abs", x), body.constant(np.inf), output=node.output)
        return
    infinite = body.add("Equal", x, body.constant(np.full(1, np.inf, np.float32)))
    number = body.add("Greater", body.add("Abs", x), body.constant(-1.0))
    body.add("And", infinite, number, output=node.output)


@dataclass(frozen=True)
class _Masked:
    """Scores to which minus infinity is added where `keep` does not hold."""

    scores: str
    keep: str
    is_negated: bool


def where(body: Body) -> bool:
    """Where(IsNaN(p), 0, p), p = Softmax(s + Where(keep, 0, -inf)) -> Softmax(s + Where(keep, 0,
    -30000)), times 0 in rows that keep nothing.

    PyTorch writes attention with a mask of booleans so: the softmax of a row of minus infinities
    is NaN. Without a mask, or with a constant one that leaves something in every row, p itself.
    """
    graph, node = body.graph, body.node
    softmax = _guarded_softmax(graph, node)
    if softmax is None:
        return False
    p, scores = softmax.output, softmax.inputs[0]
    if _leaves_something(graph, scores, softmax):
        body.add("Identity", p, output=node.output)
        return True
    masked = _masked(graph, scores)
    if masked is None:
        return False
    keep = masked.keep
    if masked.is_negated:
        keep = body.add("Not", keep)
    zero, low = body.constant(0.0), body.constant(MASKED)
    total = body.add("Add", masked.scores, body.add("Where", keep, zero, low))
    finite = body.add("Softmax", total, **softmax.attributes)
    axis = softmax.attribute("axis", -1) % len(graph.shape(p)) - len(graph.shape(p))
    kept = body.add("Cast", keep, to=1)
    if -axis <= len(graph.shape(masked.keep)):
        kept = body.reduce("ReduceMax", kept, [axis + len(graph.shape(masked.keep))], keepdims=True)
    body.add("Mul", finite, kept, output=node.output)
    return True


def _guarded_softmax(graph: Graph, node: Node) -> Node | None:
    """The softmax whose NaNs a Where replaces by zeros."""
    condition, zero, value = node.inputs
    softmax = graph.made_by(value, "Softmax")
    negation = graph.made_by(condition, "Not")
    above = graph.made_by(negation.inputs[0], "Greater") if negation else None
    size = graph.made_by(above.inputs[0], "Abs") if above else None
    if not softmax or not above or not size or size.inputs[0] != value:
        return None
    is_zero = graph.scalar(zero) == 0.0 and graph.scalar(above.inputs[1]) == -1.0
    return softmax if is_zero and softmax.opset >= 13 else None


def _leaves_something(graph: Graph, scores: str, softmax: Node) -> bool:
    """Whether no row of the scores can consist of minus infinities alone."""
    if _is_finite(graph, scores):
        return True
    total = graph.made_by(scores, "Add")
    for index in (0, 1) if total else ():
        mask = graph.constant(total.inputs[index]) if total else None
        if mask is None or total is None:
            continue
        whole = np.broadcast_to(mask, graph.shape(scores))
        axis = softmax.attribute("axis", -1)
        finite = _is_finite(graph, total.inputs[1 - index])
        return finite and bool(np.isfinite(whole).any(axis).all())
    return False


def _is_finite(graph: Graph, name: str) -> bool:
    """Whether numbers are finite: what products give is taken to be, and sums of such with the
    lowest number of a format, which PyTorch writes for minus infinity, too."""
    value = graph.constant(name)
    if value is not None:
        return bool(np.isfinite(value).all())
    if graph.made_by(name, "MatMul", "Mul", "Div"):
        return True
    node = graph.made_by(name, *_OF_ITS_INPUTS)
    if node is None:
        return False
    parts = {"Add": node.inputs, "Where": node.inputs[1:]}.get(node.op_type, node.inputs[:1])
    return all(_is_finite(graph, part) for part in parts)


_OF_ITS_INPUTS = ("Add", "Where", "Expand", "Reshape", "Squeeze", "Unsqueeze", "Identity")
"""Ops that give finite numbers of finite numbers, and that masks are made by."""


def _masked(graph: Graph, scores: str) -> _Masked | None:
    """s + Where(keep, 0, -inf), in any order, or Where(keep, s, -inf)."""
    total = graph.made_by(scores, "Add")
    for index in (0, 1) if total else ():
        assert total is not None
        choice = graph.made_by(total.inputs[index], "Where")
        if choice is None:
            continue
        numbers = [graph.scalar(name) for name in choice.inputs[1:]]
        if numbers == [0.0, -np.inf]:
            return _Masked(total.inputs[1 - index], choice.inputs[0], is_negated=False)
        if numbers == [-np.inf, 0.0]:
            return _Masked(total.inputs[1 - index], choice.inputs[0], is_negated=True)
    choice = graph.made_by(scores, "Where")
    for index in (1, 2) if choice else ():
        assert choice is not None
        if graph.scalar(choice.inputs[3 - index]) == -np.inf:
            shape = graph.shape(choice.inputs[index])
            if shape == graph.shape(scores):
                return _Masked(choice.inputs[index], choice.inputs[0], is_negated=index == 2)
    return None


COMPOSED: dict[str, Composition] = {
    "IsInf": is_inf,
    "IsNaN": is_nan,
    "Where": where,
}
