"""Loops around recurrent cells, as exporters spell them, and what is counted of an import."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

Array = npt.NDArray[Any]
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
TURNS, SIZE, HIDDEN = 5, 3, 4


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed + sum(shape)).normal(0, 0.6, shape).astype(np.float32)


def info(name: str, kind: int = F, *shape: int) -> onnx.ValueInfoProto:
    """Of an unknown shape where none is given, unless it counts."""
    return helper.make_tensor_value_info(name, kind, shape or (None if kind == F else ()))


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """A node whose inputs and outputs are separated by spaces."""
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def layers(module: ModuleOp) -> Counter[str]:
    """How many ops of each kind multiply, or are whole layers."""
    kinds = Counter(op.name.removeprefix("top.") for op in module.walk())
    return Counter({kind: kinds[kind] for kind in ("LSTM", "GRU", "MatMul") if kinds[kind]})


LSTM_GATES = [
    node("Split", "sums", "ai af ag ao", axis=-1),
    *(node("Sigmoid", f"a{gate}", gate) for gate in "ifo"),
    node("Tanh", "ag", "g"),
    node("Mul", "f c", "kept"),
    node("Mul", "i g", "new"),
    node("Add", "kept new", "c2"),
    node("Tanh", "c2", "squashed"),
    node("Mul", "o squashed", "h2"),
]
"""As Keras orders them."""

AFFINE = [node("MatMul", "x w", "xw"), node("Gemm", "h r b", "hr"), node("Add", "xw hr", "sums")]


def lstm(hidden: int = HIDDEN, size: int = SIZE) -> dict[str, Array]:
    gates = 4 * hidden
    return {"w": random(size, gates), "r": random(hidden, gates), "b": random(gates)}


def gru(gates: int = 3) -> dict[str, Array]:
    return {
        "w": random(SIZE, gates * HIDDEN),
        "r": random(HIDDEN, gates * HIDDEN),
        "b": random(gates * HIDDEN),
        "rb": random(gates * HIDDEN, seed=3),
        "one": np.array(1, np.float32),
    }


def looped(
    body: Sequence[onnx.NodeProto],
    states: Mapping[str, str],
    collected: str,
    before: Sequence[onnx.NodeProto] = (),
) -> list[onnx.NodeProto]:
    """A Loop as TensorFlow writes it: its own counter, weights handed on, a condition; `before`
    gives x of the counter."""
    own = [onnx.NodeProto.FromString(one.SerializeToString()) for one in body]
    for one in own:
        one.input[:] = ["w0" if name == "w" else name for name in one.input]
    nodes = [
        *(before or [node("Gather", "sequence count", "x")]),
        *own,
        node("Add", "count one_more", "count2"),
        node("Less", "count2 turns", "more"),
        node("Identity", "w0", "w1"),
    ]
    formal = [info("turn", I64), info("go", BOOL), info("count", I64), info("w0")]
    inputs = [*formal, *map(info, states)]
    outputs = [info("more", BOOL), info("count2", I64), info("w1"), *map(info, states.values())]
    given = [numpy_helper.from_array(np.array(1), "one_more")]
    graph = helper.make_graph(nodes, "body", inputs, [*outputs, info(collected)], given)
    first = " ".join(f"{name}_first" for name in states)
    last = " ".join(f"{name}_last" for name in states)
    return [
        node("Loop", f"most go_first count_first w {first}", f"n_last w_last {last} y", body=graph),
        *(node("Reshape", f"{name}_last flat", f"{name}_end") for name in states),
        node("Reshape", "y flat", "all"),
    ]


def constants(count: int = TURNS) -> dict[str, Array]:
    return {
        "most": np.array(100),
        "go_first": np.array(True),
        "count_first": np.array(0),
        "turns": np.array(count),
        "flat": np.array([-1]),
    }


def sequence(batch: int = 2, turns: int = TURNS) -> Array:
    return random(turns, batch, SIZE)


def state(batch: int = 2, seed: int = 0) -> Array:
    return random(batch, HIDDEN, seed=seed)


def joined(*parts: Mapping[str, Array]) -> dict[str, Array]:
    return {name: value for part in parts for name, value in part.items()}


LSTM_STATES = {"h": "h2", "c": "c2"}
ENDS = ["all", "h_end", "c_end"]
