"""Group normalisation, which ONNX could not say as one node before opset 21."""

from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, per_element
from xdsl_tpu.frontend.onnx.graph import Graph, Node


class FuseGroupNorm(Fusion):
    """Recognise group normalisation as an instance normalisation of reshaped data.

        r = Reshape(x, [n, groups, -1])
        i = InstanceNormalization(r, ones, zeros)
        y = Reshape(i, shape of x) [* weight] [+ bias]
    becomes
        y = GroupNormalization(x, weight, bias)
    """

    anchors = frozenset({"InstanceNormalization"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        before = graph.made_by(anchor.inputs[0], "Reshape")
        after = graph.sole_user(anchor.output)
        if not before or not after or after.op_type != "Reshape":
            return False
        shape = graph.shape(before.inputs[0])
        grouped = graph.shape(before.output)
        if graph.shape(after.output) != shape or len(shape) < 3 or len(grouped) < 3:
            return False
        if grouped[0] != shape[0] or shape[1] % grouped[1] or not _is_plain(graph, anchor):
            return False
        chain, parameters = [after], ["", ""]
        size = (shape[1], *[1] * (len(shape) - 2))
        for position, op_type in enumerate(("Mul", "Add")):
            user = graph.sole_user(chain[-1].output)
            if user and user.op_type == op_type:
                parameters[position] = per_element(graph, user, chain[-1].output, size)
                chain += [user] if parameters[position] else []
        *inside, last = before, anchor, *chain
        if not graph.private(inside, last):
            return False
        x, epsilon = before.inputs[0], anchor.attribute("epsilon", 1e-5)
        graph.become(
            last,
            "GroupNormalization",
            [x, *parameters],
            num_groups=grouped[1],
            epsilon=epsilon,
        )
        return True


def _is_plain(graph: Graph, norm: Node) -> bool:
    """Whether an instance normalisation has a scale of ones and a bias of zeros."""
    scale, bias = (graph.constant(norm.input(i)) for i in (1, 2))
    return scale is not None and bias is not None and bool((scale == 1).all() and not bias.any())
