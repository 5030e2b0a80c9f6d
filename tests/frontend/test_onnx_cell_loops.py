"""What loops around recurrent cells read in each turn, how they end, and what they give."""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.frontend.loops import (
    AFFINE,
    BOOL,
    ENDS,
    HIDDEN,
    I64,
    LSTM_GATES,
    LSTM_STATES,
    SIZE,
    F,
    constants,
    info,
    joined,
    layers,
    looped,
    lstm,
    node,
    sequence,
    state,
)
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.frontend.onnx import import_onnx

Agree = Callable[..., ModuleOp]
ModelOf = Callable[..., onnx.ModelProto]


BACKWARDS = [
    node("Sub", "turns one_more", "last"),
    node("Sub", "last count", "at"),
    node("Gather", "sequence at", "x"),
]
OF_A_SLICE = [
    node("Unsqueeze", "count front", "start"),
    node("Add", "start one_more", "end"),
    node("Slice", "sequence start end front", "slice"),
    node("Squeeze", "slice front", "x"),
]
EVERY_OTHER = [node("Add", "count count", "at"), node("Gather", "sequence at", "x")]
OF_AXIS_1 = [
    node("Transpose", "sequence", "turned", perm=[1, 0, 2]),
    node("Gather", "turned count", "x", axis=1),
]


@pytest.mark.parametrize("before", [BACKWARDS, OF_A_SLICE, EVERY_OTHER, OF_AXIS_1])
def test_what_a_turn_reads(agree: Agree, before: Sequence[onnx.NodeProto]) -> None:
    nodes = looped([*AFFINE, *LSTM_GATES], LSTM_STATES, "h2", before)
    inputs = {"sequence": sequence(2, 11), "h_first": state(), "c_first": state(seed=1)}
    weights = joined(lstm(), constants(), {"front": np.array([0])})
    if before is BACKWARDS:
        inputs["sequence"] = sequence()
    module = agree(nodes, inputs, weights, ENDS)
    assert layers(module) == {"LSTM": 1}


def test_two_cells_in_a_loop(agree: Agree) -> None:
    names = {name for one in (*AFFINE, *LSTM_GATES) for name in (*one.input, *one.output)}
    renamed = {name: f"{name}_b" for name in names - {"x"}} | {"x": "h2"}
    second: list[onnx.NodeProto] = []
    for one in (*AFFINE, *LSTM_GATES):
        copy = onnx.NodeProto()
        copy.CopyFrom(one)
        copy.input[:] = [renamed[name] for name in one.input]
        copy.output[:] = [renamed[name] for name in one.output]
        second.append(copy)
    weights = {f"{name}_b": value for name, value in lstm(size=HIDDEN).items()}
    states = {**LSTM_STATES, "h_b": "h2_b", "c_b": "c2_b"}
    nodes = looped([*AFFINE, *LSTM_GATES, *second], states, "h2_b")
    inputs = {"sequence": sequence()} | {f"{name}_first": state() for name in states}
    outputs = ["all", *(f"{name}_end" for name in states)]
    module = agree(nodes, inputs, joined(lstm(), weights, constants()), outputs)
    assert layers(module) == {"LSTM": 2}


@pytest.mark.parametrize(("axis", "backwards"), [(0, 0), (1, 0), (1, 1)])
def test_scan(agree: Agree, axis: int, backwards: int) -> None:
    body = [*AFFINE, *LSTM_GATES, node("Identity", "h2", "seen")]
    graph = helper.make_graph(
        body,
        "body",
        [info("h", F, 2, HIDDEN), info("c", F, 2, HIDDEN), info("x", F, 2, SIZE)],
        [info("h2", F, 2, HIDDEN), info("c2", F, 2, HIDDEN), info("seen", F, 2, HIDDEN)],
    )
    scan = helper.make_node(
        "Scan",
        ["h_first", "c_first", "sequence"],
        ["h_last", "c_last", "all"],
        body=graph,
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_output_axes=[axis],
        scan_input_directions=[backwards],
        scan_output_directions=[backwards],
    )
    x = np.ascontiguousarray(np.moveaxis(sequence(), 0, axis))
    inputs = {"h_first": state(), "c_first": state(seed=1), "sequence": x}
    module = agree(scan, inputs, lstm(), ["all", "h_last", "c_last"])
    assert layers(module) == {"LSTM": 1}


def listed(insert: str) -> list[onnx.NodeProto]:
    """A loop that reads a list and appends to another one, as scripts do."""
    body = [
        node("SequenceAt", "parts turn", "x"),
        *AFFINE,
        *LSTM_GATES,
        node("SequenceInsert", insert, "list2"),
        node("Identity", "go", "more"),
    ]
    seen = helper.make_tensor_sequence_value_info("list", F, None)
    seen2 = helper.make_tensor_sequence_value_info("list2", F, None)
    inputs = [info("turn", I64), info("go", BOOL), info("h"), info("c"), seen]
    outputs = [info("more", BOOL), info("h2"), info("c2"), seen2]
    graph = helper.make_graph(body, "body", inputs, outputs)
    return [
        node("SplitToSequence", "sequence", "parts", axis=0, keepdims=0),
        node("SequenceEmpty", "", "empty"),
        node("Loop", "turns go_first h_first c_first empty", "h_last c_last lists", body=graph),
        node("ConcatFromSequence", "lists", "stack", axis=1, new_axis=1),
        node("Reshape", "stack flat", "all"),
    ]


@pytest.mark.parametrize(("insert", "count"), [("list h2", 1), ("list h2 front", 0)])
def test_lists(model_of: ModelOf, insert: str, count: int) -> None:
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    weights = joined(lstm(), constants(), {"front": np.array(0)})
    model = model_of(listed(insert), inputs, weights, ["all"], 17)
    assert layers(import_onnx(model))["LSTM"] == count


def test_a_list_has_the_states_in_order(agree: Agree) -> None:
    inputs = {"sequence": sequence(), "h_first": state(), "c_first": state(seed=1)}
    agree(listed("list h2"), inputs, joined(lstm(), constants()), ["all"])


def test_early_end(agree: Agree) -> None:
    """The condition ends the loop before its trip count, and before the sequence does."""
    nodes = looped([*AFFINE, *LSTM_GATES], LSTM_STATES, "h2")
    inputs = {"sequence": sequence(2, 9), "h_first": state(), "c_first": state(seed=1)}
    module = agree(nodes, inputs, joined(lstm(), constants(4)), ENDS)
    assert layers(module) == {"LSTM": 1}
