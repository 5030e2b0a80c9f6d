"""Recurrent layers that are one op of `top`; others are written out step by step (`compose`)."""

from functools import partial

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node

LENGTHS = 4
"""The input that says how long each sequence is; all are as long as the longest here."""

OPERANDS = {"GRU": 5, "LSTM": 7}
"""Of the op of `top`."""


def _convert(kind: type[top.GRUOp | top.LSTMOp], context: Context, node: Node) -> None:
    """GRU, LSTM -> the same of `top`; states of zeros, and results that nobody reads, are none."""
    operands = [context.value(name) for name in node.inputs[:LENGTHS]]
    for name in node.inputs[LENGTHS + 1 :]:
        state = context.graph.constant(name)
        operands.append(context.value(name if state is None or state.any() else ""))
    operands += [context.none] * (OPERANDS[node.op_type] - len(operands))
    attributes = {
        "hidden_size": context.shape(node.inputs[2])[-1],
        "bidirectional": node.attribute("direction", "forward") == "bidirectional",
        "batch_first": bool(node.attribute("layout", 0)),
    }
    if node.op_type == "GRU":
        attributes["linear_before_reset"] = bool(node.attribute("linear_before_reset", 0))
    node.outputs += [""] * (len(kind.get_irdl_definition().results) - len(node.outputs))
    context.emit(node, kind, operands, only_read=True, **attributes)


CONVERTERS: dict[str, Converter] = {
    "GRU": partial(_convert, top.GRUOp),
    "LSTM": partial(_convert, top.LSTMOp),
}
