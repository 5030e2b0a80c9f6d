"""How a run's cycles divide: what the engines do at the same time, and what no schedule beats."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.work import work_of
from xdsl_tpu.backend.timing import Timeline
from xdsl_tpu.backend.timing.gdma_cost import address


@dataclass(frozen=True, slots=True)
class Usage:
    """Cycles in which both engines work, only one of them does, or none.

    They sum to the run's cycles; of several cores they are means. `exposed_dma` is what faster or
    better hidden transfers could save at most.
    """

    both: int
    exposed_dma: int
    exposed_compute: int
    idle: int


@dataclass(frozen=True, slots=True)
class Floor:
    """Cycles that no order of commands is faster than.

    `array`: the multiply-accumulates at the array's peak. `compute`: the program's TIU commands
    back to back. `ddr`: coefficients, inputs and outputs moved once, at the peak rates; of tables
    the rows that are looked up. `dma`: the program's GDMA commands back to back. Of several cores
    the first and third are as if shared out evenly, each core with all of DDR's rate; the others
    are of the core that has most.
    """

    array: int
    compute: int
    ddr: int
    dma: int


def usage(timelines: Sequence[Timeline]) -> Usage:
    """Divide the cycles of a run; one timeline for each core."""
    cores = [core_usage(timeline) for timeline in timelines]
    both, dma, compute = (
        sum(part) // len(cores)
        for part in zip(
            *((one.both, one.exposed_dma, one.exposed_compute) for one in cores), strict=True
        )
    )
    return Usage(both, dma, compute, timelines[0].total - both - dma - compute)


def core_usage(timeline: Timeline) -> Usage:
    """Divide the cycles of one core. The commands of one engine never overlap."""
    both = 0
    gdma = timeline.events[Engine.GDMA]
    at = 0
    for event in timeline.events[Engine.TIU]:
        end = event.start + event.cycles
        while at < len(gdma) and gdma[at].start + gdma[at].cycles <= event.start:
            at += 1
        index = at
        while index < len(gdma) and gdma[index].start < end:
            other = gdma[index]
            both += min(end, other.start + other.cycles) - max(event.start, other.start)
            index += 1
    tiu, dma = timeline.busy[Engine.TIU], timeline.busy[Engine.GDMA]
    return Usage(both, dma - both, tiu - both, timeline.total - tiu - dma + both)


def floor(program: Program, timelines: Sequence[Timeline], chip: Chip) -> Floor:
    """The bounds of a program; one timeline for each core."""
    cores = len(timelines)
    array = sum(
        work_of(command, chip).array_cycles for core in program.cores for command in core.tiu
    )
    loaded = coefficient_bytes(program, chip) + sum(tensor.bytes for tensor in program.inputs)
    stored = sum(tensor.bytes for tensor in program.outputs)
    ddr = loaded / chip.load_bytes_per_cycle + stored / chip.store_bytes_per_cycle
    compute, dma = (max(one.busy[engine] for one in timelines) for engine in Engine)
    return Floor(math.ceil(array / cores), compute, math.ceil(ddr / cores), dma)


def coefficient_bytes(program: Program, chip: Chip) -> int:
    """Bytes of coefficients that must be loaded: of tables that are only gathered from, rows."""
    start = program.coefficient_address
    held = range(start, start + program.coefficients.size)
    gathers: list[tuple[int, int, int]] = []
    read: set[int] = set()
    for command in (command for core in program.cores for command in core.gdma):
        if "src" not in command.form.operands:
            continue
        if command.form.family != "DMA_gather":
            read.add(address(command, "src"))
        elif address(command, "src") in held:
            table, _, rows = accesses(command, chip)
            last = sum((n - 1) * step for n, step in zip(table.shape, table.strides, strict=True))
            end = table.address + (last + 1) * table.size
            gathers.append((table.address, end, math.prod(rows.shape) * rows.size))
    spared, reached = 0, [0, 0, 0]
    for first, end, moved in (*sorted(gathers), (held.stop, held.stop, 0)):
        if first >= reached[1]:  # the next table
            at, stop, gathered = reached
            if not any(at <= one < stop for one in read):
                spared += max(0, stop - at - gathered)
            reached = [first, end, moved]
        else:
            reached = [reached[0], max(reached[1], end), reached[2] + moved]
    return held.stop - start - spared
