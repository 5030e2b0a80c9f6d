"""Loads and stores of slices: `tpu.Load`, `tpu.Store`.

In DDR a tensor is row-major; seen as (n, c, d, h, w) every slice of it is a strided box.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.support import DdrValue, LocalMemory
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.local.context import Form, LocalValue
from xdsl_tpu.backend.local.taps import load_taps
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    Layout,
    LocalTensor,
    Shape4,
    aligned,
    ceil_div,
    compact,
    contiguous_strides,
)
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw

STREAMED_BYTES = 65536
"""Filters from this size on are loaded some lane groups at a time, so that work on the first ones
can begin while the last ones are still on their way."""


def load_slice(
    emitter: Emitter, target: LocalValue, source: DdrValue, at_once: bool = False
) -> None:
    """Bring a slice of a tensor into local memory, in the target's form (not MERGED).

    `at_once`: nobody has use for some of it, so that it may as well come in one transfer.
    """
    if target.form is Form.ROW:
        _load_row(emitter, target, source)
        return
    for local, ddr in slice_parts(target, source, emitter.chip):
        whole = [(local, ddr)]
        for part, box in whole if at_once else _streamed(local, ddr, emitter.chip):
            fetch(emitter, part, box)


def _load_row(emitter: Emitter, target: LocalValue, source: DdrValue) -> None:
    n, _, h, w = target.tensor.shape
    whole = _box(source, target.full, target.start)
    shape = (n, 1, h, w)
    emitter.load_broadcast(target.tensor, replace(whole, shape=shape))


def load_merged(
    emitter: Emitter, target: LocalValue, source: GlobalTensor, views: tuple[View, View]
) -> None:
    """Bring the taps of a convolution's input, n, c, h, w, into the lanes; the views count from
    the whole."""
    n, (_, c, h, w) = target.tensor.shape[0], source.shape
    image = source.window((target.start.n, 0, 0, 0), (n, c, h, w))
    load_taps(emitter, target.tensor, image, *views)


def store_slice(
    emitter: Emitter, source: LocalValue, target: DdrValue, scratch: LocalMemory
) -> None:
    """Bring a slice from local memory to its place in DDR."""
    for part, box in slice_parts(source, target, emitter.chip):
        if not _store_as_row(emitter, part, box, scratch):
            put(emitter, box, part)


SHORTEST_ROW = 32
"""Channels of one element from which turning them is worth its commands."""


def _store_as_row(
    emitter: Emitter, column: LocalTensor, ddr: GlobalTensor, scratch: LocalMemory
) -> bool:
    """Store channels of a single element, as a pool over the whole image leaves them.

    Each would be a transfer of one element, which takes as long as one of 256 bytes. So they are
    moved into one lane before, a lane group at a time. False where that is not possible.
    """
    chip, (n, c, h, w) = emitter.chip, column.shape
    width = column.dtype.bytes
    single = (n, h, w) == (1, 1, 1) and c >= SHORTEST_ROW and ddr.strides[1] == 1
    begins = column.layout is Layout.ALIGNED and column.address < chip.local_bytes
    if not single or not begins or chip.lanes * width % chip.eu_bytes:
        return False
    address = scratch.find(c * width)
    if address is None:
        return False
    whole, rest = divmod(c, chip.lanes)
    for groups, start, channels in ((whole, 0, chip.lanes), (1, whole, rest)):
        if groups and channels:
            to = address + start * chip.lanes * width
            row = aligned(chip, to, (groups, 1, 1, channels), column.dtype)
            part = aligned(chip, column.at(g=start), (groups, channels, 1, 1), column.dtype)
            emitter.transpose_cw(row, part)
    row = compact(chip, address, (1, 1, 1, c), column.dtype)
    put(emitter, ddr.view((1, 1, 1, c), (c, c, c, 1)), row)
    return True


def _box(place: DdrValue, full: Ncdhw, start: Ncdhw) -> GlobalTensor:
    """The tensor as (n, c, h, w) of one d, from the slice's first element on."""
    steps = _steps(place, full)
    offset = sum(i * s for i, s in zip(start, steps, strict=True))
    strides = (steps[0], steps[1], steps[3], steps[4])
    address = place.address + offset * place.dtype.bytes
    return GlobalTensor(address, (full.n, full.c, full.h, full.w), strides, place.dtype)


def _steps(place: DdrValue, full: Ncdhw) -> Sequence[int]:
    """Strides along n, c, d, h and w."""
    if place.strides is None:
        return contiguous_strides(full)
    n, c, h, w = place.strides
    return n, c, 0, h, w


def slice_parts(
    value: LocalValue, place: DdrValue, chip: Chip
) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
    """The slice and its place in DDR, cut into equal d: in local memory d lies outside n."""
    count, c, h, w = value.tensor.shape
    depth = value.depth
    n = count // depth
    step = _steps(place, value.full)[2]
    for d in range(depth):
        box = _box(place, value.full, value.start).window((0, 0, 0, 0), (n, c, h, w))
        box = replace(box, address=box.address + d * step * place.dtype.bytes)
        local = value.tensor
        if depth > 1:
            address = local.at(n=d * n)
            local = LocalTensor(address, (n, c, h, w), local.strides, local.dtype, local.layout)
        yield local, box


def _streamed(
    local: LocalTensor, ddr: GlobalTensor, chip: Chip
) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
    n, c, h, w = local.shape
    at_once = _lanes_at_once(local.shape, ddr.bytes, chip)
    if at_once >= c:
        yield local, ddr
        return
    for group in cut(c, at_once):
        start, shape = (0, group.start, 0, 0), (n, group.size, h, w)
        yield local.window(start, shape, chip), ddr.window(start, shape)


def parts_of_load(shape: Shape4, size: int, chip: Chip) -> int:
    """In how many transfers `size` bytes are loaded, some lane groups at a time."""
    return ceil_div(shape[1], _lanes_at_once(shape, size, chip))


def _lanes_at_once(shape: Shape4, size: int, chip: Chip) -> int:
    """How many channels of a load of `size` bytes are one transfer: all, or whole lane groups.

    The first of p transfers that take T cycles, and S each before their first byte, is done after
    S + T/p, the last after S*p + T: both together are least for p = sqrt(T/S).
    """
    n, channels, _, _ = shape
    if n > 1 or channels <= chip.lanes or size < STREAMED_BYTES:
        return channels
    groups = ceil_div(channels, chip.lanes)
    if chip.load_start_cycles:
        cycles = size / chip.load_bytes_per_cycle
        pieces = max(1, round(math.sqrt(cycles / chip.load_start_cycles)))
        return ceil_div(groups, min(groups, pieces)) * chip.lanes
    return chip.lanes
