"""One page that shows a run: `page/` filled with the run's figures, nothing loaded from outside.

The figures travel as gzipped JSON in base64, which is a tenth of the plain text; the page unpacks
them.
"""

import base64
import gzip
import html
import json
from collections.abc import Mapping
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
from xdsl_tpu.backend.report.waits import Waits, critical_path, waits
from xdsl_tpu.backend.report.work import array_peak, work_of
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
    timeline: Timeline,
    chip: Chip,
    report: Mapping[str, Any],
    groups: Groups,
    against: tuple[str, Mapping[str, Any]] | None = None,
) -> str:
    """The page as text. `against` is another run's title and report, to compare with."""
    data = page_data(program, timeline, chip, report, groups, against)
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
    timeline: Timeline,
    chip: Chip,
    report: Mapping[str, Any],
    groups: Groups,
    against: tuple[str, Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """What the page shows, as plain values: columns with one entry per command."""
    rows = [
        {
            **row,
            "group": groups.group_of.get(row["name"], 0),
            "boundary": groups.boundary(row["name"]),
        }
        for row in report["layers"]
    ]
    use = local_use(program, timeline, chip)
    found = waits(program, timeline)
    path, _ = critical_path(timeline, found)
    columns = _Columns({str(row["name"]): index for index, row in enumerate(rows)})
    owners = {engine: columns.owners(engine, program, timeline) for engine in Engine}
    compared = None
    if against is not None:
        title, other = against
        kept = ("model", "chip", "quantize", "cycles", "milliseconds", "usage", "gdma")
        compared = {"title": title, **{key: other[key] for key in kept}}
        compared["layers"] = compare_layers(report, other)
    return {
        "report": {**report, "layers": rows},
        "chip": _chip(chip),
        "tiu": columns.of(Engine.TIU, program, timeline, chip, use)
        | {"needed": found[Engine.TIU].needed, "held": _numbers(found[Engine.TIU])},
        "gdma": columns.of(Engine.GDMA, program, timeline, chip, use)
        | {"needed": found[Engine.GDMA].needed, "held": _numbers(found[Engine.GDMA])},
        "critical": {
            engine.name.lower(): [index for one, index in path if one is engine]
            for engine in Engine
        },
        "instructions": list(columns.instructions),
        "flows": _flows(program, timeline, chip, owners),
        "local": {"times": use.times, "bytes": use.bytes},
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


def _numbers(found: Waits) -> list[int]:
    """Indices of the events that start behind one of the other engine."""
    return [index for index, held in enumerate(found.held) if held]


def _flows(
    program: Program, timeline: Timeline, chip: Chip, owners: Mapping[Engine, list[int]]
) -> dict[str, Any]:
    """What layers read of each other, and the ends of the network."""
    ends = {"inputs": program.inputs, "outputs": program.outputs}
    return flows(program, timeline, chip, owners).as_dict() | {
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
            "F32": array_peak(chip, 4),
            "F16": array_peak(chip, 2),
            "BF16": array_peak(chip, 2),
            "INT8": array_peak(chip, 1),
        },
        "vector_peak": {
            "F32": chip.lanes * chip.eu(4),
            "F16": chip.lanes * chip.eu(2),
            "BF16": chip.lanes * chip.eu(2),
            "INT8": chip.lanes * chip.eu(1),
        },
    }
