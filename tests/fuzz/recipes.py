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

    Kinds: `normal` (small), `positive` (0.5 to 1.5), `far` (of larger magnitude than most tensors),
    `bits` (booleans), `ints` (exactly `values`), `floats` (the same as float32).
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
            case "far":
                signs = np.where(random.random(self.shape) < 0.5, -1.0, 1.0)
                return (9 * signs).astype(np.float32)
            case "bits":
                return random.random(self.shape) < 0.5
            case "ints":
                return np.array(self.values, np.int64).reshape(self.shape)
            case _:
                return np.array(self.values, np.float32).reshape(self.shape)


@dataclass(frozen=True)
class Step:
    """One node: tensors are numbered, the inputs first, then the results of the steps.

    `result` says which of its results is taken: those of TopK, Split and recurrent nets are
    several, and indices become floats. A tensor as condition of a Where stands for where it is
    positive.
    """

    op: str
    inputs: tuple[int | Weight | None, ...]
    shape: Shape
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: int = 0


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

    def model(
        self, opset: int = 17, noise: Mapping[int, Any] | None = None, every: bool = False
    ) -> onnx.ModelProto:
        """The ONNX model; with `noise`, numbers are added to the results of steps.

        With `every` the result of every step is an output.
        """
        graph = _Graph(np.random.default_rng(len(self.steps)))
        names = [f"x{n}" for n in range(len(self.inputs))]
        shapes = [*self.inputs, *(step.shape for step in self.steps)]
        for index, step in enumerate(self.steps):
            name = graph.add(index, step, names)
            if noise is not None:
                name = graph.node("Add", [name, graph.constant(noise[len(names)], f"n{index}")])
            names.append(name)
        first = len(self.inputs)
        kept = range(first, len(shapes)) if every else self.outputs()
        inputs, outputs = (
            [helper.make_tensor_value_info(names[n], TensorProto.FLOAT, shapes[n]) for n in some]
            for some in (range(first), kept)
        )
        made = helper.make_graph(graph.nodes, "random", inputs, outputs, graph.constants)
        opsets = [helper.make_opsetid("", opset)]
        return helper.make_model(made, opset_imports=opsets, ir_version=8)


@dataclass
class _Graph:
    """Nodes and constants of a model being made."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: list[TensorProto] = field(default_factory=list[TensorProto])

    def constant(self, values: Any, name: str) -> str:
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op: str, given: list[str], count: int = 1, **attributes: Any) -> str:
        """A node of so many results; the name of the first."""
        name = f"{op.lower()}{len(self.nodes)}"
        results = [name, *(f"{name}_{n}" for n in range(1, count))]
        self.nodes.append(helper.make_node(op, given, results, name, **attributes))
        return name

    def add(self, index: int, step: Step, names: list[str]) -> str:
        """The nodes of a step; the name of its result."""
        given: list[str] = []
        for place, operand in enumerate(step.inputs):
            if isinstance(operand, Weight):
                values = operand.array(self.random)
                given.append(self.constant(values, f"w{index}_{place}"))
            else:
                given.append("" if operand is None else names[operand])
        if step.op == "Where" and isinstance(step.inputs[0], int):
            zero = self.constant(np.zeros((), np.float32), f"zero{index}")
            given[0] = self.node("Greater", [given[0], zero])
        count = RESULTS.get(step.op, 1)
        if step.op == "Split" and isinstance(step.inputs[1], Weight):
            count = step.inputs[1].shape[0]
        name = self.node(step.op, given, count, **step.attributes)
        if step.result:
            name = f"{name}_{step.result}"
        if step.op == "TopK" and step.result:
            name = self.node("Cast", [name], to=TensorProto.FLOAT)
        return name


RESULTS = {"TopK": 2, "RNN": 2, "GRU": 2, "LSTM": 3}
"""Results of ops that have several."""


def jumps(recipe: Recipe) -> bool:
    """Whether a step jumps where a number changes its sign: one that 8 bits take for 0, too."""
    return any(
        step.op == "Sign" or (step.op == "Where" and isinstance(step.inputs[0], int))
        for step in recipe.steps
    )


def feeds(recipe: Recipe) -> dict[str, Any]:
    """Seeded values for the inputs, all of them f16 numbers."""
    random = np.random.default_rng(7)
    return {
        f"x{n}": random.standard_normal(shape).astype(np.float16).astype(np.float32)
        for n, shape in enumerate(recipe.inputs)
    }
