"""A timeline in the Trace Event format, which Perfetto and chrome://tracing open.

One track per engine, one for the layers, and counters: DDR bandwidth, utilisation of the array,
local memory in use. Times are microseconds at the chip's clock.
"""

import json
from collections.abc import Iterator
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.counters import array_utilisation, ddr_bandwidth
from xdsl_tpu.backend.report.local_use import local_use
from xdsl_tpu.backend.timing import Event, Timeline
from xdsl_tpu.backend.timing.gdma_cost import transfer

_TRACKS = {Engine.TIU: 1, Engine.GDMA: 2}
_LAYER_TRACK = 3
_PROCESS = 1


def trace(program: Program, timeline: Timeline, chip: Chip) -> str:
    """The trace as JSON text."""
    microseconds = 1e6 / chip.clock_hertz
    events: list[dict[str, Any]] = [
        _named("process_name", 0, f"{program.name} on {chip.name} (1 core)"),
        _named("thread_name", _TRACKS[Engine.TIU], "TIU (BDC)"),
        _named("thread_name", _TRACKS[Engine.GDMA], "GDMA"),
        _named("thread_name", _LAYER_TRACK, "layers"),
    ]
    for engine in Engine:
        queue, layers = program.queue(engine), program.layer_indices(engine)
        for event in timeline.events[engine]:
            command = queue[event.position]
            layer = program.layers[layers[event.position]] if layers[event.position] >= 0 else None
            events.append(
                {
                    "name": f"{layer.name if layer else ''} {instruction(command)}".strip(),
                    "cat": layer.op if layer else "",
                    "args": {"id": command["cmd_id"], **_details(command, event, chip)},
                    **_interval(_TRACKS[engine], event.start, event.cycles, microseconds),
                }
            )
    events += _layer_events(program, timeline, microseconds)
    events += _counter_events(program, timeline, chip)
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


BANDWIDTH, UTILISATION, LOCAL = "DDR bandwidth (GB/s)", "array utilisation (%)", "local memory"
"""Names of the counters; local memory is in bytes per lane."""


def _counter_events(program: Program, timeline: Timeline, chip: Chip) -> Iterator[dict[str, Any]]:
    microseconds = 1e6 / chip.clock_hertz

    def event(name: str, series: str, time: int, value: float) -> dict[str, Any]:
        common = {"ph": "C", "pid": _PROCESS, "name": name}
        return {**common, "ts": round(time * microseconds, 6), "args": {series: value}}

    for direction, steps in ddr_bandwidth(program, timeline, chip).items():
        for time, rate in zip(steps.times, steps.values, strict=True):
            gigabytes = rate * chip.clock_hertz / 1e9
            yield event(BANDWIDTH, direction.value, time, round(gigabytes, 6))
    steps = array_utilisation(program, timeline, chip)
    for time, share in zip(steps.times, steps.values, strict=True):
        yield event(UTILISATION, "of peak", time, round(100 * share, 6))
    use = local_use(program, timeline, chip)
    for time, count in zip(use.times, use.bytes, strict=True):
        yield event(LOCAL, "bytes per lane", time, count)


def instruction(command: Command) -> str:
    """Form and function in words: `sAR.add`."""
    return f"{command.form.name}.{command.function_name.split(' ')[0]}"


def _named(kind: str, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": _PROCESS, "tid": track, "args": {"name": name}}


def _interval(track: int, start: int, cycles: int, unit: float) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": track,
        "ts": round(start * unit, 6),
        "dur": round(cycles * unit, 6),
    }


def _details(command: Command, event: Event, chip: Chip) -> dict[str, Any]:
    """What a reader wants to know of a command when clicking on it."""
    waits = {"cycles": event.cycles, "waits_for": command["cmd_id_dep"]}
    if command.engine is Engine.GDMA:
        moved = transfer(command, chip)
        return waits | {"direction": moved.direction.value, "bytes": moved.bytes}
    shape = [command[f"res0_{axis}"] for axis in "nchw"]
    return waits | {"result": shape}


def _layer_events(program: Program, timeline: Timeline, unit: float) -> list[dict[str, Any]]:
    """From the first to the last command of each layer; they may overlap, so they are async."""
    spans: dict[int, tuple[int, int]] = {}
    for engine in Engine:
        layers = program.layer_indices(engine)
        for event in timeline.events[engine]:
            first, last = spans.get(layers[event.position], (event.start, 0))
            end = max(last, event.start + event.cycles)
            spans[layers[event.position]] = (min(first, event.start), end)
    found: list[dict[str, Any]] = []
    for index, (start, end) in sorted(spans.items()):
        if index < 0:
            continue
        layer = program.layers[index]
        common = {"cat": "layer", "id": index, "name": layer.name, "pid": _PROCESS}
        common |= {"tid": _LAYER_TRACK}
        found.append({"ph": "b", "ts": round(start * unit, 6), "args": {"op": layer.op}, **common})
        found.append({"ph": "e", "ts": round(end * unit, 6), **common})
    return found
