"""Recurrent networks."""

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}


def convert_lstm(context: Context, node: Node) -> None:
    """LSTM -> top.LSTM, weights in ONNX's layout."""
    _check(context, node)
    if node.input(7):
        raise UnsupportedNode("peepholes are not supported")
    _pad_outputs(node, 3)
    context.emit(
        node,
        top.LSTMOp,
        [*[context.value(node.input(index)) for index in (0, 1, 2, 3, 5, 6)], context.none],
        hidden_size=context.shape(node.inputs[2])[-1],
        bidirectional=_bidirectional(node),
    )


def convert_gru(context: Context, node: Node) -> None:
    """GRU -> top.GRU, weights in ONNX's layout."""
    _check(context, node)
    _pad_outputs(node, 2)
    context.emit(
        node,
        top.GRUOp,
        [context.value(node.input(index)) for index in (0, 1, 2, 3, 5)],
        hidden_size=context.shape(node.inputs[2])[-1],
        bidirectional=_bidirectional(node),
        linear_before_reset=bool(node.attribute("linear_before_reset", 0)),
    )


def _pad_outputs(node: Node, count: int) -> None:
    node.outputs += [""] * (count - len(node.outputs))


def _bidirectional(node: Node) -> bool:
    return node.attribute("direction", "forward") == "bidirectional"


def _check(context: Context, node: Node) -> None:
    steps = context.shape(node.inputs[0])[0]
    lengths = context.numbers(node.input(4), "sequence lengths") or []
    directions = 2 if _bidirectional(node) else 1
    usual = ACTIVATIONS[node.op_type] * directions
    reasons = {
        "sequences of different lengths": any(length != steps for length in lengths),
        "the reverse direction alone": node.attribute("direction", "forward") == "reverse",
        "batch-first layout": node.attribute("layout", 0) != 0,
        "clipping": "clip" in node.attributes,
        "coupled gates": node.attribute("input_forget", 0) != 0,
        "other activations": node.attribute("activations", usual) != usual,
    }
    if unsupported := [reason for reason, present in reasons.items() if present]:
        raise UnsupportedNode(f"{', '.join(unsupported)}: not supported")


CONVERTERS: dict[str, Converter] = {"GRU": convert_gru, "LSTM": convert_lstm}
