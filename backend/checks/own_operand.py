"""A result that lies over its own command's operands and is written before they are read.

Results may overlap operands: element by element in place, a cast to a narrower type or a sum over
rows from the same address on. Recorded programs do all of that, and it is safe as long as every
byte has been read when it is written, the elements of the result taken in order: n, groups of
channels, h, w, all lanes at once. Where that fails, the outcome depends on how far the chip reads
ahead.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.checks.finding import Fault
from xdsl_tpu.backend.checks.intervals import Intervals
from xdsl_tpu.backend.checks.placement import Problem
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.operands.region import Region, regions

_Axes = tuple[npt.NDArray[np.int64], ...]

_NEVER = np.iinfo(np.int64).max
_MOST_ELEMENTS = 1 << 22


def own_operand_problems(
    command: Command, found: Sequence[Access], chip: Chip
) -> Iterator[Problem]:
    """What a command with well-placed operands overwrites of them too early, in words."""
    for result in (access for access in found if access.writes):
        for operand in found:
            if operand.writes or operand.local != result.local or _in_place(operand, result):
                continue
            if result.local:
                text = _local_problem(command, operand, result, chip)
            else:
                text = _linear_problem(regions(operand, chip), regions(result, chip))
            if text is not None:
                yield Fault.OVERLAP, f"{result.operand} overwrites {operand.operand}: {text}"


def _in_place(operand: Access, result: Access) -> bool:
    """Every element over itself (a result that is added to is its own operand, too)."""
    return (operand.address, operand.shape, operand.strides, operand.size) == (
        result.address,
        result.shape,
        result.strides,
        result.size,
    )


def _linear_problem(read: Sequence[Region], written: Sequence[Region]) -> str | None:
    """Transfers are not in order: no byte may be both source and destination."""
    start, end = min(r.start for r in read), max(r.end for r in read)
    if all(region.end <= start or end <= region.start for region in written):
        return None
    others = Intervals()
    for region in written:
        others.add(region)
    count = sum(math.prod(region.sizes) * region.run for region in read)
    count -= sum(m.count for region in read if (m := others.missing(region)) is not None)
    return f"{count} bytes of DDR from {start:#x} on are both" if count else None


def _local_problem(command: Command, operand: Access, result: Access, chip: Chip) -> str | None:
    (start, end), (first, last) = _span(operand, chip), _span(result, chip)
    low, high = max(start, first), min(end, last)
    if low >= high:
        return None
    if max(map(math.prod, (operand.shape, result.shape))) > chip.lanes * _MOST_ELEMENTS:
        return "their elements are too many to follow"
    steps = _steps(result, chip)
    uses = _last_uses(command, operand, result, chip)
    for lane in _lanes_apart(operand, result, chip):
        written = _marks(result, steps, lane, chip, first=True)[low:high]
        read = _marks(operand, uses, lane, chip, first=False)[low:high]
        (early,) = np.nonzero(written < read)
        if early.size:
            where = f"{low + int(early[0]):#x} to {low + int(early[-1]):#x} of lane {lane}"
            return f"{early.size} bytes in {where} are written before they are read"
    return None


def _span(access: Access, chip: Chip) -> tuple[int, int]:
    """The first byte of its lanes that an operand has, and the one behind the last."""
    lane, offset = divmod(access.address, chip.local_bytes)
    n, c, h, w = access.shape
    loops = zip((n, (lane + c - 1) // chip.lanes + 1, h, w), access.strides, strict=True)
    return offset, offset + (sum((n - 1) * step for n, step in loops) + 1) * access.size


def _lanes_apart(operand: Access, result: Access, chip: Chip) -> list[int]:
    """A lane of every kind: those from one on to the next hold the same groups of channels."""
    borders = {0}
    for access in (operand, result):
        lane = access.address // chip.local_bytes
        borders |= {lane, (lane + access.shape[1]) % chip.lanes}
    return sorted(borders)


def _steps(result: Access, chip: Chip) -> _Axes:
    """When each index of the result is written, as parts of a number that grows in order."""
    n, c, h, w = result.shape
    lane = result.address // chip.local_bytes
    groups = (lane + np.arange(c, dtype=np.int64)) // chip.lanes
    steps = (np.arange(n) * (int(groups[-1]) + 1), groups)
    return *(part * h * w for part in steps), np.arange(h) * w, np.arange(w)


def _last_uses(command: Command, operand: Access, result: Access, chip: Chip) -> _Axes:
    """When each index of an operand is read for the last time, in the parts of `_steps`."""
    if not operand.in_step:
        return tuple(np.full(size, _NEVER // 8) for size in operand.shape)
    steps = _steps(result, chip)
    if command.form.family == "PorD":
        windows = (_last_windows(command, axis, operand, result) for axis in (2, 3))
        return *steps[:2], *(step[at] for step, at in zip(steps[2:], windows, strict=True))
    return tuple(
        step if step.size == size else np.full(size, step[-1])
        for step, size in zip(steps, operand.shape, strict=True)
    )


def _last_windows(
    command: Command, axis: int, operand: Access, result: Access
) -> npt.NDArray[np.int64]:
    """The last row (axis 2) or column (3) of the result that reads each one of the operand."""
    step, before = (("y", "up"), ("x", "lf"))[axis - 2]
    at = np.arange(operand.shape[axis]) * (command[f"opd0_{step}_ins0"] + 1)
    stride = max(1, command[f"res_op_{step}_str"])
    return np.minimum((at + command[f"opd0_{before}_pad"]) // stride, result.shape[axis] - 1)


def _marks(
    access: Access, axes: _Axes, lane: int, chip: Chip, first: bool
) -> npt.NDArray[np.int64]:
    """For each byte of a lane the first or last time of an element there; never where none is."""
    start, offset = divmod(access.address, chip.local_bytes)
    n, c, h, w = (np.arange(size) for size in access.shape)
    c = c[(start + c) % chip.lanes == lane]
    indices = (n, (start + c) // chip.lanes, h, w)
    places = np.full(1, offset)
    times = np.zeros(1, np.int64)
    for index, step, axis in zip(
        indices, access.strides, (axes[0], axes[1][c], *axes[2:]), strict=True
    ):
        places = np.add.outer(places, index * step * access.size).ravel()
        times = np.add.outer(times, axis).ravel()
    marks = np.full(chip.local_bytes, _NEVER if first else -1)
    fold = np.minimum if first else np.maximum
    for byte in range(access.size):
        fold.at(marks, places + byte, times)
    return marks
