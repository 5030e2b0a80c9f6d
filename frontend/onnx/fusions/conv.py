"""What follows a convolution and can be part of its weights."""

import numpy as np

from xdsl_tpu.frontend.onnx.fusions.fusion import Fusion, per_element
from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node


class FoldBatchNorm(Fusion):
    """BatchNormalization(Conv(x, w, b)) -> Conv(x, w * s, b * s + t), when weights are constant.

    `s = gamma / sqrt(variance + epsilon)` and `t = beta - mean * s`, in float64.
    """

    anchors = frozenset({"BatchNormalization"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        conv = graph.made_by(anchor.inputs[0], "Conv")
        parameters = [graph.constant(name) for name in anchor.inputs[1:5]]
        if not conv or len(anchor.outputs) > 1 or not graph.private([conv], anchor):
            return False
        filter_ = graph.constant(conv.inputs[1])
        bias = graph.constant(conv.input(2)) if conv.input(2) else np.zeros(1)
        if filter_ is None or bias is None:
            return False
        known = [x.astype(np.float64) for x in parameters if x is not None]
        if len(known) != 4:
            return False
        gamma, beta, mean, variance = known
        factor = gamma / np.sqrt(variance + anchor.attribute("epsilon", 1e-5))
        per_filter = factor.reshape(-1, *[1] * (filter_.ndim - 1))
        _replace_conv(
            graph, conv, anchor, filter_ * per_filter, bias * factor + beta - mean * factor
        )
        return True


class FoldConvBias(Fusion):
    """Add(Conv(x, w), b) -> Conv(x, w, b), when `b` is one constant per channel."""

    anchors = frozenset({"Conv"})

    def apply(self, graph: Graph, anchor: Node) -> bool:
        user = graph.sole_user(anchor.output)
        if not user or user.op_type != "Add" or anchor.input(2):
            return False
        shape = graph.shape(anchor.output)
        bias = per_element(graph, user, anchor.output, (shape[1], *[1] * (len(shape) - 2)))
        if not bias:
            return False
        graph.become(user, "Conv", [*anchor.inputs[:2], bias], **anchor.attributes)
        return True


def _replace_conv(graph: Graph, conv: Node, last: Node, filter_: Array, bias: Array) -> None:
    weight, offset = f"{conv.inputs[1]}_{last.output}", f"{last.output}_bias"
    dtype = graph.types[conv.inputs[1]].dtype
    graph.add_constant(weight, filter_.astype(dtype))
    graph.add_constant(offset, bias.astype(dtype))
    graph.become(last, "Conv", [conv.inputs[0], weight, offset], **conv.attributes)
