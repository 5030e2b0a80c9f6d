"""Whether a loop and its body fit together, which ONNX's own checker does not ask."""

from collections.abc import Sequence

import onnx

from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode
from xdsl_tpu.frontend.onnx.unroll import Host, axis_within


def check(host: Host, node: Node) -> None:
    """UnsupportedNode where a Loop or Scan and its body differ in what goes in and out."""
    body: onnx.GraphProto = node.attributes["body"]
    if node.op_type == "Loop":
        states = max(0, len(node.inputs) - 2)
        _agree("inputs", body.input, 2 + states, "its turn, its condition and its states")
        _agree("outputs", body.output, 1 + len(node.outputs), "a condition, its states and results")
        return
    many: int = node.attributes["num_scan_inputs"]
    states = len(node.inputs) - many
    if many < 1 or states < 0:
        raise UnsupportedNode(f"its num_scan_inputs is {many}, of {len(node.inputs)} inputs")
    _agree("inputs", body.input, len(node.inputs), "its states and scanned inputs")
    _agree("outputs", body.output, max(states, len(node.outputs)), "its states and results")
    results = len(node.outputs) - states
    for end, count in (("input", many), ("output", results)):
        for kind in ("axes", "directions"):
            given: Sequence[int] = node.attribute(f"scan_{end}_{kind}", [0] * count)
            if len(given) != count:
                raise UnsupportedNode(f"its scan_{end}_{kind} are {[*given]}, not {count} numbers")
    axes = node.attribute("scan_input_axes", [0] * many)
    turns = {
        host.shape(name)[axis_within(axis, len(host.shape(name)))]
        for name, axis in zip(node.inputs[states:], axes, strict=True)
    }
    if len(turns) > 1:
        raise UnsupportedNode(f"its scanned inputs have {sorted(turns)} turns")


def _agree(kind: str, given: Sequence[onnx.ValueInfoProto], count: int, what: str) -> None:
    if len(given) != count:
        raise UnsupportedNode(f"its body has {len(given)} {kind} where it needs {count}: {what}")
