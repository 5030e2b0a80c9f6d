"""What compositions work with: the node, its inputs' types, and the nodes that replace it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import helper, numpy_helper

from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

REDUCE_SUM_AXES_INPUT = 13
REDUCE_AXES_INPUT = 18
"""From these opsets on the axes of ReduceSum, and of the other reductions, are an input."""


class Body:
    """Nodes under construction, in the node's own opset. Inner values are named after its output.

    Values are names; every method gives the name of the value it adds.
    """

    def __init__(self, graph: Graph, node: Node) -> None:
        self.node = node
        self.protos: list[onnx.NodeProto] = []
        self.graph = graph
        self._count = 0

    def shape(self, index: int) -> tuple[int, ...]:
        """Static shape of input `index`."""
        return self.graph.shape(self.node.inputs[index])

    def is_float(self, index: int) -> bool:
        """Whether input `index` holds floating-point numbers."""
        return self.graph.types[self.node.inputs[index]].is_float

    def value(self, index: int) -> Array | None:
        """The value of input `index` when it is constant."""
        return self.graph.constant(self.node.input(index))

    def numbers(self, index: int, what: str) -> list[int] | None:
        """The integers of a constant input; None when it is absent.

        Raises UnsupportedNode when it is computed at run time.
        """
        name = self.node.input(index)
        if not name:
            return None
        value = self.graph.constant(name)
        if value is None:
            raise UnsupportedNode(f"its {what} ('{name}') must be constant")
        return [int(item) for item in value.reshape(-1)]

    def add(self, op_type: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """A node; `output` is its result's name if that is one of the composed node's outputs."""
        name = output or self._new(op_type)
        self.protos.append(helper.make_node(op_type, list(inputs), [name], name, **attributes))
        return name

    def several(
        self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], first: bool, **kept: Any
    ) -> str:
        """A node of several results, called as `outputs` says; gives the first one, for which
        there is a new name if it is wanted and "" if not."""
        name = self._new(op_type) if first else ""
        self.protos.append(
            helper.make_node(op_type, list(inputs), [name, *outputs[1:]], name, **kept)
        )
        return name

    def constant(self, value: Array | Sequence[int] | float) -> str:
        """A constant; Python numbers are float32, sequences of them int64."""
        if isinstance(value, float | int):
            array = np.array(value, np.float32)
        else:
            array = np.asarray(value) if isinstance(value, np.ndarray) else np.array(value, "i8")
        name = self._new("constant")
        tensor = numpy_helper.from_array(array, name)
        self.protos.append(helper.make_node("Constant", [], [name], name, value=tensor))
        return name

    def number(self, value: float, like: str) -> str:
        """A constant number of the element type of `like`, one of the node's inputs."""
        number = self.constant(float(value))
        kind = self.graph.types[like]
        return number if kind.dtype == "float32" else self.add("CastLike", number, like)

    def reshape(self, x: str, shape: Sequence[int], output: str = "") -> str:
        """The elements of `x` in another shape."""
        return self.add("Reshape", x, self.constant(shape), output=output)

    def transpose(self, x: str, order: Sequence[int], output: str = "") -> str:
        """The dimensions of `x` in another order."""
        return self.add("Transpose", x, output=output, perm=list(order))

    def slice(
        self, x: str, axis: int, start: int, end: int, step: int = 1, output: str = ""
    ) -> str:
        """x[start:end:step] along one axis."""
        bounds = (self.constant([number]) for number in (start, end, axis, step))
        return self.add("Slice", x, *bounds, output=output)

    def reduce(
        self, op_type: str, x: str, axes: Sequence[int], keepdims: bool, output: str = ""
    ) -> str:
        """A reduction; axes go where the opset wants them."""
        first = REDUCE_SUM_AXES_INPUT if op_type == "ReduceSum" else REDUCE_AXES_INPUT
        if self.node.opset >= first:
            operand = self.constant([*axes])
            return self.add(op_type, x, operand, output=output, keepdims=int(keepdims))
        return self.add(op_type, x, output=output, axes=list(axes), keepdims=int(keepdims))

    def _new(self, label: str) -> str:
        self._count += 1
        first = next(filter(None, self.node.outputs))
        return f"{first}/{label}_{self._count}"


Composition: TypeAlias = Callable[[Body], bool | None]
"""Adds the nodes that give the outputs of `body.node`; UnsupportedNode says why it cannot.

False: it has added nothing, the node is converted as it is.
"""
