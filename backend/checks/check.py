"""All checks of a program, in one call."""

from collections.abc import Iterator
from dataclasses import replace

from xdsl_tpu.backend.checks.consistency import contradictions
from xdsl_tpu.backend.checks.crossing import Crossings
from xdsl_tpu.backend.checks.finding import Fault, Finding, Place, place_of
from xdsl_tpu.backend.checks.hazards import Hazards, Touches
from xdsl_tpu.backend.checks.own_operand import own_operand_problems
from xdsl_tpu.backend.checks.placement import (
    Segment,
    access_problems,
    lane_problems,
    overlap_problems,
    segment_problems,
    segments_of,
)
from xdsl_tpu.backend.checks.shadow import Touch
from xdsl_tpu.backend.checks.structure import deadlock_findings, structure_findings
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.replay import replay_cores
from xdsl_tpu.backend.operands import Access, accesses
from xdsl_tpu.backend.operands.region import regions
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError


def check_program(program: Program, chip: Chip) -> list[Finding]:
    """Every mistake that can be seen from the commands alone; an empty list is a clean program.

    Looked for: ids out of sequence, missing end markers, deadlock; operands that are
    misaligned, on the wrong lane, beyond their memory, outside the program's part of DDR or over
    its coefficients; fields that contradict each other; reads of bytes that nothing wrote
    (coefficients, inputs and static memory count as written); bytes of local memory that both
    engines may touch at the same time, one of them writing; operands that the command itself
    overwrites before it has read them. Bytes that nothing wrote are reported
    where they are first used: copies and transpositions within local memory only pass them on.
    Of several cores each is looked at, and where they meet in DDR (`crossing`).
    """
    segments = segments_of(program, chip)
    found: list[Finding] = []
    for core, of in enumerate(program.cores):
        found += (_on_core(one, core) for one in structure_findings(of))
    for segment, text in list(segment_problems(segments, chip)):
        found.append(Finding(Fault.OUTSIDE, Place(), text))
        segments.remove(segment)
    found += [Finding(fault, Place(), text) for fault, text in overlap_problems(program, segments)]
    hazards: list[Hazards] = []
    for number, core in enumerate(program.cores):
        touches: Touches = {engine: [] for engine in Engine}
        for engine in Engine:
            for position, command in enumerate(core.queue(engine)):
                touched, problems = _operands(command, segments, chip)
                touches[engine].append(touched)
                place = place_of(core, engine, position) if problems else None
                lines = (Finding(fault, place, text) for fault, text in problems if place)
                found += (_on_core(one, number) for one in lines)
        hazards.append(Hazards(core, chip, segments, touches, hazards[0] if hazards else None))
    found += hazards[0].findings() if len(hazards) == 1 else _of_cores(program, segments, hazards)
    if not any(finding.fault is Fault.DEADLOCK for finding in found):
        for number, (core, one) in enumerate(zip(program.cores, hazards, strict=True)):
            found += (_on_core(line, number) for line in deadlock_findings(core, one.done))
    return found


def _on_core(finding: Finding, core: int) -> Finding:
    return replace(finding, place=replace(finding.place, core=core)) if core else finding


def _of_cores(
    program: Program, segments: list[Segment], hazards: list[Hazards]
) -> Iterator[Finding]:
    """What the order of the commands of several cores shows."""
    crossings = Crossings(program, segments, [one.touches[Engine.GDMA] for one in hazards])
    for core, engine, position in replay_cores([(one.tiu, one.gdma) for one in program.cores]):
        found = [*hazards[core].step(engine, position)]
        if engine is Engine.GDMA:
            found += crossings.step(core, position)
        yield from (_on_core(one, core) for one in found)
    if all(one.is_done for one in hazards):
        yield from hazards[0].outputs()


def _operands(
    command: Command, segments: list[Segment], chip: Chip
) -> tuple[list[Touch], list[tuple[Fault, str]]]:
    """What a command touches, and what is wrong with where; misplaced operands are left out."""
    try:
        found = accesses(command, chip)
    except TpuError as error:
        return [], [(Fault.UNKNOWN, str(error))]
    problems = list(lane_problems(command, found, chip))
    problems += [(Fault.CONTRADICTION, text) for text in contradictions(command, list(found), chip)]
    touched: list[Touch] = []
    placed: list[Access] = []
    for access in found:
        wrong = list(access_problems(access, segments, chip))
        problems += wrong
        if any(fault is not Fault.MISALIGNED for fault, _ in wrong):
            continue
        try:
            places = regions(access, chip)
        except TpuError as error:
            problems.append((Fault.UNKNOWN, str(error)))
            continue
        touched.append(Touch(access.operand, access.local, access.writes, places))
        placed.append(access)
    problems += own_operand_problems(command, placed, chip)
    return touched, problems
