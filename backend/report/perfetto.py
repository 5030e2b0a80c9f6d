"""A timeline in the Trace Event format, which Perfetto and chrome://tracing open.

A core is a process: one track per engine, one for the layers of each, and counters: DDR bandwidth,
use of the array, local memory in use. Of several cores arrows lead from where a message is sent to
the command that awaits it, and a process more has the bandwidth of all. Times are microseconds at
the chip's clock.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.counters import array_utilisation, ddr_bandwidth, together
from xdsl_tpu.backend.report.local_use import local_use
from xdsl_tpu.backend.report.waits import Place, Queue, Waits, event_at, waits
from xdsl_tpu.backend.timing import Event, Timeline
from xdsl_tpu.backend.timing.gdma_cost import transfer

_TRACKS = {Engine.TIU: 1, Engine.GDMA: 2}
_LAYER_TRACKS = {Engine.TIU: 3, Engine.GDMA: 4}
_PROCESS = 1


def trace(program: Program, timelines: Sequence[Timeline], chip: Chip) -> str:
    """The trace as JSON text. One timeline for each core."""
    events: list[dict[str, Any]] = []
    found = waits(program, timelines)
    for number, (core, line) in enumerate(zip(program.cores, timelines, strict=True)):
        name = "1 core" if len(timelines) == 1 else f"core {number} of {len(timelines)}"
        own = {engine: found[number, engine].awaited for engine in Engine}
        title = f"{program.name} on {chip.name} ({name})"
        made = _core_events(core, line, chip, title, own)
        events += [{**event, "pid": _PROCESS + number} for event in made]
    if len(timelines) > 1:
        events += _messages(timelines, found, chip)
        events += _shared_ddr(program, timelines, chip, _PROCESS + len(timelines))
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def _core_events(
    program: Program,
    timeline: Timeline,
    chip: Chip,
    name: str,
    awaited: Mapping[Engine, Mapping[int, Sequence[Place]]],
) -> list[dict[str, Any]]:
    microseconds = 1e6 / chip.clock_hertz
    events: list[dict[str, Any]] = [
        _named("process_name", 0, name),
        _named("thread_name", _TRACKS[Engine.TIU], "TIU (BDC)"),
        _named("thread_name", _TRACKS[Engine.GDMA], "GDMA"),
        _named("thread_name", _LAYER_TRACKS[Engine.TIU], "layers (TIU)"),
        _named("thread_name", _LAYER_TRACKS[Engine.GDMA], "layers (GDMA)"),
    ]
    for engine in Engine:
        queue, layers = program.queue(engine), program.layer_indices(engine)
        for index, event in enumerate(timeline.events[engine]):
            command = queue[event.position]
            details = _details(command, event, chip)
            if places := awaited[engine].get(index):
                details["awaits"] = [f"core {one.core} {one.engine.name}" for one in places]
            layer = program.layers[layers[event.position]] if layers[event.position] >= 0 else None
            events.append(
                {
                    "name": f"{layer.name if layer else ''} {instruction(command)}".strip(),
                    "cat": layer.op if layer else "",
                    "args": {"id": event.position + 1, **details},
                    **_interval(_TRACKS[engine], event.start, event.cycles, microseconds),
                }
            )
    for engine in Engine:
        events += _layer_events(program, timeline, engine, microseconds)
    events += _counter_events(program, timeline, chip)
    return events


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


def _messages(
    timelines: Sequence[Timeline], found: Mapping[Queue, Waits], chip: Chip
) -> Iterator[dict[str, Any]]:
    """An arrow from the end of what a message is sent behind to the command that awaits it."""
    microseconds, number = 1e6 / chip.clock_hertz, 0
    for (core, engine), one in found.items():
        for index, places in one.awaited.items():
            to = event_at(timelines, Place(core, engine, index))
            for place in places:
                number += 1
                sender = event_at(timelines, place)
                common = {"name": "message", "cat": "message", "id": number}
                yield {
                    **common,
                    **{"ph": "s", "pid": _PROCESS + place.core, "tid": _TRACKS[place.engine]},
                    "ts": round((sender.start + max(0, sender.cycles - 1)) * microseconds, 6),
                }
                yield {
                    **common,
                    **{"ph": "f", "bp": "e", "pid": _PROCESS + core, "tid": _TRACKS[engine]},
                    "ts": round(to.start * microseconds, 6),
                }


def _shared_ddr(
    program: Program, timelines: Sequence[Timeline], chip: Chip, process: int
) -> Iterator[dict[str, Any]]:
    """What all cores move to and from DDR."""
    yield {**_named("process_name", 0, f"DDR of {len(timelines)} cores"), "pid": process}
    rates = [
        ddr_bandwidth(core, line, chip) for core, line in zip(program.cores, timelines, strict=True)
    ]
    for direction in rates[0]:
        steps = together([one[direction] for one in rates])
        for time, rate in zip(steps.times, steps.values, strict=True):
            yield {
                **{"ph": "C", "pid": process, "name": BANDWIDTH},
                "ts": round(time * 1e6 / chip.clock_hertz, 6),
                "args": {direction.value: round(rate * chip.clock_hertz / 1e9, 6)},
            }


def instruction(command: Command) -> str:
    """Form and function in words: `sAR.add`."""
    return f"{command.form.name}.{command.function_name}"


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


def _layer_events(
    program: Program, timeline: Timeline, engine: Engine, unit: float
) -> Iterator[dict[str, Any]]:
    """Each run of commands of one layer on an engine, from its first start to its last end.

    Engines work in order, so that runs do not overlap; asynchronous events, which may, would get
    a track for every name.
    """
    layers = program.layer_indices(engine)
    runs = groupby(timeline.events[engine], key=lambda event: layers[event.position])
    for index, run in runs:
        if index < 0:
            continue
        commands = list(run)
        start, last = commands[0].start, commands[-1]
        busy = sum(event.cycles for event in commands)
        yield {
            "name": program.layers[index].name,
            "cat": "layer",
            "args": {"op": program.layers[index].op, "commands": len(commands), "busy": busy},
            **_interval(_LAYER_TRACKS[engine], start, last.start + last.cycles - start, unit),
        }
