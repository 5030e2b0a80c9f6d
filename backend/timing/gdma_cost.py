"""Cycles and bytes of GDMA commands, as the vendor's compiler estimates them.

Probed command by command against tpu-mlir 1.30.2 (docs/accuracy.md says how far). The estimate
is computed in single precision and rounded down, so a short transfer may take no cycle at all.
Everything that is not local memory counts as DDR, L2 memory, too.
"""

import math
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import ELEMENT_BYTES, DmaTensor
from xdsl_tpu.backend.isa.costs import Broadcast, EvenRate, Free, MatrixCopy, TensorCopy
from xdsl_tpu.backend.isa.terms import value_of
from xdsl_tpu.backend.tensor import Shape4
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.records import record


class Direction(Enum):
    """Where the bytes go."""

    LOAD = "load"
    STORE = "store"
    COPY = "ddr_to_ddr"
    LOCAL = "local_to_local"

    __hash__ = object.__hash__  # that of Enum is a function in Python, and keys are many


@record(frozen=True, slots=True)
class Side:
    """One side of a tensor transfer: sizes and element strides (n, c, h, w)."""

    local: bool
    sizes: Shape4
    strides: Shape4


@record(frozen=True, slots=True)
class Transfer:
    """What a GDMA command moves, as far as its cost needs it."""

    direction: Direction
    bytes: int
    cycles: int


_NOTHING = Transfer(Direction.COPY, 0, 0)
_LOCAL_SLOWDOWN = 2  # of gathers and their like from local to local memory


def transfer(command: Command, chip: Chip) -> Transfer:
    """Direction, bytes and cycles of a GDMA command (end marker: nothing).

    Raises TpuError for a form whose cost is not known.
    """
    cost = command.instruction.cost
    if isinstance(cost, Free):
        return _NOTHING
    formula = _FORMULAS.get(type(cost))
    if formula is None:
        raise TpuError(f"no cycle formula for {command.form.name} ({command.function_name})")
    return formula(command, chip, cost)


@record(frozen=True, slots=True)
class Rate:
    """Bytes per cycle of transfers one way, and the cycles before the first byte."""

    bytes_per_cycle: float
    start: int = 0


def _element_bytes(command: Command) -> int:
    """Bytes of an element; int4 is not moved as such."""
    code = command["src_data_format"]
    if code not in ELEMENT_BYTES:
        name = command.form.name
        raise TpuError(f"{name}: no cycle formula for src_data_format = {code}")
    return ELEMENT_BYTES[code]


def address(command: Command, side: str) -> int:
    """The absolute start address of the `src` or `dst` side."""
    return command.form.operands[side].address_in(command)


def _is_local(command: Command, side: str, chip: Chip) -> bool:
    return 0 <= address(command, side) - chip.local_base < chip.lanes * chip.local_bytes


def direction_of(command: Command, chip: Chip) -> Direction:
    """Load, store or copy, from the two addresses."""
    source = not _is_local(command, "src", chip)
    target = not _is_local(command, "dst", chip)
    if command["fill_constant_en"]:
        return Direction.STORE if target else Direction.LOAD
    if source and target:
        return Direction.COPY
    if source:
        return Direction.LOAD
    return Direction.STORE if target else Direction.LOCAL


def rate_of(direction: Direction, chip: Chip) -> Rate:
    """The rate of a direction on a chip."""
    if direction is Direction.LOAD:
        return Rate(chip.load_bytes_per_cycle, chip.load_start_cycles)
    if direction is Direction.STORE:
        return Rate(chip.store_bytes_per_cycle, chip.store_start_cycles)
    return Rate(chip.copy_bytes_per_cycle, chip.copy_start_cycles)


def _duration(size: int, rate: float, derate: float = 1.0) -> int:
    """Cycles of `size` bytes, rounded as single precision rounds."""
    return math.floor(np.float32(float(np.float32(size) / np.float32(rate)) * derate))


