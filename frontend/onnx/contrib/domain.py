"""Nodes that are onnxruntime's although their domain does not say so."""

from collections.abc import Iterator

import onnx
from onnx import helper

DOMAIN = "com.microsoft"

FIRST_LAYER_NORM = 17
"""The first opset with a LayerNormalization of its own."""

HERE = frozenset({"QLinearConv", "QLinearMatMul", "SimplifiedLayerNormalization"})
"""Ops of both domains, or of none."""

INTEGER_PRODUCTS = frozenset({"ConvInteger", "MatMulInteger", "MatMulIntegerToFloat"})
"""Products of integers that were rounded as the network ran: they stand for products of floats."""


def with_domains(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """The model with such nodes in onnxruntime's domain; the same one where there are none.

    These are norms that it leaves in the standard's domain, ops on 8-bit integers, and quantisation
    at run time (DynamicQuantizeLinear) of which only products read the result.
    """
    if not any(_unsaid(model.graph, opset)):
        return model
    said = onnx.ModelProto()
    said.CopyFrom(model)
    for node in [*_unsaid(said.graph, opset)]:
        node.domain = DOMAIN
    if not any(entry.domain == DOMAIN for entry in said.opset_import):
        said.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return said


def _unsaid(graph: onnx.GraphProto, opset: int) -> Iterator[onnx.NodeProto]:
    """Such nodes of the graph."""
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = {value.name for value in graph.output}
    rounded: set[str] = set()
    for node in graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        is_norm = node.op_type == "LayerNormalization" and opset < FIRST_LAYER_NORM
        if is_norm or node.op_type in HERE:
            yield node
        elif node.op_type == "DynamicQuantizeLinear" and node.output[0] not in outputs:
            users = readers.get(node.output[0], [])
            first = all(user.input[0] == node.output[0] for user in users)
            if first and all(user.op_type in INTEGER_PRODUCTS for user in users):
                rounded.add(node.output[0])
                yield node
        elif node.op_type in INTEGER_PRODUCTS and node.input[0] in rounded:
            yield node
