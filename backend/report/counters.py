"""Figures over time, as step functions: what a trace shows below the engines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.work import work_of
from xdsl_tpu.backend.timing import Direction, Event, Timeline
from xdsl_tpu.backend.timing.gdma_cost import transfer


@dataclass(frozen=True, slots=True)
class Steps:
    """From cycle `times[i]` on the figure is `values[i]`; before the first it is 0."""

    times: list[int]
    values: list[float]

    def integral(self) -> float:
        """The sum over all cycles up to the last step."""
        spans = zip(self.times, self.times[1:], self.values, strict=False)
        return sum((end - start) * value for start, end, value in spans)


def ddr_bandwidth(program: Program, timeline: Timeline, chip: Chip) -> dict[Direction, Steps]:
    """Bytes per cycle that move from DDR, to DDR and within it; a transfer spreads evenly.

    The few bytes of a transfer that takes no cycle have no rate and are left out.
    """
    rates: dict[Direction, list[tuple[Event, float]]] = {
        d: [] for d in (Direction.LOAD, Direction.STORE, Direction.COPY)
    }
    for event in timeline.events[Engine.GDMA]:
        moved = transfer(program.gdma[event.position], chip)
        if moved.direction in rates and event.cycles:
            rates[moved.direction].append((event, moved.bytes / event.cycles))
    return {direction: _steps(found) for direction, found in rates.items()}


def array_utilisation(program: Program, timeline: Timeline, chip: Chip) -> Steps:
    """The share of the array's multiply-accumulates that are used, 0 to 1.

    Commands that take no cycle are left out.
    """
    return _steps(
        (event, work_of(program.tiu[event.position], chip).array_cycles / event.cycles)
        for event in timeline.events[Engine.TIU]
        if event.cycles
    )


def together(parts: Sequence[Steps]) -> Steps:
    """The sum of several figures."""
    changes: dict[int, float] = {}
    for one in parts:
        before = 0.0
        for time, value in zip(one.times, one.values, strict=True):
            changes[time] = changes.get(time, 0.0) + value - before
            before = value
    found, value = Steps([], []), 0.0
    for time in sorted(changes):
        value += changes[time]
        _add(found, time, value)
    return found


def _steps(found: Iterable[tuple[Event, float]]) -> Steps:
    """Values of events that do not overlap, in order; 0 between them. Equal steps join."""
    steps = Steps([], [])
    end = 0
    for event, value in found:
        if event.start != end:
            _add(steps, end, 0.0)
        _add(steps, event.start, value)
        end = event.start + event.cycles
    _add(steps, end, 0.0)
    return steps


def _add(steps: Steps, time: int, value: float) -> None:
    if value != (steps.values[-1] if steps.values else 0.0):
        steps.times.append(time)
        steps.values.append(value)