def _sizes(command: Command, side: str) -> Shape4:
    """Sizes of a side: the source's even where the target's differ, swapped where n and c are.

    Only a constant has no source, unless the source's sizes are said to be the target's, too.
    """
    has_source = not command["fill_constant_en"] or command["nchw_copy"]
    origin = "src" if has_source else "dst"
    n, c, h, w = (command[f"{origin}_{axis}size"] for axis in "nchw")
    swapped = side == "dst" and command.function == DmaTensor.TRANSPOSE_N_C
    return (c, n, h, w) if swapped else (n, c, h, w)


def _side(command: Command, side: str, chip: Chip) -> Side:
    sizes = _sizes(command, side)
    _, c, h, w = sizes
    local = _is_local(command, side, chip)
    if not command["stride_enable"]:
        n_stride = 0 if command.function == DmaTensor.TRANSPOSE_N_C else c * h * w
        return Side(local, sizes, (n_stride, h * w, w, 1))
    n_stride, c_stride, h_stride, w_stride = (command[f"{side}_{axis}stride"] for axis in "nchw")
    return Side(local, sizes, (n_stride, c_stride, h_stride, w_stride))


@record(frozen=True, slots=True)
class DdrLayout:
    """How consecutive bytes spread over the DDR channels; `window` bytes decide the share."""

    channels: int
    interleave: int
    window: int


def ddr_layout(chip: Chip) -> DdrLayout:
    """That of the chip."""
    return DdrLayout(chip.ddr_channels, chip.ddr_interleave_bytes, chip.ddr_channel_window_bytes)


@lru_cache(maxsize=4096)
def contiguous_run(side: Side) -> int:
    """Elements that lie one behind the other: a row, or the rows of a plane without gaps."""
    _, _, h, w = side.sizes
    if side.strides[3] != 1 and w > 1:
        return 1
    return h * w if h == 1 or side.strides[2] == w else w


