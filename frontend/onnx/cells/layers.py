"""Recurrent layers instead of the loops that exporters write for them."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import helper

from xdsl_tpu.frontend.onnx.cells.forms import Cell, cell
from xdsl_tpu.frontend.onnx.cells.frames import Collected, Inside, NoLayerError, Series, State
from xdsl_tpu.frontend.onnx.cells.step import Step
from xdsl_tpu.frontend.onnx.cells.turns import Turns, turns
from xdsl_tpu.frontend.onnx.compose.recurrent import USUAL
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode
from xdsl_tpu.frontend.onnx.unroll import axis_within, constant, part, reshape


def as_layers(host: Inside, node: Node) -> bool:
    """Write a loop as the recurrent layers that it is; False, and nothing, when it is not."""
    first = next(filter(None, node.outputs))
    try:
        found = turns(host, node)
        layers = _layers(found, first)
        for one in found.collected:
            if one.value not in found.series:
                raise NoLayerError(f"'{one.output}' is no state of a cell")
    except (NoLayerError, UnsupportedNode):
        return False
    for sequence, (layer, step) in layers.items():
        _add(host, found, sequence, layer, step)
    for one in found.collected:
        _collect(host, found, one)
    for state in found.kept:
        if state.output:
            host.call(state.output, state.initial)
    for output, value in found.known.items():
        if output:
            constant(host, output, value)
    return True


def _layers(found: Turns, prefix: str) -> dict[str, tuple[Cell, Step]]:
    """The cells of a loop under the names of their states of all turns, which the others take.

    States belong together when each depends on the others; of several such groups one takes what
    another one gives. NoLayerError when a group is no cell, or there are no states.
    """
    if found.count < 1 or not found.states:
        raise NoLayerError("it has no states, or no turns")
    left = list(found.states)
    layers: dict[str, tuple[Cell, Step]] = {}
    while left:
        behind = _behind(found, left)
        name = next(n for n, others in behind.items() if all(n in behind[o] for o in others))
        group = [state for state in left if state.name in behind[name] | {name}]
        layer, step = cell(found, group)
        sequence = f"{prefix}/layer_{len(layers)}"
        layers[sequence] = (layer, step)
        for value, shape in step.alike(layer.states[0]).items():
            found.series[value] = Series(sequence, 0, range(found.count), shape)
        left = [state for state in left if state not in group]
    return layers


def _behind(found: Turns, states: Sequence[State]) -> dict[str, set[str]]:
    """The states that each one depends on, at once or after some turns."""
    behind = {state.name: found.depends([state.following]) for state in states}
    for _ in states:
        for others in behind.values():
            others.update(*(behind.get(other, set()) for other in [*others]))
    return behind


def _add(host: Inside, found: Turns, sequence: str, layer: Cell, step: Step) -> None:
    """The layer's node, and what the loop gives of its states."""
    batch, size = step.batch, step.hidden
    parts = [
        reshape(
            host,
            _all_turns(host, found, found.series[name], f"{sequence}/x_{place}"),
            (found.count, batch, width),
            f"{sequence}/x_{place}/rows",
        )
        for place, (name, width) in enumerate(zip(step.series, step.sizes, strict=True))
    ]
    x = parts[0]
    if len(parts) > 1:
        x = f"{sequence}/x"
        host.visit(helper.make_node("Concat", parts, [x], x, axis=2))
    dtype = np.dtype(found.graph.types[layer.states[0].name].dtype)
    parameters = [
        constant(host, f"{sequence}/{label}", value[None].astype(dtype))
        for label, value in (("w", layer.w), ("r", layer.r), ("b", layer.bias))
    ]
    initial = [
        reshape(host, state.initial, (1, batch, size), f"{sequence}/initial_{place}")
        for place, state in enumerate(layer.states)
    ]
    outputs = [f"{sequence}/y", *(f"{sequence}/last_{i}" for i in range(len(initial)))]
    attributes: dict[str, Any] = {"hidden_size": size}
    if layer.functions != USUAL[layer.op_type]:
        attributes["activations"] = layer.functions
    if layer.before_reset:
        attributes["linear_before_reset"] = 1
    inputs = [x, *parameters, "", *initial]
    host.visit(helper.make_node(layer.op_type, inputs, outputs, sequence, **attributes))
    shape = found.graph.shape(layer.states[0].name)
    reshape(host, outputs[0], (found.count, *shape), sequence)
    for state, last in zip(layer.states, outputs[1:], strict=True):
        if state.output:
            reshape(host, last, shape, state.output)


def _all_turns(host: Inside, found: Turns, series: Series, prefix: str) -> str:
    """A tensor of what all turns take, one behind the other along its first axis."""
    if series.values is not None:
        return constant(host, f"{prefix}/values", series.values)
    source, name = series.source, f"{prefix}/turns"
    if elements := found.lists.get(source):
        shape = (1, *host.shape(elements[0]))
        spread = [
            reshape(host, elements[place], shape, f"{prefix}/{turn}")
            for turn, place in enumerate(series.places)
        ]
        host.visit(helper.make_node("Concat", spread, [name], name, axis=0))
        return name
    shape = host.shape(source)
    if series.axis:
        order = [series.axis, *(a for a in range(len(shape)) if a != series.axis)]
        host.visit(helper.make_node("Transpose", [source], [name], name, perm=order))
        source, name = name, f"{name}/taken"
    size, places = shape[series.axis], [*series.places]
    if places == [*range(size)]:
        return source
    if places == [*range(size - 1, -1, -1)]:
        return _reversed(host, source, name)
    taken = constant(host, f"{name}/places", np.array(places, np.int64))
    host.visit(helper.make_node("Gather", [source, taken], [name], name, axis=0))
    return name


def _reversed(host: Inside, source: str, name: str) -> str:
    """The first axis backwards."""
    numbers: Mapping[str, int] = {"start": -1, "end": -sys.maxsize, "axis": 0, "step": -1}
    bounds = [
        constant(host, f"{name}/{label}", np.array([number], np.int64))
        for label, number in numbers.items()
    ]
    host.visit(helper.make_node("Slice", [source, *bounds], [name], name))
    return name


def _collect(host: Inside, found: Turns, one: Collected) -> None:
    """What the loop gives of all turns."""
    series = found.series[one.value]
    whole = _all_turns(host, found, series, f"{one.output}/all")
    if one.backwards:
        whole = _reversed(host, whole, f"{one.output}/backwards")
    shape = (found.count, *series.shape)
    if one.axis is None:
        whole = reshape(host, whole, shape, f"{one.output}/elements")
        host.sequences[one.output] = [
            *one.before,
            *(
                part(host, whole, 0, (turn, turn + 1), f"{one.output}/{turn}")
                for turn in range(found.count)
            ),
        ]
    elif axis := axis_within(one.axis, len(shape)):
        whole = reshape(host, whole, shape, f"{one.output}/elements")
        order = [*range(1, axis + 1), 0, *range(axis + 1, len(shape))]
        host.visit(helper.make_node("Transpose", [whole], [one.output], one.output, perm=order))
    else:
        reshape(host, whole, shape, one.output)
