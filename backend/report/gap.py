"""What a program's cycles are spent on, each on one cause: what lies between it and its floor.

A cycle in which the TIU works counts for what the TIU does, whatever is moved meanwhile; a cycle
in which only the GDMA works for what it moves; the rest is waiting. The causes sum to the run's
cycles, for every layer and in total.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import AR
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.backend.report.layers import NO_LAYER
from xdsl_tpu.backend.report.work import work_of
from xdsl_tpu.backend.timing import Direction, Event, Timeline
from xdsl_tpu.backend.timing.gdma_cost import address, transfer
from xdsl_tpu.dialects.interfaces.movement import Moves
from xdsl_tpu.dialects.tpu import Tpu


class Cause(Enum):
    """What a cycle is spent on."""

    ARRAY = "array"
    ZEROS = "array_zeros"
    SHAPE = "array_shape"
    VECTOR = "vector"
    REORDER = "reorder"
    WEIGHTS = "weights"
    ENDS = "inputs_outputs"
    SPILLS = "spills"
    MOVES = "moves"
    WAITING = "waiting"

    @property
    def text(self) -> str:
        """In words, for tables."""
        return _WORDS[self]


_WORDS = {
    Cause.ARRAY: "multiply-accumulates at the array's peak",
    Cause.ZEROS: "multiply-accumulates with zeros put into filters",
    Cause.SHAPE: "products whose sizes do not fill the array",
    Cause.VECTOR: "arithmetic outside the array",
    Cause.REORDER: "moving within local memory by the TIU",
    Cause.WEIGHTS: "loading weights while nothing is computed",
    Cause.ENDS: "loading inputs, storing outputs",
    Cause.SPILLS: "values stored and loaded again",
    Cause.MOVES: "moving values in DDR",
    Cause.WAITING: "neither engine works",
}

_MOVERS = frozenset(op.name for op in Tpu.operations if issubclass(op, Moves))
_COPIES = frozenset((AR.COPY, AR.COPY_MULTI_BATCH))
_REORDERS = frozenset(("TRANS_BC", "SG", "SGL"))


@dataclass
class Spent:
    """Cycles and bytes of DDR by cause, of one layer."""

    layer: Layer
    cycles: dict[Cause, float] = field(default_factory=dict[Cause, float])
    bytes: dict[Cause, int] = field(default_factory=dict[Cause, int])

    def add(self, cause: Cause, cycles: float, moved: int = 0) -> None:
        """Count a command, or a part of one."""
        if cycles:
            self.cycles[cause] = self.cycles.get(cause, 0) + cycles
        if moved:
            self.bytes[cause] = self.bytes.get(cause, 0) + moved


def spent(program: Program, timelines: Sequence[Timeline], chip: Chip) -> list[Spent]:
    """The cycles of a run by layer and cause, in program order; those of no layer come last.

    Waiting belongs to the layer whose command ends it. One timeline for each core; cycles are the
    mean of the cores', bytes their sum.
    """
    rows = [Spent(layer) for layer in (*program.layers, NO_LAYER)]
    places = _Places(program, timelines, chip)
    share = 1 / len(timelines)
    for core, timeline in zip(program.cores, timelines, strict=True):
        for event in timeline.events[Engine.TIU]:
            row = rows[core.tiu_layers[event.position]]
            _add_tiu(row, core.tiu[event.position], event.cycles * share, share, chip)
        for event, hidden in _hidden(timeline):
            row = rows[core.gdma_layers[event.position]]
            command = core.gdma[event.position]
            cause, moved = places.cause(event, command, row.layer.op, chip)
            row.add(cause, (event.cycles - hidden) * share, moved)
        for event, cycles in _waiting(timeline):
            row = rows[core.layer_indices(event.engine)[event.position]]
            row.add(Cause.WAITING, cycles * share)
        rows[-1].add(Cause.WAITING, _rest(timeline) * share)
    return [row for row in rows if row.cycles or row.bytes]


def _rest(timeline: Timeline) -> int:
    """How long a core has been done when the last one is."""
    ends = [one[-1].start + one[-1].cycles for one in timeline.events.values() if one]
    return timeline.total - max(ends, default=0)


def total(rows: list[Spent], cycles: int) -> dict[Cause, int]:
    """Cycles of a run by cause, whole ones that sum to `cycles`; what is left of rounding goes to
    the largest."""
    sums = {cause: sum(row.cycles.get(cause, 0) for row in rows) for cause in Cause}
    whole = {cause: int(value) for cause, value in sums.items()}
    largest = max(whole, key=lambda cause: whole[cause])
    whole[largest] += cycles - sum(whole.values())
    return whole


def _add_tiu(row: Spent, command: Command, cycles: float, share: float, chip: Chip) -> None:
    work = work_of(command, chip)
    if work.macs:
        array = min(cycles, work.array_cycles * share)
        zeros = array * (1 - (1 - row.layer.zeros) * (1 - work.spread))
        row.add(Cause.ARRAY, array - zeros)
        row.add(Cause.ZEROS, zeros)
        row.add(Cause.SHAPE, cycles - array)
    else:
        row.add(Cause.REORDER if _reorders(command, row.layer.op) else Cause.VECTOR, cycles)


def _reorders(command: Command, op: str) -> bool:
    family = command.form.family
    if family in _REORDERS or op in _MOVERS:
        return True
    return family == "AR" and command.function in _COPIES


class _Places:
    """What lies where in DDR.

    Values share bytes with an input once it was read, and with an output before it is written: a
    load is of an input until something is stored there, a store to an output when nothing is
    loaded from there afterwards.
    """

    def __init__(self, program: Program, timelines: Sequence[Timeline], chip: Chip) -> None:
        start = program.coefficient_address
        self.weights = range(start, start + program.coefficients.size)
        ends = [
            [_span(tensor) for tensor in tensors] for tensors in (program.inputs, program.outputs)
        ]
        late, early = _Moment(timelines[0].total + 1, 0), _Moment(-1, -1)
        self._inputs, self._outputs = dict.fromkeys(ends[0], late), dict.fromkeys(ends[1], early)
        for core, timeline in zip(program.cores, timelines, strict=True):
            for event in timeline.events[Engine.GDMA]:
                self._note(_moment(event), core.gdma[event.position], chip)

    def _note(self, moment: "_Moment", command: Command, chip: Chip) -> None:
        moved = transfer(command, chip)
        if not moved.bytes:
            return
        direction = moved.direction
        if direction in (Direction.STORE, Direction.COPY):
            for span in self._inputs:
                if address(command, "dst") in span:
                    self._inputs[span] = min(self._inputs[span], moment)
        if direction in (Direction.LOAD, Direction.COPY):
            for span in self._outputs:
                if address(command, "src") in span:
                    self._outputs[span] = max(self._outputs[span], moment)

    def cause(self, event: Event, command: Command, op: str, chip: Chip) -> tuple[Cause, int]:
        """What a transfer is for, and the bytes it moves to or from DDR."""
        moment = _moment(event)
        moved = transfer(command, chip)
        if not moved.bytes or op in _MOVERS:
            return Cause.MOVES, moved.bytes
        if moved.direction in (Direction.COPY, Direction.LOCAL):
            return Cause.MOVES, moved.bytes
        if moved.direction is Direction.STORE:
            to = address(command, "dst")
            ends = any(to in span and moment > last for span, last in self._outputs.items())
        else:
            at = address(command, "src")
            if at in self.weights:
                return Cause.WEIGHTS, moved.bytes
            ends = any(at in span and moment < first for span, first in self._inputs.items())
        return Cause.ENDS if ends else Cause.SPILLS, moved.bytes


class _Moment(NamedTuple):
    """What orders transfers: when they start; of those that start together, their place."""

    start: int
    position: int


def _moment(event: Event) -> _Moment:
    return _Moment(event.start, event.position)


def _span(tensor: IoTensor) -> range:
    return range(tensor.address, tensor.address + max(1, tensor.bytes))


def _hidden(timeline: Timeline) -> Iterator[tuple[Event, int]]:
    """Every transfer, and in how many of its cycles the TIU works."""
    tiu = timeline.events[Engine.TIU]
    first = 0
    for event in timeline.events[Engine.GDMA]:
        end = event.start + event.cycles
        while first < len(tiu) and tiu[first].start + tiu[first].cycles <= event.start:
            first += 1
        at, hidden = first, 0
        while at < len(tiu) and tiu[at].start < end:
            other = tiu[at]
            hidden += min(end, other.start + other.cycles) - max(event.start, other.start)
            at += 1
        yield event, hidden


def _waiting(timeline: Timeline) -> Iterator[tuple[Event, int]]:
    """The commands that begin after a time in which neither engine works, and how long it was."""
    events = [event for engine in Engine for event in timeline.events[engine]]
    reached = 0
    for event in sorted(events, key=lambda e: (e.start, -e.cycles)):
        if event.start > reached:
            yield event, event.start - reached
        reached = max(reached, event.start + event.cycles)
