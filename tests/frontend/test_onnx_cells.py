"""Loops that step through a recurrent cell: one layer, with onnxruntime's numbers."""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.frontend.loops import (
    AFFINE,
    ENDS,
    HIDDEN,
    LSTM_GATES,
    LSTM_STATES,
    SIZE,
    TURNS,
    constants,
    gru,
    joined,
    layers,
    looped,
    lstm,
    node,
    random,
    sequence,
    state,
)
from xdsl.dialects.builtin import ModuleOp

Agree = Callable[..., ModuleOp]
ModelOf = Callable[..., onnx.ModelProto]


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_lstm(agree: Agree, batch: int) -> None:
    nodes = looped([*AFFINE, *LSTM_GATES], LSTM_STATES, "h2")
    inputs = {"sequence": sequence(batch), "h_first": state(batch), "c_first": state(batch, 1)}
    module = agree(nodes, inputs, joined(lstm(), constants()), ENDS)
    assert layers(module) == {"LSTM": 1}


@pytest.mark.parametrize("turns", [1, 2, 40])
def test_of_so_many_turns(agree: Agree, turns: int) -> None:
    nodes = looped([*AFFINE, *LSTM_GATES], LSTM_STATES, "h2")
    start = {"h_first": np.zeros((2, HIDDEN), np.float32), "c_first": state(2, 1)}
    weights = joined(lstm(), constants(turns), start)
    module = agree(nodes, {"sequence": sequence(2, turns)}, weights, ENDS)
    assert layers(module) == {"LSTM": 1}


def test_one_unit(agree: Agree) -> None:
    nodes = looped([*AFFINE, *LSTM_GATES], LSTM_STATES, "h2")
    inputs = {"sequence": random(TURNS, 2, 1), "h_first": random(2, 1), "c_first": random(2, 1)}
    module = agree(nodes, inputs, joined(lstm(1, 1), constants()), ENDS)
    assert layers(module) == {"LSTM": 1}


ONE_SIGMOID = [
    node("Concat", "x h", "xh", axis=-1),
    node("Concat", "w r", "weights", axis=0),
    node("MatMul", "xh weights", "product"),
    node("Add", "product b", "sums"),
    node("Slice", "sums at0 at12 axis", "three"),
    node("Slice", "sums at12 at16 axis", "ag"),
    node("Sigmoid", "three", "gates"),
    node("Split", "gates", "o f i", axis=-1),
    *LSTM_GATES[4:],
]
"""All gates but the candidate in one function, in another order."""

INTERLEAVED = [
    *AFFINE,
    node("Reshape", "sums gates_last", "gated"),
    node("Transpose", "gated", "front", perm=[2, 0, 1]),
    node("Split", "front", "ti tf tg to", axis=0),
    *(node("Squeeze", f"t{gate} first_axis", f"a{gate}") for gate in "ifgo"),
    *LSTM_GATES[1:],
]
"""Gates of each unit beside each other."""

COLUMNS = [
    node("Transpose", "h", "h_t", perm=[1, 0]),
    node("Transpose", "r", "r_t", perm=[1, 0]),
    node("MatMul", "r_t h_t", "hr_t"),
    node("Transpose", "hr_t", "hr", perm=[1, 0]),
    node("Gemm", "x w b", "xw"),
    node("Sub", "xw hr", "difference"),
    node("Add", "hr hr", "twice"),
    node("Add", "difference twice", "sums"),
    *LSTM_GATES,
]
"""States as columns, and sums by way of a difference."""


@pytest.mark.parametrize("body", [ONE_SIGMOID, INTERLEAVED, COLUMNS])
def test_spellings_of_an_lstm(agree: Agree, body: Sequence[onnx.NodeProto]) -> None:
    more = {
        "axis": np.array([1]),
        **{f"at{place}": np.array([place]) for place in (0, 12, 16)},
        "gates_last": np.array([2, HIDDEN, 4]),
        "first_axis": np.array([0]),
    }
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    nodes = looped(body, LSTM_STATES, "h2")
    module = agree(nodes, inputs, joined(lstm(), constants(), more), ENDS)
    assert layers(module) == {"LSTM": 1}


GATES = [
    *(node("Split", f"{s}", f"{s}z {s}r {s}n", axis=-1) for s in ("xw", "hr")),
    *(node("Add", f"xw{gate} hr{gate}", f"a{gate}") for gate in "zr"),
    *(node("Sigmoid", f"a{gate}", gate) for gate in "zr"),
]
RESET_AFTER = [
    node("Gemm", "x w b", "xw"),
    node("Gemm", "h r0 rb", "hr"),
    *GATES,
    node("Mul", "r hrn", "reset"),
    node("Add", "xwn reset", "an"),
]
RESET_BEFORE = [
    node("Gemm", "x w b", "xw"),
    node("MatMul", "h r0", "hr"),
    *GATES,
    node("Mul", "r h", "reset"),
    node("Split", "r0", "_z _r candidates", axis=-1),
    node("MatMul", "reset candidates", "product"),
    node("Add", "xwn product", "an"),
]
MIXED = [
    node("Tanh", "an", "n"),
    node("Sub", "one z", "rest"),
    node("Mul", "rest n", "news"),
    node("Mul", "z h", "kept"),
    node("Add", "news kept", "h2"),
]
OTHERWISE = [
    node("Tanh", "an", "n"),
    node("Sub", "n h", "step"),
    node("Mul", "z step", "moved"),
    node("Add", "h moved", "h2"),
]
"""h + z (n - h): the gate says how much is new."""
TWO_SIGMOIDS = [MIXED[0], node("Neg", "az", "-az"), node("Sigmoid", "-az", "rest"), *MIXED[2:]]


