"""Normalisations as TensorFlow writes them: a factor and a term of moments and parameters."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, other_operand, per_element
from xdsl_tpu.frontend.onnx.fusions.layer_norm import Standardised, over_deviation, readings
from xdsl_tpu.frontend.onnx.graph import Graph, Node, ValueType


@dataclass(frozen=True)
class _Moments:
    """`x * s + (bias - mean * s)`, where s is what x is standardised by, perhaps weighted."""

    found: Standardised
    weighted: tuple[Node, str] | None
    """The product of the factor and its weight, and which of both is the factor."""
    biased: tuple[Node, str] | None
    """The op with the bias, and its operand that is not the bias."""
    inside: tuple[Node, ...]


class FuseMoments(Fusion):
    """Recognise normalisation written as `tf.nn.batch_normalization` on moments.

        m = ReduceMean(x);  v = ReduceMean((x - m) ^ 2);  s = weight / Sqrt(v + epsilon)
        y = x * s + (bias - m * s)
    becomes what `FuseLayerNorm` makes of the same axes, or, where x is an image with its channels
    last that a Reshape took into groups, and y is taken back,
        y = Transpose(GroupNormalization(Transpose(image), weight, bias))

    Weight and bias may be missing; -m may be what is multiplied.
    """

    anchors = frozenset({"Add", "Sub"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        moments = next(_moments(graph, anchor), None)
        if moments is None or not graph.private(moments.inside, anchor):
            return False
        if graph.shape(anchor.output) != graph.shape(moments.found.x):  # spread by a parameter
            return False
        return _along(graph, anchor, moments) or _in_groups(graph, anchor, moments)


def _along(graph: Graph, anchor: Node, moments: _Moments) -> bool:
    """The first reading whose sizes the parameters have."""
    found = moments.found
    for op_type, size, options in readings(graph.shape(found.x), found.axes):
        names = _parameters(graph, moments, size)
        if names is not None:
            graph.become(anchor, op_type, [found.x, *names], epsilon=found.epsilon, **options)
            return True
    return False


def _in_groups(graph: Graph, anchor: Node, moments: _Moments) -> bool:
    """N x H x W x groups x channels of each, standardised over all but N and the groups."""
    found = moments.found
    before, after = graph.made_by(found.x, "Reshape"), graph.sole_user(anchor.output)
    shape = graph.shape(found.x)
    rank = len(shape)
    if rank < 4 or found.axes != (*range(1, rank - 2), rank - 1):
        return False
    if before is None or after is None or after.op_type != "Reshape":
        return False
    if not graph.private([before, *moments.inside], anchor):
        return False
    image = graph.shape(before.inputs[0])
    names = _parameters(graph, moments, shape[-2:])
    if image != (*shape[:-2], prod(shape[-2:])) or graph.shape(after.output) != image or not names:
        return False
    names = [_flat(graph, name) for name in names]
    ahead = [0, rank - 2, *range(1, rank - 2)]
    graph.become(before, "Transpose", before.inputs[:1], perm=ahead)
    for node in (before, anchor):
        kind = graph.types[node.output]
        graph.types[node.output] = ValueType(kind.dtype, tuple(image[axis] for axis in ahead))
    graph.become(
        anchor,
        "GroupNormalization",
        [before.output, *names],
        num_groups=shape[-2],
        epsilon=found.epsilon,
    )
    back = [0, *range(2, rank - 1), 1]
    graph.become(after, "Transpose", [anchor.output], perm=back)
    return True


def _flat(graph: Graph, name: str) -> str:
    """A parameter with its channels along one dimension."""
    value = graph.constant(name)
    if value is None or value.ndim == 1:
        return name
    graph.add_constant(f"{name}_flat", value.reshape(-1))
    return f"{name}_flat"


def _parameters(graph: Graph, moments: _Moments, size: tuple[int, ...]) -> list[str] | None:
    """Names of weight and bias, empty where there is none; None when one has other sizes."""
    names: list[str] = []
    for pair in (moments.weighted, moments.biased):
        names.append(per_element(graph, *pair, size) if pair else "")
        if pair and not names[-1]:
            return None
    return names


def _moments(graph: Graph, anchor: Node) -> Iterator[_Moments]:
    """The readings of an Add or Sub as factor and term."""
    orders = [anchor.inputs] if anchor.op_type == "Sub" else [anchor.inputs, anchor.inputs[::-1]]
    for left, right in orders:
        product = graph.made_by(left, "Mul")
        for x, factor in (product.inputs, product.inputs[::-1]) if product else ():
            inner, path = _unspread(graph, factor)
            scaled = _scaled(graph, inner)
            if product is None or scaled is None or scaled[0].x != x:
                continue
            found, weighted = scaled
            term = _term(graph, right, found.inside[3].output, factor, anchor.op_type == "Sub")
            if term:
                biased, nodes = term
                more = (*found.inside, *path, *([weighted[0]] if weighted else []))
                yield _Moments(found, weighted, biased, (product, *more, *nodes))


def _scaled(graph: Graph, name: str) -> tuple[Standardised, tuple[Node, str] | None] | None:
    """What `name` standardises, and the product with a weight that it may be."""
    if found := _inverse(graph, name):
        return found, None
    product = graph.made_by(name, "Mul")
    for factor in product.inputs if product else ():
        if product and (found := _inverse(graph, factor)):
            return found, (product, factor)
    return None


def _inverse(graph: Graph, name: str) -> Standardised | None:
    """1 over the root of a variance and a small number."""
    node = graph.made_by(name, "Reciprocal", "Div")
    root = graph.made_by(node.inputs[-1], "Sqrt") if node else None
    if (
        node is None
        or root is None
        or (node.op_type == "Div" and graph.scalar(node.inputs[0]) != 1)
    ):
        return None
    total = graph.made_by(root.inputs[0], "Add")
    for operand in total.inputs if total else ():
        variance = graph.made_by(operand, "ReduceMean")
        square = graph.made_by(variance.inputs[0], "Pow", "Mul") if variance else None
        centred = graph.made_by(square.inputs[0], "Sub") if square else None
        found = over_deviation(graph, centred, root) if centred else None
        if found:
            return Standardised(found.x, found.axes, found.epsilon, (*found.inside, node), None)
    return None


def _unspread(graph: Graph, name: str) -> tuple[str, tuple[Node, ...]]:
    """What an Expand repeats, if `name` is made by one, and the Expand."""
    node = graph.made_by(name, "Expand")
    return (node.inputs[0], (node,)) if node else (name, ())


def _term(
    graph: Graph, name: str, mean: str, factor: str, subtracted: bool
) -> tuple[tuple[Node, str] | None, tuple[Node, ...]] | None:
    """`name` (subtracted) as bias - mean * factor: the op with the bias, and the nodes of all."""
    if subtracted:
        product = _of_mean(graph, name, mean, factor)
        return (None, product) if product else None
    if product := _minus_mean(graph, name, mean, factor):
        return None, product
    node = graph.made_by(name, "Sub", "Add")
    if node and node.op_type == "Sub":
        product = _of_mean(graph, node.inputs[1], mean, factor)
        return ((node, node.inputs[1]), (node, *product)) if product else None
    for operand in node.inputs if node else ():
        if node and (product := _minus_mean(graph, operand, mean, factor)):
            return (node, operand), (node, *product)
    return None


def _of_mean(graph: Graph, name: str, mean: str, factor: str) -> tuple[Node, ...]:
    """The node of mean * factor; nothing when `name` is something else."""
    node = graph.made_by(name, "Mul")
    return (node,) if node and sorted(node.inputs) == sorted((mean, factor)) else ()


def _minus_mean(graph: Graph, name: str, mean: str, factor: str) -> tuple[Node, ...]:
    """The nodes of -mean * factor or -(mean * factor)."""
    node = graph.made_by(name, "Neg", "Mul")
    if node and node.op_type == "Neg":
        product = _of_mean(graph, node.inputs[0], mean, factor)
        return (node, *product) if product else ()
    minus = graph.made_by(other_operand(node, factor), "Neg") if node else None
    if node and minus and factor in node.inputs and minus.inputs[0] == mean:
        return node, minus
    return ()
