"""One page that shows a run: `page/` filled with the run's figures, nothing loaded from outside.

The figures travel as gzipped JSON in base64, which is a tenth of the plain text; the page unpacks
them.
"""

import base64
import gzip
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xdsl_tpu.backend.asm.command_text import command_text
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.against import compare_layers
from xdsl_tpu.backend.report.flows import flows
from xdsl_tpu.backend.report.groups import Groups
from xdsl_tpu.backend.report.layers import NO_LAYER
from xdsl_tpu.backend.report.local_use import LocalUse, local_use
from xdsl_tpu.backend.report.perfetto import instruction
from xdsl_tpu.backend.report.waits import OTHER, Place, Queue, Waits, critical_path, waits
from xdsl_tpu.backend.report.work import work_of
from xdsl_tpu.backend.timing import Timeline
from xdsl_tpu.backend.timing.gdma_cost import transfer

PAGE = Path(__file__).with_name("page")
SCRIPTS = (
    *("format.js", "theme.js", "cover.js", "model.js", "summary.js", "tracks.js", "banks.js"),
    *("timeline.js", "table.js", "layers.js", "totals.js", "roofline.js", "compare.js"),
    *("graph_data.js", "graph.js"),
    *("panel.js", "link.js", "main.js"),
)
"""In the order in which they go into the page."""


def html_report(
    program: Program,
    timelines: Sequence[Timeline],
    chip: Chip,
    report: Mapping[str, Any],
    groups: Groups,
    against: tuple[str, Mapping[str, Any]] | None = None,
) -> str:
    """The page as text. `against` is another run's title and report, to compare with. There is one
    timeline for each core."""
    data = page_data(program, timelines, chip, report, groups, against)
    packed = gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0)
    scripts = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    parts = {
        "title": html.escape(f"{program.name} {program.quantize} on {chip.name}"),
        "style": (PAGE / "style.css").read_text(encoding="utf-8"),
        "script": scripts,
        "data": base64.b64encode(packed).decode(),
    }
    for key, text in parts.items():
        page = page.replace(f"<!-- {key} -->", text)
    return page


