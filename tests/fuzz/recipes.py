"""Small ONNX graphs as plain data: what a random graph is, and what a failing one is kept as."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Weight:
    """A constant operand: seeded values of a `kind`, or the integers themselves.

    Kinds: `normal` (small), `positive` (0.5 to 1.5), `ints` (exactly `values`), `floats` (the
    same as float32).
    """

    shape: Shape
    kind: str = "normal"
    values: tuple[float, ...] = ()

    def array(self, random: np.random.Generator) -> Any:
        """The values."""
        match self.kind:
            case "normal":
                return (0.4 * random.standard_normal(self.shape)).astype(np.float32)
            case "positive":
                return random.uniform(0.5, 1.5, self.shape).astype(np.float32)
            case "ints":
                return np.array(self.values, np.int64).reshape(self.shape)
            case _:
                return np.array(self.values, np.float32).reshape(self.shape)


@dataclass(frozen=True)
class Step:
    """One node: tensors are numbered, the inputs first, then the results of the steps."""

    op: str
    inputs: tuple[int | Weight | None, ...]
    shape: Shape
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Recipe:
    """A graph; its outputs are the tensors that nothing uses."""

    inputs: tuple[Shape, ...]
    steps: tuple[Step, ...]

    def outputs(self) -> list[int]:
        """Numbers of the results that no step uses, in order."""
        used = {given for step in self.steps for given in step.inputs}
        first = len(self.inputs)
        return [n for n in range(first, first + len(self.steps)) if n not in used]

    def model(self, opset: int = 17) -> onnx.ModelProto:
        """The ONNX model."""
        random = np.random.default_rng(len(self.steps))
        names = [f"x{n}" for n in range(len(self.inputs))]
        shapes = list(self.inputs)
        nodes: list[onnx.NodeProto] = []
        constants: list[TensorProto] = []
        for index, step in enumerate(self.steps):
            result = f"{step.op.lower()}{index}"
            given: list[str] = []
            for place, operand in enumerate(step.inputs):
                if isinstance(operand, Weight):
                    name = f"w{index}_{place}"
                    constants.append(numpy_helper.from_array(operand.array(random), name))
                    given.append(name)
                else:
                    given.append("" if operand is None else names[operand])
            nodes.append(helper.make_node(step.op, given, [result], result, **step.attributes))
            names.append(result)
            shapes.append(step.shape)
        kept = [*range(len(self.inputs)), *self.outputs()]
        values = [
            helper.make_tensor_value_info(names[n], TensorProto.FLOAT, shapes[n]) for n in kept
        ]
        first = len(self.inputs)
        graph = helper.make_graph(nodes, "random", values[:first], values[first:], constants)
        opsets = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def feeds(recipe: Recipe) -> dict[str, Any]:
    """Seeded values for the inputs."""
    random = np.random.default_rng(7)
    return {
        f"x{n}": random.standard_normal(shape, np.float32) for n, shape in enumerate(recipe.inputs)
    }
