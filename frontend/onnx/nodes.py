"""From a tensor's name back to the ONNX node it came from."""

from collections.abc import Callable

import onnx

from xdsl_tpu.frontend.onnx.load import Source, load_model, opset_of
from xdsl_tpu.frontend.onnx.problems import NodeFacts


def node_facts(source: Source) -> Callable[[str], NodeFacts | None]:
    """A function that gives the node whose tensor has a name, or a name derived from it.

    Tensors are called `<first output>_<op type>`, and what passes derive from them begins with
    that; of several nodes the longest match counts. Types of inputs are not known here.
    """
    model, _ = load_model(source)
    opset = opset_of(model)
    nodes = {f"{node.output[0]}_{node.op_type}": node for node in _nodes(model) if node.output}

    def find(name: str) -> NodeFacts | None:
        known = max((key for key in nodes if name.startswith(key)), key=len, default=None)
        if known is None:
            return None
        node = nodes[known]
        return NodeFacts(node.name or node.output[0], node.op_type, opset, "")

    return find


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return list(model.graph.node)
