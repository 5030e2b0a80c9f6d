"""Where operands lie: alignment, lanes, the ends of the memories, the parts of DDR."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.checks.finding import Fault
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.instruction import Lane
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.program import Program


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the linear address space that a program may use."""

    name: str
    start: int
    size: int
    readable: bool = True
    writable: bool = True

    @property
    def end(self) -> int:
        """The address behind the last byte."""
        return self.start + self.size

    def holds(self, start: int, end: int) -> bool:
        """Whether all bytes from `start` up to `end` are inside."""
        return self.start <= start and end <= self.end


def segments_of(program: Program, chip: Chip) -> list[Segment]:
    """Coefficients, arena, where inputs and outputs lie apart, those elsewhere, static memory, L2
    memory."""
    coefficients = program.coefficients.nbytes
    found = [
        Segment("coefficients", program.coefficient_address, coefficients, writable=False),
        Segment("arena", program.arena_address, program.arena_bytes),
        Segment("inputs and outputs", program.io_address, program.io_bytes),
        Segment("static memory", chip.static_base, chip.static_bytes, writable=False),
        Segment("L2 memory", chip.l2_base, chip.l2_bytes),
    ]
    for tensor in (*program.inputs, *program.outputs):
        if not any(s.holds(tensor.address, tensor.address + tensor.bytes) for s in found):
            found.append(Segment(f"tensor '{tensor.name}'", tensor.address, tensor.bytes))
    return [segment for segment in found if segment.size]


def overlap_problems(program: Program, segments: Sequence[Segment]) -> Iterator[tuple[Fault, str]]:
    """The arena, inputs and outputs of a program where its coefficients are.

    An output wholly within the coefficients is one of them: a constant result.
    """
    fixed = [segment for segment in segments if not segment.writable]
    parts = [
        Segment("arena", program.arena_address, program.arena_bytes),
        Segment("place of inputs and outputs", program.io_address, program.io_bytes),
    ]
    parts += [Segment(f"input '{t.name}'", t.address, t.bytes) for t in program.inputs]
    parts += [
        Segment(f"output '{t.name}'", t.address, t.bytes)
        for t in program.outputs
        if not any(s.holds(t.address, t.address + t.bytes) for s in fixed[:1])
    ]
    for part in parts:
        for other in fixed:
            if part.size and _overlap(other, part.start, part.end):
                yield (
                    Fault.COEFFICIENTS,
                    f"the {part.name} from {part.start:#x} to {part.end - 1:#x} is over the "
                    f"{other.name} from {other.start:#x} to {other.end - 1:#x}",
                )


def segment_problems(segments: Sequence[Segment], chip: Chip) -> Iterator[tuple[Segment, str]]:
    """Parts of a program that no memory of the chip holds."""
    memories = (
        *(Segment("DDR", start, chip.ddr_bytes) for start in chip.ddr_windows),
        Segment("static memory", chip.static_base, chip.static_bytes),
        Segment("L2 memory", chip.l2_base, chip.l2_bytes),
    )
    for segment in segments:
        if not any(memory.holds(segment.start, segment.end) for memory in memories):
            yield (
                segment,
                f"the {segment.name} from {segment.start:#x} to {segment.end - 1:#x} "
                f"is in no memory of {chip.name}",
            )


Problem = tuple[Fault, str]


def access_problems(access: Access, segments: Sequence[Segment], chip: Chip) -> Iterator[Problem]:
    """What is wrong with the place of one operand."""
    if min(access.shape) < 1:
        yield Fault.OUT_OF_RANGE, f"{access.operand} is empty: {list(access.shape)}"
        return
    if access.address % access.alignment:
        yield (
            Fault.MISALIGNED,
            f"{access.operand} at {_address(access)} must be aligned to {access.alignment} bytes",
        )
    yield from _local_range(access, chip) if access.local else _linear_range(access, segments, chip)


def _address(access: Access) -> str:
    return f"{'local address ' if access.local else ''}{access.address:#x}"


def _local_range(access: Access, chip: Chip) -> Iterator[Problem]:
    lane, offset = divmod(access.address, chip.local_bytes)
    if lane >= chip.lanes:
        yield (
            Fault.OUT_OF_RANGE,
            f"{access.operand} at {_address(access)} is on lane {lane} of {chip.lanes}",
        )
        return
    groups = (lane + access.shape[1] - 1) // chip.lanes + 1
    extents = (access.shape[0], groups, *access.shape[2:])
    last = sum((n - 1) * s for n, s in zip(extents, access.strides, strict=True))
    end = offset + (last + 1) * access.size
    if end > chip.local_bytes:
        yield (
            Fault.OUT_OF_RANGE,
            f"{access.operand} {list(access.shape)} at {_address(access)} ends at byte {end:#x} "
            f"of its lanes, which have {chip.local_bytes:#x}",
        )


def _linear_range(access: Access, segments: Sequence[Segment], chip: Chip) -> Iterator[Problem]:
    start, end = _hull(access)
    bytes_ = f"bytes {start:#x} to {end - 1:#x}"
    verb = "writes" if access.writes else "reads"
    if access.writes:
        touched = next((s for s in segments if not s.writable and _overlap(s, start, end)), None)
        if touched is not None:
            yield Fault.COEFFICIENTS, f"it writes {bytes_}, which are in the {touched.name}"
            return
    if any(s.holds(start, end) for s in segments):
        return
    limits = ", ".join(f"{s.name} {s.start:#x} to {s.end - 1:#x}" for s in segments)
    yield Fault.OUTSIDE, f"it {verb} {bytes_}, which are in no part of the program ({limits})"


def _hull(access: Access) -> tuple[int, int]:
    """The first byte of an operand outside local memory, and the one behind the last."""
    last = sum((n - 1) * step for n, step in zip(access.shape, access.strides, strict=True))
    return access.address, access.address + (last + 1) * access.size


def _overlap(segment: Segment, start: int, end: int) -> bool:
    return start < segment.end and segment.start < end


def lane_problems(command: Command, found: Sequence[Access], chip: Chip) -> Iterator[Problem]:
    """Operands of the lanes' units start on the lane of the result, the matrix unit's on lane 0."""
    lanes = command.instruction.lanes
    names = list(dict.fromkeys(a.operand for a in found if a.local))
    if lanes is Lane.ANY or "res0" not in names:
        return
    expected = 0 if lanes is Lane.FIRST else command["res0_addr"] >> chip.lane_shift
    for name in names:
        address = next(a.address for a in found if a.operand == name)
        lane = address >> chip.lane_shift
        if lane != expected:
            yield Fault.LANE, f"{name} starts on lane {lane}, it must start on lane {expected}"
