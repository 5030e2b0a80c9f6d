"""Which layers the time goes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Layer, Program
from xdsl_tpu.backend.report.waits import critical_path, waits
from xdsl_tpu.backend.report.work import Work, work_of
from xdsl_tpu.backend.timing import Direction, Timeline
from xdsl_tpu.backend.timing.gdma_cost import transfer


@dataclass
class LayerCost:
    """A layer's share of a run, in cycles.

    `elapsed` is by how much the layer's commands moved the end of the run; over all layers it
    sums to the total. `tiu` and `gdma` are how long it kept each engine busy.
    """

    layer: Layer
    elapsed: int = 0
    tiu: int = 0
    gdma: int = 0
    commands: int = 0


NO_LAYER = Layer("(no layer)", "")
_TRANSFERS = ("tpu.Load", "tpu.Store")


def layer_costs(program: Program, timeline: Timeline) -> list[LayerCost]:
    """The cost of every layer, in program order."""
    costs = [LayerCost(layer) for layer in program.layers]
    rest = LayerCost(NO_LAYER)
    events = [event for engine in Engine for event in timeline.events[engine]]
    reached = 0
    for event in sorted(events, key=lambda e: e.start + e.cycles):
        index = program.layer_indices(event.engine)[event.position]
        cost = costs[index] if index >= 0 else rest
        end = event.start + event.cycles
        cost.elapsed += max(0, end - reached)
        reached = max(reached, end)
        cost.commands += 1
        if event.engine is Engine.TIU:
            cost.tiu += event.cycles
        else:
            cost.gdma += event.cycles
    return [*costs, rest] if rest.commands else costs


@dataclass
class LayerRow:
    """All a run did under one layer name: the slices of a layer, its loads and its store.

    Cycles as in `LayerCost`; `critical` are those of its commands on the critical path; `bytes`
    by direction; `macs`, `operations` and `array_cycles` as in `Work`, summed.
    """

    name: str
    op: str
    cycles: int = 0
    tiu: int = 0
    gdma: int = 0
    commands: int = 0
    critical: int = 0
    bytes: dict[Direction, int] = field(default_factory=dict[Direction, int])
    macs: int = 0
    operations: int = 0
    array_cycles: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a report."""
        return {
            "name": self.name,
            "op": self.op,
            "cycles": self.cycles,
            "bdc_cycles": self.tiu,
            "gdma_cycles": self.gdma,
            "commands": self.commands,
            "critical_cycles": self.critical,
            "bytes": {d.value: self.bytes.get(d, 0) for d in REPORTED},
            "macs": self.macs,
            "operations": self.operations,
            "array_cycles": round(self.array_cycles, 3),
        }

    def add(self, work: Work) -> None:
        """Count a command's arithmetic."""
        self.macs += work.macs
        self.operations += work.operations
        self.array_cycles += work.array_cycles


REPORTED = (Direction.LOAD, Direction.STORE, Direction.COPY)
"""The directions that use DDR."""


def layer_rows(program: Program, timeline: Timeline, chip: Chip) -> list[LayerRow]:
    """One row for every layer name with commands, in program order."""
    rows: dict[str, LayerRow] = {}
    for cost in layer_costs(program, timeline):
        if not cost.commands:
            continue
        row = rows.setdefault(cost.layer.name, LayerRow(cost.layer.name, cost.layer.op))
        if row.op in _TRANSFERS:
            row.op = cost.layer.op
        row.cycles += cost.elapsed
        row.tiu += cost.tiu
        row.gdma += cost.gdma
        row.commands += cost.commands
    _add_commands(program, timeline, chip, rows)
    for engine, index in critical_path(timeline, waits(program, timeline))[0]:
        event = timeline.events[engine][index]
        owner = program.layer_indices(engine)[event.position]
        name = program.layers[owner].name if owner >= 0 else NO_LAYER.name
        rows[name].critical += event.cycles
    return list(rows.values())


def _add_commands(
    program: Program, timeline: Timeline, chip: Chip, rows: Mapping[str, LayerRow]
) -> None:
    for engine in Engine:
        queue, layers = program.queue(engine), program.layer_indices(engine)
        for event in timeline.events[engine]:
            index = layers[event.position]
            row = rows[program.layers[index].name if index >= 0 else NO_LAYER.name]
            command = queue[event.position]
            if engine is Engine.TIU:
                row.add(work_of(command, chip))
                continue
            moved = transfer(command, chip)
            row.bytes[moved.direction] = row.bytes.get(moved.direction, 0) + moved.bytes
