"""Which layers the time goes to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Layer, Program
from xdsl_tpu.backend.report.waits import critical_path, event_at, waits
from xdsl_tpu.backend.report.work import Work, work_of
from xdsl_tpu.backend.timing import Direction, Event, Timeline
from xdsl_tpu.backend.timing.gdma_cost import transfer


@dataclass
class LayerCost:
    """A layer's share of a run, in cycles.

    `elapsed` is by how much the layer's commands moved the end of the run; over all layers it
    sums to the total. `tiu` and `gdma` are how long it kept each engine busy, of several cores
    together.
    """

    layer: Layer
    elapsed: int = 0
    tiu: int = 0
    gdma: int = 0
    commands: int = 0


NO_LAYER = Layer("(no layer)", "")
_TRANSFERS = ("tpu.Load", "tpu.Store")


def layer_costs(program: Program, timelines: Sequence[Timeline]) -> list[LayerCost]:
    """The cost of every layer, in program order. One timeline for each core."""
    costs = [LayerCost(layer) for layer in program.layers]
    rest = LayerCost(NO_LAYER)
    events = list(_events(program, timelines))
    reached = 0
    for core, event in sorted(events, key=lambda one: one[1].start + one[1].cycles):
        index = core.layer_indices(event.engine)[event.position]
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


def _events(program: Program, timelines: Sequence[Timeline]) -> Iterator[tuple[Program, Event]]:
    """Those of all cores, each with the core whose queues it is in."""
    for core, timeline in zip(program.cores, timelines, strict=True):
        for engine in Engine:
            for event in timeline.events[engine]:
                yield core, event


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


def layer_rows(program: Program, timelines: Sequence[Timeline], chip: Chip) -> list[LayerRow]:
    """One row for every layer name with commands, in program order. One timeline for each core."""
    rows: dict[str, LayerRow] = {}
    for cost in layer_costs(program, timelines):
        if not cost.commands:
            continue
        row = rows.setdefault(cost.layer.name, LayerRow(cost.layer.name, cost.layer.op))
        if row.op in _TRANSFERS:
            row.op = cost.layer.op
        row.cycles += cost.elapsed
        row.tiu += cost.tiu
        row.gdma += cost.gdma
        row.commands += cost.commands
    for core, event in _events(program, timelines):
        _add_command(core, event, chip, rows)
    for place in critical_path(timelines, waits(program, timelines))[0]:
        event = event_at(timelines, place)
        rows[_owner(program.cores[place.core], event)].critical += event.cycles
    return list(rows.values())


def _add_command(core: Program, event: Event, chip: Chip, rows: Mapping[str, LayerRow]) -> None:
    row, command = rows[_owner(core, event)], core.queue(event.engine)[event.position]
    if event.engine is Engine.TIU:
        row.add(work_of(command, chip))
        return
    moved = transfer(command, chip)
    row.bytes[moved.direction] = row.bytes.get(moved.direction, 0) + moved.bytes


def _owner(core: Program, event: Event) -> str:
    """The name of the row that an event counts for."""
    index = core.layer_indices(event.engine)[event.position]
    return core.layers[index].name if index >= 0 else NO_LAYER.name
