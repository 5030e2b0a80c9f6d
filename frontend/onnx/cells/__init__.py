"""Loops that step through a recurrent network, as one LSTM, GRU or RNN of all their turns."""

from collections.abc import Callable

from xdsl_tpu.frontend.onnx.cells.check import check
from xdsl_tpu.frontend.onnx.cells.layers import as_layers
from xdsl_tpu.frontend.onnx.cells.turns import Inside
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.unroll import UNROLLED


def _written(host: Inside, node: Node) -> None:
    check(host, node)
    if not as_layers(host, node):
        UNROLLED[node.op_type](host, node)


LOOPS: dict[str, Callable[[Inside, Node], None]] = dict.fromkeys(UNROLLED, _written)
"""Op type to the function that writes such a node out: as layers, else turn by turn."""
