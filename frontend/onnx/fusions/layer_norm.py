"""Layer normalisation written out in elementary ops."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from xdsl_tpu.frontend.onnx.fusions.fusion import (
    Fusion,
    is_polynomial,
    per_element,
    reduced_axes,
    with_scalar,
)
from xdsl_tpu.frontend.onnx.graph import Graph, Node


@dataclass(frozen=True)
class Standardised:
    """`(x - mean) / sqrt(variance + epsilon)` over `axes`, and the nodes before its division.

    `weighted` is what the difference is multiplied by before that, if anything.
    """

    x: str
    axes: tuple[int, ...]
    epsilon: float
    inside: tuple[Node, ...]
    weighted: Node | None

    @property
    def difference(self) -> str:
        return self.inside[0].output


class FuseLayerNorm(Fusion):
    """Recognise normalisation over the last axes, over channels, or over all that is in an image
    or in a channel of it, with an optional affine part.

        m = ReduceMean(x);  d = x - m;  v = ReduceMean(d ^ 2)
        y = d / Sqrt(v + epsilon) [* weight] [+ bias]
    becomes
        y = LayerNormalization(x, weight, bias)      over the last axes
        y = PixelNormalization(x, weight, bias)      over axis 1 of three or more
        y = GroupNormalization(x, weight, bias)      over axes 1 and on, or 2 and on, of three or
                                                     more, with parameters of channels

    The weight may come before the division, which may be a product with a reciprocal.
    """

    anchors = frozenset({"Div", "Mul"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        found = _standardised(graph, anchor)
        if found is None:
            return False
        best: tuple[list[Node], list[str], str, dict[str, Any]] | None = None
        for op_type, size, options in readings(graph.shape(found.x), found.axes):
            chain, parameters = _affine(graph, anchor, found, size)
            *inside, last = *found.inside, *chain
            usable = graph.private(inside, last) and not (found.weighted and not parameters[0])
            if usable and (best is None or len(chain) > len(best[0])):
                best = chain, parameters, op_type, options
        if best is None:
            return False
        chain, parameters, op_type, options = best
        names = [found.x, *parameters]
        graph.become(chain[-1], op_type, names, epsilon=found.epsilon, **options)
        return True


Reading: TypeAlias = tuple[str, tuple[int, ...], dict[str, Any]]
"""What a normalisation may be: op type, sizes of its parameters, attributes."""


def readings(shape: tuple[int, ...], axes: tuple[int, ...]) -> Iterator[Reading]:
    """Those of a tensor over `axes`; of two that take in as many ops the first is better."""
    rank, first = len(shape), axes[0]
    of_channels = (shape[1], *[1] * (rank - 2)) if rank > 1 else ()
    trailing = axes == tuple(range(first, rank))
    if trailing and rank > 2 and first in (1, 2) and len(axes) > 1:
        yield "GroupNormalization", of_channels, {"num_groups": 1 if first == 1 else shape[1]}
    if trailing:
        yield "LayerNormalization", shape[first:], {"axis": -len(axes)}
    elif axes == (1,):
        yield "PixelNormalization", of_channels, {"axis": -1}


def _affine(
    graph: Graph, anchor: Node, found: Standardised, size: tuple[int, ...]
) -> tuple[list[Node], list[str]]:
    """The nodes from the division on that scale and shift by parameters of `size`, and these."""
    chain, parameters = [anchor], ["", ""]
    if found.weighted:
        parameters[0] = per_element(graph, found.weighted, found.difference, size)
    for position, op_type in enumerate(("Mul", "Add")):
        if parameters[position]:
            continue
        user = graph.sole_user(chain[-1].output)
        if user and user.op_type == op_type:
            parameters[position] = per_element(graph, user, chain[-1].output, size)
            chain += [user] if parameters[position] else []
    return chain, parameters


def _standardised(graph: Graph, anchor: Node) -> Standardised | None:
    for value, root, between in _quotients(graph, anchor):
        weighted = graph.made_by(value, "Mul")
        names = weighted.inputs if weighted else [value]
        centred = next(filter(None, (graph.made_by(name, "Sub") for name in names)), None)
        found = over_deviation(graph, centred, root) if centred else None
        if found is None:
            continue
        more = (*between, *([weighted] if weighted else []))
        return replace(found, inside=(*found.inside, *more), weighted=weighted)
    return None


def _quotients(graph: Graph, anchor: Node) -> Iterator[tuple[str, Node, tuple[Node, ...]]]:
    """What is divided, the root it is divided by, and the nodes in between."""
    if anchor.op_type == "Div":
        if root := graph.made_by(anchor.inputs[1], "Sqrt"):
            yield anchor.inputs[0], root, ()
        return
    for value, inverse in (anchor.inputs, anchor.inputs[::-1]):
        node = graph.made_by(inverse, "Reciprocal", "Div")
        root = graph.made_by(node.inputs[-1], "Sqrt") if node else None
        if node and root and (node.op_type == "Reciprocal" or graph.scalar(node.inputs[0]) == 1):
            yield value, root, (node,)


def over_deviation(graph: Graph, centred: Node, root: Node) -> Standardised | None:
    """A difference from the mean, divided by the root of the mean of its square and a number."""
    mean = graph.made_by(centred.inputs[1], "ReduceMean")
    total = graph.made_by(root.inputs[0], "Add")
    pair = with_scalar(graph, total) if total else None
    variance = graph.made_by(pair[0], "ReduceMean") if pair else None
    if not mean or not total or not pair or not variance or mean.inputs[0] != centred.inputs[0]:
        return None
    square = graph.made_by(variance.inputs[0], "Pow", "Mul")
    again = _same_difference(graph, square, centred) if square else None
    axes = reduced_axes(graph, mean)
    if not square or not again or not axes or axes != reduced_axes(graph, variance):
        return None
    inside = (centred, again, root, mean, total, variance, square)
    return Standardised(centred.inputs[0], axes, pair[1], inside, None)


def _same_difference(graph: Graph, square: Node, centred: Node) -> Node | None:
    """The node that is squared, if it is `centred` or computes the same."""
    again = graph.made_by(square.inputs[0], "Sub")
    if not again or again.inputs != centred.inputs:
        return None
    return again if is_polynomial(graph, square.output, again.output, {2: 1.0}) else None
