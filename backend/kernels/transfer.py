"""Moving tiles between DDR and local memory by the cheaper GDMA form.

The matrix form reaches 58 (load) and 44 (store) bytes per cycle whatever the transfer's size; the
tensor form at most 54 and 41, and a quarter of that below 4 KiB
(docs/hardware/cycles.md#transfers). A matrix of one row per image, whose column blocks are the
channels, is a tensor whose channels lie one behind the other in DDR.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    Layout,
    LocalTensor,
    Shape4,
    plain_strides,
)
from xdsl_tpu.backend.timing.gdma_cost import (
    DdrLayout,
    Direction,
    Rate,
    Side,
    channel_share,
    contiguous_run,
    ddr_layout,
    matrix_cycles,
    rate_of,
    tensor_cycles,
)
from xdsl_tpu.dialects.records import record

_Part: TypeAlias = tuple[LocalTensor, GlobalTensor]

WORD = DType.F32
"""What bytes are moved as when their type does not matter."""

_FEWEST_LANES = 4
"""Channels that one matrix command must at least take; below, one tensor command is better."""


def fetch(emitter: Emitter, target: LocalTensor, source: GlobalTensor) -> None:
    """Load a tile; both sides have the same shape."""
    way = _way(*as_words(target, source), emitter.chip, Direction.LOAD)
    load = emitter.load_matrix if way.is_matrix else emitter.load
    for local, ddr in way.parts:
        load(local, ddr)


def as_words(local: LocalTensor, ddr: GlobalTensor) -> tuple[LocalTensor, GlobalTensor]:
    """Both sides of a transfer of bytes as 32-bit words, where all rows are whole words.

    A matrix row holds four times as many bytes then.
    """
    n, c, h, w = local.shape
    dense = all(t.strides[3] == 1 and (h == 1 or t.strides[2] == w) for t in (local, ddr))
    steps = [(n, local.strides[0]), (c, local.strides[1]), (n, ddr.strides[0]), (c, ddr.strides[1])]
    whole = [h * w, local.address, ddr.address, *(step for size, step in steps if size > 1)]
    if local.dtype.bytes != 1 or not dense or any(size % WORD.bytes for size in whole):
        return local, ddr
    width = h * w // WORD.bytes

    def strides(tensor: LocalTensor | GlobalTensor) -> Shape4:
        return tensor.strides[0] // WORD.bytes, tensor.strides[1] // WORD.bytes, width, 1

    shape = (n, c, 1, width)
    words = LocalTensor(local.address, shape, strides(local), WORD, local.layout)
    return words, GlobalTensor(ddr.address, shape, strides(ddr), WORD)


def put(emitter: Emitter, target: GlobalTensor, source: LocalTensor) -> None:
    """Store a tile; both sides have the same shape."""
    way = _way(*as_words(source, target), emitter.chip, Direction.STORE)
    store = emitter.store_matrix if way.is_matrix else emitter.store
    for local, ddr in way.parts:
        store(ddr, local)


def fits_matrix(local: LocalTensor, ddr: GlobalTensor, chip: Chip) -> bool:
    """Whether the transfer is a matrix: channels dense in DDR, h and w joined on both sides."""
    n, c, h, w = local.shape
    lane = local.address >> chip.lane_shift
    if local.shape != ddr.shape or (lane and lane + c > chip.lanes):
        return False
    joined = w == 1 or (local.strides[3] == 1 and ddr.strides[3] == 1)
    joined &= h == 1 or (local.strides[2] == w and ddr.strides[2] == w)
    dense = c == 1 or ddr.strides[1] == h * w
    few = min(c, _FEWEST_LANES)
    return joined and dense and h * w * few <= LIMITS.extent and n <= LIMITS.extent


def _pieces(
    local: LocalTensor, ddr: GlobalTensor, chip: Chip
) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
    """The transfer as (rows, blocks, 1, width) against (1, 1, rows, columns), cut by channels."""
    n, c, h, w = local.shape
    width = h * w
    step = min(c, LIMITS.extent // width)
    strides = (local.strides[0], local.strides[1], width, 1)
    for start in range(0, c, step):
        count = min(step, c - start)
        part = local.window((0, start, 0, 0), (n, count, h, w), chip)
        block = LocalTensor(part.address, (n, count, 1, width), strides, part.dtype, part.layout)
        rows = ddr.window((0, start, 0, 0), (n, count, h, w))
        columns = count * width
        yield block, rows.view((1, 1, n, columns), (0, 0, ddr.strides[0], 1))


def load_cycles(target: LocalTensor, source: GlobalTensor, chip: Chip) -> int:
    """What `fetch` will take; addresses do not matter."""
    return _cycles(target, source, chip, Direction.LOAD)


def store_cycles(target: GlobalTensor, source: LocalTensor, chip: Chip) -> int:
    """What `put` will take; addresses do not matter."""
    return _cycles(source, target, chip, Direction.STORE)


def _cycles(local: LocalTensor, ddr: GlobalTensor, chip: Chip, direction: Direction) -> int:
    return _way(*as_words(local, ddr), chip, direction).cycles


@record(frozen=True, slots=True)
class _Way:
    """The commands of a transfer, all of one form: what they move in local memory and in DDR, and
    their cycles."""

    is_matrix: bool
    parts: Sequence[_Part]
    cycles: int


def _way(local: LocalTensor, ddr: GlobalTensor, chip: Chip, direction: Direction) -> _Way:
    """The cheaper form. No tensor command is faster than one for a matrix, but each command of
    several begins anew."""
    rate = rate_of(direction, chip)
    if not fits_matrix(local, ddr, chip):
        return _as_tensor(local, ddr, rate, chip)
    pieces, (*_, h, w), width = tuple(_pieces(local, ddr, chip)), local.shape, local.dtype.bytes
    cycles = matrix_cycles(math.prod(local.shape) * width, rate, h * w * width, chip)
    matrices = _Way(True, pieces, cycles + (len(pieces) - 1) * rate.start)
    if len(pieces) == 1:
        return matrices
    return min(matrices, _as_tensor(local, ddr, rate, chip), key=lambda way: way.cycles)


def _as_tensor(local: LocalTensor, ddr: GlobalTensor, rate: Rate, chip: Chip) -> _Way:
    parts = [part for one in _in_groups(local, ddr, chip) for part in _within_fields(*one, chip)]
    return _Way(False, parts, sum(_tensor_cycles(*part, rate, chip) for part in parts))


def _within_fields(
    local: LocalTensor, ddr: GlobalTensor, chip: Chip
) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
    """A transfer in parts whose sizes the fields of a command hold."""
    if max(local.shape) <= LIMITS.extent:
        yield local, ddr
        return
    axis = next(axis for axis, size in enumerate(local.shape) if size > LIMITS.extent)
    size, step = local.shape[axis], LIMITS.extent // chip.lanes * chip.lanes
    for first in range(0, size, step):
        n, c, h, w = (first if other == axis else 0 for other in range(4))
        count = min(step, size - first)
        sizes = (count if other == axis else one for other, one in enumerate(local.shape))
        start, shape = (n, c, h, w), (next(sizes), next(sizes), next(sizes), next(sizes))
        part = local.window(start, shape, chip), ddr.window(start, shape)
        yield from _within_fields(*part, chip)


def _in_groups(
    local: LocalTensor, ddr: GlobalTensor, chip: Chip
) -> Sequence[tuple[LocalTensor, GlobalTensor]]:
    """The transfer as it is, or with the channels of a lane as rows where that takes less.

    Channels that lie far apart in DDR come from fewer of its channels, as the estimate sees them,
    than rows do (docs/hardware/cycles.md#transfers).
    """
    whole = [(local, ddr)]
    if not _has_groups(local, ddr, chip):
        return whole
    _, c, h, w = local.shape
    groups, rest = divmod(c, chip.lanes)
    row, step = h * w, local.strides[1]
    shape = (1, chip.lanes, groups, row)
    inner = LocalTensor(
        local.address, shape, (groups * step, groups * step, step, 1), local.dtype, Layout.FREE
    )
    far = ddr.strides[1]
    outer = GlobalTensor(ddr.address, shape, (c * far, far, chip.lanes * far, 1), ddr.dtype)
    parts = [(inner, outer)]
    if rest:
        start, tail = (0, groups * chip.lanes, 0, 0), (1, rest, h, w)
        parts.append((local.window(start, tail, chip), ddr.window(start, tail)))
    rate = Rate(1.0)
    ways = (whole, parts)
    return min(ways, key=lambda way: sum(_tensor_cycles(*part, rate, chip) for part in way))


def _has_groups(local: LocalTensor, ddr: GlobalTensor, chip: Chip) -> bool:
    """Whether lanes hold several channels of one image each, in rows of one piece."""
    n, c, h, w = local.shape
    one = n == 1 and c > chip.lanes and local.address < chip.local_bytes
    dense = (w == 1 or t.strides[3] == 1 for t in (local, ddr))
    joined = h == 1 or all(t.strides[2] == w for t in (local, ddr))
    return one and joined and all(dense) and h * w <= LIMITS.extent


def _tensor_cycles(local: LocalTensor, ddr: GlobalTensor, rate: Rate, chip: Chip) -> int:
    """What one tensor command takes."""
    width = local.dtype.bytes
    run, share = _run_and_share(local.shape, local.strides, ddr.strides, width, ddr_layout(chip))
    return tensor_cycles(math.prod(local.shape) * width, rate, run * width, share, chip)


@lru_cache(maxsize=4096)
def _run_and_share(
    shape: Shape4, local: Shape4, ddr: Shape4, width: int, layout: DdrLayout
) -> tuple[int, float]:
    """Elements that lie together on both sides, and the share of the DDR channels."""
    near = Side(True, shape, plain_strides(shape, local))
    far = Side(False, shape, plain_strides(shape, ddr))
    if ddr[2] == 0 and shape[2] > 1:  # the repeated row is read along n
        n, c, h, w = shape
        far = Side(False, (n * h, c, 1, w), (0, ddr[1], w, ddr[3]))
    run = min(contiguous_run(near), contiguous_run(far))
    return run, channel_share([far], width, layout)