@pytest.mark.parametrize("end", [MIXED, OTHERWISE, TWO_SIGMOIDS])
@pytest.mark.parametrize("start", [RESET_AFTER, RESET_BEFORE])
@pytest.mark.parametrize("batch", [1, 3])
def test_gru(
    agree: Agree, start: list[onnx.NodeProto], end: list[onnx.NodeProto], batch: int
) -> None:
    weights = gru()
    weights["r0"] = weights.pop("r")
    nodes = looped([*start, *end], {"h": "h2"}, "h2")
    inputs = {"sequence": sequence(batch), "h_first": state(batch)}
    module = agree(nodes, inputs, joined(weights, constants()), ["all", "h_end"])
    assert layers(module) == {"GRU": 1}


@pytest.mark.parametrize("function", ["Tanh", "Relu"])
def test_rnn_multiplies_its_inputs_at_once(agree: Agree, function: str) -> None:
    weights = {"w": random(SIZE, HIDDEN), "r": random(HIDDEN, HIDDEN), "b": random(HIDDEN)}
    nodes = looped([*AFFINE, node(function, "sums", "h2")], {"h": "h2"}, "h2")
    inputs = {"sequence": sequence(), "h_first": state()}
    module = agree(nodes, inputs, joined(weights, constants()), ["all", "h_end"])
    assert layers(module) == {"MatMul": TURNS + 1}


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_layers_of_one_step(agree: Agree, kind: str) -> None:
    """As scripted modules of PyTorch have them: a layer of one step in each turn."""
    gates = {"LSTM": 4, "GRU": 3}[kind] * HIDDEN
    weights = {
        "w": random(1, gates, SIZE),
        "r": random(1, gates, HIDDEN),
        "b": random(1, 2 * gates),
        "front": np.array([0]),
    }
    states = LSTM_STATES if kind == "LSTM" else {"h": "h2"}
    names = " ".join(f"{name}_up" for name in states)
    ends = " ".join(f"{name}_up" for name in states.values())
    body = [
        node("Unsqueeze", "x front", "x_up"),
        *(node("Unsqueeze", f"{name} front", f"{name}_up") for name in states),
        helper.make_node(kind, ["x_up", "w", "r", "b", "", *names.split()], ["", *ends.split()]),
        *(node("Squeeze", f"{name}_up front", name) for name in states.values()),
    ]
    body[len(states) + 1].attribute.append(helper.make_attribute("hidden_size", HIDDEN))
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    if kind == "GRU":
        del inputs["c_first"]
    nodes = looped(body, states, "h2")
    module = agree(nodes, inputs, joined(weights, constants()), ["all", "h_end"])
    assert layers(module) == {kind: 1}


NO_LSTM = {
    "a gate of the other state": [node("Add", "ai c", "ai2"), node("Sigmoid", "ai2", "i")],
    "a squared state": [node("Mul", "c c", "cc"), node("Add", "cc new", "c2")],
    "x beside the state": [node("MatMul", "x narrow", "xn"), node("Add", "kept xn", "c2")],
    "a limit": [node("Clip", "unbound low high", "c2"), node("Add", "kept new", "unbound")],
    "sums of gates": [node("Add", "g i", "gi"), node("Mul", "gi g", "new")],
    "another function of one gate": [node("Relu", "af", "f")],
    "functions of functions": [node("Tanh", "g", "gg"), node("Mul", "i gg", "new")],
}


@pytest.mark.parametrize("changed", NO_LSTM.values(), ids=NO_LSTM)
def test_what_is_no_lstm_is_unrolled(agree: Agree, changed: Sequence[onnx.NodeProto]) -> None:
    made = {name for one in changed for name in one.output}
    kept = [one for one in LSTM_GATES if not made.intersection(one.output)]
    waiting, body = [*kept, *changed], [*AFFINE]
    known = {"x", "h", "c", "w", "r", "b", "narrow", "low", "high", "sums"}
    while waiting:  # in an order that ONNX allows
        ready = next(one for one in waiting if known.issuperset(one.input))
        waiting.remove(ready)
        body.append(ready)
        known.update(ready.output)
    more = {
        "narrow": random(SIZE, HIDDEN),
        "low": np.array(-0.1, np.float32),
        "high": np.array(50, np.float32),
    }
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    nodes = looped(body, LSTM_STATES, "h2")
    module = agree(nodes, inputs, joined(lstm(), constants(), more), ENDS)
    assert layers(module)["LSTM"] == 0


def test_a_sequence_of_inner_states_is_unrolled(agree: Agree) -> None:
    nodes = looped([*AFFINE, *LSTM_GATES, node("Identity", "c2", "seen")], LSTM_STATES, "seen")
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    module = agree(nodes, inputs, joined(lstm(), constants()), ENDS)
    assert layers(module)["LSTM"] == 0


def test_batches_that_mix_are_unrolled(agree: Agree) -> None:
    mixed = [node("ReduceMean", "h", "mean", axes=[0]), node("Gemm", "mean r b", "hr")]
    body = [*mixed, AFFINE[0], AFFINE[2], *LSTM_GATES]
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    nodes = looped(body, LSTM_STATES, "h2")
    module = agree(nodes, inputs, joined(lstm(), constants()), ENDS, opset=13)
    assert layers(module)["LSTM"] == 0
