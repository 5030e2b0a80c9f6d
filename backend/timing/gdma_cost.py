"""Cycles and bytes of GDMA commands: BM1684X cycle reference, section 4."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.tensor import Shape4
from xdsl_tpu.backend.timing.tiu_cost import element_bytes
from xdsl_tpu.dialects.errors import TpuError


class Direction(Enum):
    """Where the bytes go."""

    LOAD = "load"
    STORE = "store"
    COPY = "ddr_to_ddr"
    LOCAL = "local_to_local"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a tensor transfer: sizes and element strides (n, c, h, w)."""

    local: bool
    sizes: Shape4
    strides: Shape4


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a GDMA command moves, as far as its cost needs it."""

    direction: Direction
    bytes: int
    cycles: int


_CW_TRANSPOSES = (2, 4)
_NOTHING = Transfer(Direction.COPY, 0, 0)


def transfer(command: Command, chip: Chip) -> Transfer:
    """Direction, bytes and cycles of a GDMA command (end marker: nothing).

    Raises TpuError for a form whose cost is not known.
    """
    family = command.form.family
    if family == "DMA_sys":
        return _NOTHING
    cost = _FAMILIES.get(family)
    if cost is None:
        raise TpuError(f"no cycle formula for {command.form.name} ({command.function_name})")
    return cost(command, chip)


def address(command: Command, side: str) -> int:
    """The absolute start address of the `src` or `dst` side."""
    return command[f"{side}_start_addr_l32"] | command[f"{side}_start_addr_h8"] << 32


def direction_of(command: Command, chip: Chip) -> Direction:
    """Load, store or copy, from the two addresses."""
    source = address(command, "src") >= chip.ddr_base
    target = address(command, "dst") >= chip.ddr_base
    if command["fill_constant_en"]:
        return Direction.STORE if target else Direction.LOAD
    if source and target:
        return Direction.COPY
    if source:
        return Direction.LOAD
    return Direction.STORE if target else Direction.LOCAL


def _bandwidth(direction: Direction, chip: Chip) -> int:
    rates = {Direction.LOAD: chip.load_bytes_per_cycle, Direction.STORE: chip.store_bytes_per_cycle}
    return rates.get(direction, chip.copy_bytes_per_cycle)


def _sizes(command: Command, side: str) -> Shape4:
    if side == "dst" and command["nchw_copy"]:
        side = "src"
    return (
        command[f"{side}_nsize"],
        command[f"{side}_csize"],
        command[f"{side}_hsize"],
        command[f"{side}_wsize"],
    )


def _side(command: Command, side: str, chip: Chip) -> Side:
    sizes = _sizes(command, side)
    n, c, h, w = sizes
    if not command["stride_enable"]:
        return Side(address(command, side) < chip.ddr_base, (n, c, h, w), (c * h * w, h * w, w, 1))
    w_stride = 1 if command.function else command[f"{side}_wstride"]
    strides = (*(command[f"{side}_{axis}stride"] for axis in "nch"), w_stride)
    return Side(
        address(command, side) < chip.ddr_base,
        sizes,
        (strides[0], strides[1], strides[2], w_stride),
    )


@dataclass(frozen=True, slots=True)
class DdrLayout:
    """How consecutive bytes spread over the DDR channels; `window` bytes decide the share."""

    channels: int
    interleave: int
    window: int


@lru_cache(maxsize=4096)
def contiguous_run(side: Side, dimensions: int) -> int:
    """Elements that lie one behind the other, merging w and up to `dimensions` - 1 outer ones."""
    return _rows(side, dimensions)[0]


def _rows(side: Side, dimensions: int) -> tuple[int, list[int]]:
    """The run length in elements, and the axes along which the runs repeat."""
    if side.strides[3] != 1 and side.sizes[3] > 1:
        return 1, [0, 1, 2, 3]
    run = side.sizes[3]
    for axis in (2, 1, 0):
        if side.sizes[axis] == 1:
            continue
        if axis < 4 - dimensions or side.strides[axis] != run:
            return run, list(range(axis + 1))
        run *= side.sizes[axis]
    return run, []


@lru_cache(maxsize=4096)
def channel_share(side: Side, dimensions: int, width: int, layout: DdrLayout) -> float:
    """Share of the DDR channels that the start of a transfer spreads over, 1/4 to 1.

    `dimensions` is how many may join into one row (2: w and h; 4: all), `width` is bytes per
    element.
    """
    run, axes = _rows(side, dimensions)
    blocks = math.ceil(run * width / layout.interleave)
    if blocks >= layout.channels:
        return 1.0
    offsets = np.zeros(1, np.int64)
    for axis in axes:
        steps = np.arange(side.sizes[axis], dtype=np.int64) * (side.strides[axis] * width)
        offsets = np.unique(np.add.outer(offsets, steps[steps < layout.window]))
        offsets = offsets[offsets < layout.window]
    first = offsets // layout.interleave
    touched = np.unique((first[:, None] + np.arange(blocks)) % layout.channels)
    return touched.size / layout.channels


def _tensor(command: Command, chip: Chip) -> Transfer:
    if command.function in _CW_TRANSPOSES:
        return _cw_transpose(command, chip)
    direction = direction_of(command, chip)
    width = element_bytes(command, "src_data_format")
    source, target = _side(command, "src", chip), _side(command, "dst", chip)
    if command["fill_constant_en"]:
        return _fill(direction, target, width, chip)
    size = math.prod(source.sizes) * width
    if command.function == 3:
        run = contiguous_run(source, 2) * width
        cycles = math.floor(size * max(1, chip.ddr_row_bytes / run) / chip.load_bytes_per_cycle)
        return Transfer(direction, size, max(1, cycles))
    run = min(contiguous_run(side, 2 if side.local else 4) for side in (source, target))
    ddr = target if direction is Direction.STORE else source
    share = channel_share(ddr, 4 if direction is Direction.COPY else 2, width, _layout(chip))
    efficiency = min(1, run * width / chip.ddr_row_bytes) * share
    rate = _bandwidth(direction, chip)
    cycles = math.floor(size * chip.tensor_derate / rate / efficiency)
    return Transfer(direction, size, max(1, cycles))


def _layout(chip: Chip) -> DdrLayout:
    return DdrLayout(chip.ddr_channels, chip.ddr_interleave_bytes, chip.ddr_channel_window_bytes)


def _fill(direction: Direction, target: Side, width: int, chip: Chip) -> Transfer:
    """A constant fill; the formula is known for DDR targets and used for local ones too."""
    size = math.prod(target.sizes) * width
    run = contiguous_run(target, 2 if target.local else 4) * width
    cycles = math.floor(size * max(1, chip.ddr_row_bytes / run) / chip.load_bytes_per_cycle)
    return Transfer(direction, size, max(1, cycles))


def _matrix(command: Command, chip: Chip) -> Transfer:
    direction = direction_of(command, chip)
    width = element_bytes(command, "src_data_format")
    ddr, local = ("dst", "src") if direction is Direction.STORE else ("src", "dst")
    size = command[f"{ddr}_hsize"] * command[f"{ddr}_wsize"] * width
    row = chip.ddr_row_bytes
    if command.function == 1:
        slowdown = row / chip.transpose_run_bytes
    else:
        slowdown = max(1, row / (command[f"{local}_wsize"] * width))
    cycles = math.floor(size * slowdown / _bandwidth(direction, chip))
    return Transfer(direction, size, max(1, cycles))


def _gather(command: Command, chip: Chip) -> Transfer:
    """Gather and scatter move max(c, index c) rows of w elements, at one rate everywhere."""
    width = element_bytes(command, "src_data_format")
    if command.form.family == "DMA_scatter":
        rows = command["index_hsize"]
    else:
        rows = command["src_hsize"] if command["nchw_copy"] else command["dst_hsize"]
    channels = max(command["src_csize"], command["index_csize"])
    size = channels * rows * command["src_wsize"] * width
    cycles = math.floor(size / chip.gather_bytes_per_cycle)
    return Transfer(direction_of(command, chip), size, max(1, cycles))


def _general(command: Command, chip: Chip) -> Transfer:
    """A linear copy; an estimate, no data: the rate of a matrix that is one row."""
    direction = direction_of(command, chip)
    size = command["src_cstride"] * element_bytes(command, "src_data_format")
    lanes = command["dst_csize"] if command.function == 1 else 1
    slowdown = max(1, chip.ddr_row_bytes / max(1, size))
    cycles = math.floor(lanes * size * slowdown / _bandwidth(direction, chip))
    return Transfer(direction, lanes * size, max(1, cycles))


def _cw_transpose(command: Command, chip: Chip) -> Transfer:
    """c and w exchanged; an estimate, no data: the rate of the matrix transpose."""
    direction = direction_of(command, chip)
    size = math.prod(_sizes(command, "src")) * element_bytes(command, "src_data_format")
    slowdown = chip.ddr_row_bytes / chip.transpose_run_bytes
    cycles = math.floor(size * slowdown / _bandwidth(direction, chip))
    return Transfer(direction, size, max(1, cycles))


_FAMILIES: dict[str, Callable[[Command, Chip], Transfer]] = {
    "DMA_cw_transpose": _cw_transpose,
    "DMA_gather": _gather,
    "DMA_general": _general,
    "DMA_matrix": _matrix,
    "DMA_scatter": _gather,
    "DMA_tensor": _tensor,
}