def page_data(
    program: Program,
    timelines: Sequence[Timeline],
    chip: Chip,
    report: Mapping[str, Any],
    groups: Groups,
    against: tuple[str, Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """What the page shows, as plain values: for every queue columns with one entry per command."""
    rows = [
        {
            **row,
            "group": groups.group_of.get(row["name"], 0),
            "boundary": groups.boundary(row["name"]),
        }
        for row in report["layers"]
    ]
    found = waits(program, timelines)
    path, _ = critical_path(timelines, found)
    columns = _Columns({str(row["name"]): index for index, row in enumerate(rows)})
    queues: dict[str, dict[str, Any]] = {}
    cores: list[dict[str, Any]] = []
    for number, (core, timeline) in enumerate(zip(program.cores, timelines, strict=True)):
        use = local_use(core, timeline, chip)
        names = {engine.name.lower(): _name((number, engine)) for engine in Engine}
        cores.append({**names, "local": {"times": use.times, "bytes": use.bytes}})
        for engine in Engine:
            queues[_name((number, engine))] = {
                "core": number,
                "engine": engine.name.lower(),
                "other": _name((number, OTHER[engine])),
                **columns.of(engine, core, timeline, chip, use),
                **_waited(found[number, engine]),
            }
    owners = [
        {engine: columns.owners(engine, core, timeline) for engine in Engine}
        for core, timeline in zip(program.cores, timelines, strict=True)
    ]
    compared = None
    if against is not None:
        title, other = against
        kept = ("model", "chip", "quantize", "cycles", "milliseconds", "usage", "gdma")
        compared = {"title": title, **{key: other[key] for key in kept}}
        compared["layers"] = compare_layers(report, other)
    return {
        "report": {**report, "layers": rows},
        "chip": _chip(chip),
        "cores": cores,
        "queues": queues,
        "critical": {
            name: [place.number for place in path if _name((place.core, place.engine)) == name]
            for name in queues
        },
        "instructions": list(columns.instructions),
        "flows": _flows(program, timelines, chip, owners),
        "against": compared,
    }


@dataclass
class _Columns:
    """Events as columns; `rows` numbers layers by name, `instructions` numbers themselves."""

    rows: dict[str, int]
    instructions: dict[str, int] = field(default_factory=dict[str, int])

    def of(
        self, engine: Engine, program: Program, timeline: Timeline, chip: Chip, use: LocalUse
    ) -> dict[str, list[Any]]:
        events = timeline.events[engine]
        queue = program.queue(engine)
        commands = [queue[event.position] for event in events]
        columns: dict[str, list[Any]] = {
            "start": [event.start for event in events],
            "cycles": [event.cycles for event in events],
            "layer": self.owners(engine, program, timeline),
            "instruction": [self._number(instruction(command)) for command in commands],
            "text": [command_text(command) for command in commands],
            "reads": use.reads[engine],
            "writes": use.writes[engine],
        }
        if engine is Engine.TIU:
            shares = (work_of(c, chip).array_cycles for c in commands)
            columns["array"] = [round(share, 2) for share in shares]
        else:
            moved = [transfer(command, chip) for command in commands]
            columns["direction"] = [one.direction.value for one in moved]
            columns["bytes"] = [one.bytes for one in moved]
        return columns

    def owners(self, engine: Engine, program: Program, timeline: Timeline) -> list[int]:
        """The row of every event."""
        layers = program.layer_indices(engine)
        found = (layers[event.position] for event in timeline.events[engine])
        return [self.rows[program.layers[i].name if i >= 0 else NO_LAYER.name] for i in found]

    def _number(self, name: str) -> int:
        return self.instructions.setdefault(name, len(self.instructions))


def _name(queue: Queue) -> str:
    """What the page calls a queue: `tiu` and `gdma` of the first core, `tiu1` of the second."""
    core, engine = queue
    return f"{engine.name.lower()}{core or ''}"


def _waited(found: Waits) -> dict[str, Any]:
    """By index what an event waits for on the other engine and, of those that await messages, on
    other cores; and which event it is that one starts behind, if not the one before it."""

    def place(one: Place) -> list[Any]:
        return [_name((one.core, one.engine)), one.number]

    return {
        "needed": found.needed,
        "awaits": [[index, list(map(place, some))] for index, some in found.awaited.items()],
        "behind": [[index, *place(one)] for index, one in found.behind.items()],
    }


def _flows(
    program: Program,
    timelines: Sequence[Timeline],
    chip: Chip,
    owners: Sequence[Mapping[Engine, list[int]]],
) -> dict[str, Any]:
    """What layers read of each other, and the ends of the network."""
    ends = {"inputs": program.inputs, "outputs": program.outputs}
    return flows(program, timelines, chip, owners).as_dict() | {
        key: [{"name": one.name, "bytes": one.bytes} for one in tensors]
        for key, tensors in ends.items()
    }


def _chip(chip: Chip) -> dict[str, Any]:
    return {
        "name": chip.name,
        "clock_hertz": chip.clock_hertz,
        "banks": chip.banks,
        "bank_bytes": chip.bank_bytes,
        "local_bytes": chip.local_bytes,
        "load": chip.load_bytes_per_cycle,
        "store": chip.store_bytes_per_cycle,
        "copy": chip.copy_bytes_per_cycle,
        "array_peak": {
            "F32": chip.array_peak(4),
            "F16": chip.array_peak(2),
            "BF16": chip.array_peak(2),
            "INT8": chip.array_peak(1),
        },
        "vector_peak": {
            "F32": chip.lanes * chip.eu(4),
            "F16": chip.lanes * chip.eu(2),
            "BF16": chip.lanes * chip.eu(2),
            "INT8": chip.lanes * chip.eu(1),
        },
    }
