"""Which bytes each command of a run touches: what local memory in use and values are read off.

A lane stands for all: offsets within a lane, the union over the lanes of an operand. An operand
counts as the span from its first byte to its last.
"""

import math
import weakref
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.operands.region import Region, regions
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Event, Timeline
from xdsl_tpu.dialects.errors import TpuError

Span = tuple[int, int, int]
"""First byte within a lane, the one behind the last, on how many lanes."""

Run = dict[Engine, list["Footprint"]]


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the command of an event reads and writes: spans of local memory, regions of DDR."""

    event: Event
    read: tuple[Span, ...] = ()
    written: tuple[Span, ...] = ()
    loaded: tuple[Region, ...] = ()
    stored: tuple[Region, ...] = ()


def footprints(program: Program, timeline: Timeline, chip: Chip) -> Run:
    """Those of every event. Commands whose operands are not known touch nothing.

    Several figures of a run need them: they are kept while the timeline lives.
    """
    for reference, before, same, found in _KEPT:
        if reference() is timeline and before is program and same == chip:
            return found
    made = {
        engine: [footprint(event, program.queue(engine), chip) for event in timeline.events[engine]]
        for engine in Engine
    }
    _KEPT.append((weakref.ref(timeline, _forget), program, chip, made))
    return made


def _forget(gone: weakref.ref[Timeline]) -> None:
    _KEPT[:] = [one for one in _KEPT if one[0] is not gone]


_KEPT: list[tuple[weakref.ref[Timeline], Program, Chip, Run]] = []


def in_order(run: Run) -> list[Footprint]:
    """Those of both engines by the start of their commands, the shorter first."""
    every = [one for touched in run.values() for one in touched]
    return sorted(every, key=lambda one: (one.event.start, one.event.cycles))


def footprint(event: Event, queue: list[Command], chip: Chip) -> Footprint:
    """What the command of an event touches."""
    spans: tuple[list[Span], list[Span]] = ([], [])
    linear: tuple[list[Region], list[Region]] = ([], [])
    try:
        for access in accesses(queue[event.position], chip):
            if not all(access.shape):
                continue
            parts = regions(access, chip)
            if access.local:
                spans[access.writes].extend(_span(region, chip) for region in parts)
            else:
                linear[access.writes].extend(parts)
    except TpuError:
        return Footprint(event)
    (read, written), (loaded, stored) = spans, linear
    return Footprint(event, tuple(read), tuple(written), tuple(loaded), tuple(stored))


def _span(region: Region, chip: Chip) -> Span:
    low = region.start % chip.local_bytes
    loops = list(zip(region.sizes, region.steps, strict=True))
    within = sum((size - 1) * step for size, step in loops if step % chip.local_bytes)
    lanes = math.prod(size for size, step in loops if not step % chip.local_bytes)
    return low, min(low + within + region.run, chip.local_bytes), lanes