@lru_cache(maxsize=4096)
def _touched(side: Side, width: int, layout: DdrLayout) -> frozenset[int]:
    """The DDR channels that the start of a transfer touches; `width` is bytes per element.

    Each plane of (n, c) counts from its start to h times the stride of a row, also where h is 1
    or the row is longer.
    """
    blocks = math.ceil(side.sizes[2] * side.strides[2] * width / layout.interleave)
    if blocks >= layout.channels:
        return frozenset(range(layout.channels))
    first = set[int]()
    for start in _starts(0, side.sizes[0], side.strides[0] * width, layout.window):
        planes = _starts(start, side.sizes[1], side.strides[1] * width, layout.window)
        if planes and planes.step <= layout.interleave:  # none of the blocks between is left out
            first.update(range(planes[0] // layout.interleave, planes[-1] // layout.interleave + 1))
        else:
            first.update(plane // layout.interleave for plane in planes)
        if len(first) == layout.window // layout.interleave:
            break
    return frozenset((one + block) % layout.channels for one in first for block in range(blocks))


def _starts(first: int, count: int, step: int, window: int) -> range:
    """Where `count` planes `step` bytes apart begin, up to the end of the window."""
    if not step:
        return range(first, first + min(count, 1))
    return range(first, min(first + count * step, window), step)


def channel_share(sides: Sequence[Side], width: int, layout: DdrLayout) -> float:
    """Share of the DDR channels that the `sides` in DDR spread over, 0 to 1; 1 without any.

    Of two sides the second counts with the channels of both: the estimate never forgets the
    first's.
    """
    share, touched = 1.0, frozenset[int]()
    for side in sides:
        touched |= _touched(side, width, layout)
        share *= len(touched) / layout.channels
    return share


def tensor_cycles(size: int, rate: Rate, run: int, share: float, chip: Chip) -> int:
    """Cycles of `size` bytes in runs of `run` bytes; none where no DDR channel is touched."""
    efficiency = min(1, run / chip.ddr_row_bytes) * share
    if not efficiency:
        return 0
    speed = rate.bytes_per_cycle * efficiency
    return rate.start + _duration(size, speed, chip.tensor_derate)


def shortest_cycles(direction: Direction, chip: Chip) -> int:
    """Cycles of moving one block of one DDR channel, in long runs: what a small transfer takes."""
    layout = ddr_layout(chip)
    share = 1 / layout.channels
    return tensor_cycles(
        layout.interleave, rate_of(direction, chip), chip.ddr_row_bytes, share, chip
    )


def matrix_cycles(size: int, rate: Rate, run: int, chip: Chip) -> int:
    """Cycles of `size` bytes in runs of `run` bytes where DDR channels do not count."""
    return rate.start + _duration(size, rate.bytes_per_cycle * min(1, run / chip.ddr_row_bytes))


def broadcast_cycles(size: int, run: int, chip: Chip) -> int:
    """Cycles of a load of `size` bytes, in runs of `run` bytes, into many lanes."""
    rate = rate_of(Direction.LOAD, chip)
    share = min(1, run / (chip.broadcast_row_bytes or chip.ddr_row_bytes))
    return rate.start + _duration(size, rate.bytes_per_cycle * share)


def _broadcast(command: Command, chip: Chip, cost: Broadcast) -> Transfer:
    width = _element_bytes(command)
    size = math.prod(_sizes(command, "src")) * width
    cycles = broadcast_cycles(size, _broadcast_run(command) * width, chip)
    return Transfer(direction_of(command, chip), size, cycles)


def _tensor(command: Command, chip: Chip, cost: TensorCopy) -> Transfer:
    direction = direction_of(command, chip)
    width = _element_bytes(command)
    size = math.prod(_sizes(command, "src")) * width
    source, target = _side(command, "src", chip), _side(command, "dst", chip)
    if command["fill_constant_en"]:  # at the rate of a load wherever it goes
        run = contiguous_run(target) * width
        rate = rate_of(Direction.LOAD, chip)
        return Transfer(direction, size, matrix_cycles(size, rate, run, chip))
    run = min(contiguous_run(side) for side in (source, target)) * width
    far = [side for side in (source, target) if not side.local]
    share = channel_share(far, width, ddr_layout(chip))
    cycles = tensor_cycles(size, rate_of(direction, chip), run, share, chip)
    return Transfer(direction, size, cycles)


def _broadcast_run(command: Command) -> int:
    """Rows join where both strides say so, and a stride that is not enabled is 0."""
    _, _, h, w = _sizes(command, "src")
    return h * w if command["src_hstride"] == command["dst_hstride"] == w else w


def _matrix(command: Command, chip: Chip, cost: MatrixCopy) -> Transfer:
    direction = direction_of(command, chip)
    width = _element_bytes(command)
    ddr, local = ("dst", "src") if direction is Direction.STORE else ("src", "dst")
    size = command[f"{ddr}_hsize"] * command[f"{ddr}_wsize"] * width
    share = chip.transpose_share if cost.transposed else 1
    run = command[f"{local}_wsize"] * width
    whole = rate_of(direction, chip)
    rate = Rate(whole.bytes_per_cycle * share, whole.start)
    cycles = matrix_cycles(size, rate, run, chip)
    return Transfer(direction, size, cycles)


def _even_rate(command: Command, chip: Chip, cost: EvenRate) -> Transfer:
    """What goes at one rate whatever its shape: half of it within local memory."""
    direction = direction_of(command, chip)
    elements = math.prod(value_of(term, command, chip) for term in cost.elements)
    size = elements * _element_bytes(command)
    rate = chip.gather_bytes_per_cycle
    if direction is Direction.LOCAL:
        rate /= _LOCAL_SLOWDOWN
    counted = elements * cost.position_bytes if cost.position_bytes else size
    start = rate_of(direction, chip).start
    return Transfer(direction, size, start + _duration(counted, rate))


_FORMULAS: dict[type, Callable[[Command, Chip, Any], Transfer]] = {
    Broadcast: _broadcast,
    EvenRate: _even_rate,
    MatrixCopy: _matrix,
    TensorCopy: _tensor,
}
