"""The importer's own picture of an ONNX graph: static types, constants apart, easy to rewrite."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
T = TypeVar("T")

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
NO_NUMBERS = frozenset({"object", "str", "complex64", "complex128"})


def content(dtype: str) -> str:
    """What a tensor of a type holds, in words."""
    return "strings" if dtype in ("object", "str") else dtype


@dataclass(frozen=True)
class ValueType:
    """Element type and static shape of a value; `dtype` is numpy's (or ml_dtypes') name."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        """Whether elements are floating-point numbers."""
        return self.dtype in FLOATS

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers; booleans are not."""
        return self.dtype.startswith(("int", "uint"))

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(eq=False)
class Node:
    """One operation. Absent inputs and outputs are empty names; attributes are Python values.

    `suffix` is what its tensor's name ends in: the op type, but for fused nodes whose last part
    gives the name.
    """

    op_type: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    name: str = ""
    opset: int = 0
    suffix: str = ""

    @property
    def output(self) -> str:
        """Its first output."""
        return self.outputs[0]

    @property
    def title(self) -> str:
        """How messages call it: its name, or its output when it has none."""
        return self.name or self.output

    def input(self, index: int) -> str:
        """Name of input `index`, empty when the node does not have it."""
        return self.inputs[index] if index < len(self.inputs) else ""

    def attribute(self, name: str, default: T) -> T:
        """The value of an attribute, or `default` when it is not there."""
        return cast(T, self.attributes.get(name, default))


class Graph:
    """Nodes in execution order, constants, and a type for every value.

    Of quantised models there are also `ranges`, the numbers a value's 8-bit integers reach, and
    `scales` of constants that were stored as integers: one, or one for each index of axis 0.

    Rewrites keep one rule: a node is changed in place (`become`), so the order stays valid; what
    it no longer reads disappears when nothing else reads it.
    """

    name: str
    inputs: list[str]
    outputs: list[str]
    constants: dict[str, Array]
    types: dict[str, ValueType]
    ranges: dict[str, tuple[float, float]]
    scales: dict[str, Array]

    def __init__(self, name: str, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        self.name = name
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.constants = {}
        self.types = {}
        self.ranges = {}
        self.scales = {}
        self._nodes: dict[Node, None] = {}
        self._producer: dict[str, Node] = {}
        self._users: dict[str, dict[Node, None]] = {}

    @property
    def nodes(self) -> Sequence[Node]:
        """The nodes, producers before their users."""
        return list(self._nodes)

    def __contains__(self, node: Node) -> bool:
        return node in self._nodes

    def add(self, node: Node) -> None:
        """Append a node; what it reads must be there already."""
        self._nodes[node] = None
        for name in filter(None, node.outputs):
            self._producer[name] = node
        self._link(node)

    def add_constant(self, name: str, value: Array) -> None:
        """Give `name` a constant value."""
        self.constants[name] = value
        self.types[name] = ValueType(value.dtype.name, value.shape)

    def shape(self, name: str) -> tuple[int, ...]:
        """Static shape of a value."""
        return self.types[name].shape

    def producer(self, name: str) -> Node | None:
        """The node that computes `name`; None for inputs, constants and absent values."""
        return self._producer.get(name)

    def made_by(self, name: str, *op_types: str) -> Node | None:
        """The node that computes `name` when it is of one of these types."""
        node = self._producer.get(name)
        return node if node and node.op_type in op_types else None

    def sole_user(self, name: str) -> Node | None:
        """The one node that reads `name`, if nothing else does and it is no output."""
        users = self._users.get(name, {})
        return next(iter(users)) if len(users) == 1 and name not in self.outputs else None

    def users(self, name: str) -> list[Node]:
        """The nodes that read `name`."""
        return list(self._users.get(name, ()))

    def constant(self, name: str) -> Array | None:
        """The value of `name` when it is constant."""
        return self.constants.get(name)

    def scalar(self, name: str) -> float | None:
        """The value of `name` when it is a constant of one element."""
        value = self.constants.get(name)
        if value is None or value.size != 1:
            return None
        return float(value.reshape(()))

    def become(
        self, node: Node, op_type: str, inputs: Sequence[str], suffix: str = "", **attributes: Any
    ) -> None:
        """Turn `node` into another operation with the same outputs."""
        old = node.inputs
        self._unlink(node)
        node.op_type, node.inputs = op_type, list(inputs)
        node.attributes, node.suffix = dict(attributes), suffix
        self._link(node)
        self._prune(old)

    def alias(self, node: Node, value: str) -> None:
        """Let every reader of the first output of `node` read `value` instead."""
        for user in self.users(node.output):
            self._unlink(user)
            user.inputs = [value if name == node.output else name for name in user.inputs]
            self._link(user)
        self.outputs = [value if name == node.output else name for name in self.outputs]
        self._prune([node.output])

    def rename_constants(self, names: Mapping[str, str]) -> None:
        """Let readers of constant `old` read constant `new`, for each pair; `old` is dropped."""
        for old, new in names.items():
            for user in self.users(old):
                self._unlink(user)
                user.inputs = [new if name == old else name for name in user.inputs]
                self._link(user)
            self.outputs = [new if name == old else name for name in self.outputs]
            del self.constants[old]

    def prune_all(self) -> None:
        """Remove every node whose outputs nobody reads, and unread constants."""
        for node in reversed(self.nodes):
            self._prune(node.outputs[:1])
        kept = set(self.outputs)
        self.constants = {
            name: value
            for name, value in self.constants.items()
            if self._users.get(name) or name in kept
        }

    def private(self, inside: Iterable[Node], last: Node) -> bool:
        """Whether values computed by `inside` are read only by `inside` and `last`."""
        group = {*inside, last}
        return not any(
            name in self.outputs or not group.issuperset(self._users.get(name, ()))
            for node in group - {last}
            for name in node.outputs
        )

    def _link(self, node: Node) -> None:
        for name in filter(None, node.inputs):
            self._users.setdefault(name, {})[node] = None

    def _unlink(self, node: Node) -> None:
        for name in filter(None, node.inputs):
            self._users[name].pop(node, None)

    def _prune(self, names: Iterable[str]) -> None:
        """Remove the producers of `names` that have become useless, and what they alone used."""
        pending = [node for name in names if (node := self.producer(name))]
        while pending:
            node = pending.pop()
            used = any(self._users.get(name) or name in self.outputs for name in node.outputs)
            if used or node not in self._nodes:
                continue
            self._unlink(node)
            del self._nodes[node]
            for name in filter(None, node.outputs):
                del self._producer[name]
            pending.extend(p for name in node.inputs if (p := self.producer(name)))


def is_uniform(value: Array) -> bool:
    """Whether all elements are one stored number: a single element, or a broadcast of one."""
    return value.size == 1 or (value.ndim > 0 and not any(value.strides))


def element(value: Array) -> Array:
    """A uniform array as an array of shape ()."""
    return np.asarray(value.reshape(-1)[0] if value.size == 1 else value[(0,) * value.ndim])
