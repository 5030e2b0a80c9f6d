"""What can be wrong with a model, collected so that the user sees everything at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx.graph import Node, ValueType


@dataclass(frozen=True)
class NodeFacts:
    """What a table says of a node: its name, op, opset version, and its inputs' types."""

    title: str
    op_type: str
    opset: int
    inputs: str


@dataclass(frozen=True)
class Problem:
    """One reason why a model cannot be imported."""

    where: str
    """The node, tensor or model at fault."""
    reason: str
    node: NodeFacts | None = None
    """The node at fault, if it is one."""

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


class UnsupportedNode(Exception):
    """Raised by a converter that cannot express a node; the importer names the node."""


def node_problem(node: Node, types: Sequence[ValueType | None], reason: str) -> Problem:
    """A problem with one node: says its name, op, opset and what it is given."""
    inputs = ", ".join(
        f"{name}: {kind or 'unknown type'}" if name else "absent"
        for name, kind in zip(node.inputs, types, strict=True)
    )
    where = f"node '{node.title}' ({node.op_type}, opset {node.opset}; inputs: {inputs or 'none'})"
    kinds = ", ".join(
        str(kind or "?") for name, kind in zip(node.inputs, types, strict=True) if name
    )
    return Problem(where, reason, NodeFacts(node.title, node.op_type, node.opset, kinds))


def raise_problems(model: str, problems: Sequence[Problem]) -> None:
    """Raise one TpuError that lists all problems; nothing when there are none."""
    if not problems:
        return
    lines = "\n".join(f"  - {problem}" for problem in problems)
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise TpuError(f"cannot import {model}: {count}\n{lines}")
