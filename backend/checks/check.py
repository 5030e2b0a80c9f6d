"""All checks of a program, in one call."""

from xdsl_tpu.backend.checks.consistency import contradictions
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
    """
    segments = segments_of(program, chip)
    found = list(structure_findings(program))
    for segment, text in list(segment_problems(segments, chip)):
        found.append(Finding(Fault.OUTSIDE, Place(), text))
        segments.remove(segment)
    found += [Finding(fault, Place(), text) for fault, text in overlap_problems(program, segments)]
    touches: Touches = {engine: [] for engine in Engine}
    for engine in Engine:
        for position, command in enumerate(program.queue(engine)):
            touched, problems = _operands(command, segments, chip)
            touches[engine].append(touched)
            place = place_of(program, engine, position) if problems else None
            found += [Finding(fault, place, text) for fault, text in problems if place]
    hazards = Hazards(program, chip, segments, touches)
    found += hazards.findings()
    if not any(finding.fault is Fault.DEADLOCK for finding in found):
        found += deadlock_findings(program, hazards.done)
    return found


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
