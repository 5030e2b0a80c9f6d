"""Loads that take in another order what lies in DDR as it lay in the lanes of another group.

Tokens of windows, one window behind the other in every lane, are stored so that what a lane holds
is one run. Windows that are shifted take each lane's rows from the rows of one other lane or two,
most of them still side by side: runs of several rows, where row-major each row is a run.
"""

import math
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, ddr_value
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles, store_cycles
from xdsl_tpu.backend.local.context import Form, LocalValue
from xdsl_tpu.backend.local.gather import commands_of, reading
from xdsl_tpu.backend.local.gather_boxes import Piece
from xdsl_tpu.backend.local.lane_image import (
    image_parts,
    lane_sizes,
    load_image,
    rounds_of,
    store_of,
)
from xdsl_tpu.backend.local.transfer import slice_parts
from xdsl_tpu.backend.tensor import DType, Layout, aligned
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw
from xdsl_tpu.dialects.tpu.op import declared_shape

MOST_BOXES = 256
"""Of a map from lanes to lanes: orders with more have no runs worth looking for."""


def load_lanes(emitter: Emitter, target: LocalValue, load: tpu.LoadOp) -> None:
    """Bring in what a Load with a map of lanes reads, as it is or moved."""
    chip, read, order = emitter.chip, reading(load.input), load.indexing_map_s2l
    value = load.input if read is None else read.source
    store, own = store_of(value), lane_sizes(load, chip)
    sizes = None if store is None else lane_sizes(store, chip)
    assert sizes is not None, "keep-lanes has seen that it lies in the lanes"
    assert order is not None
    width = target.dtype.bytes
    if read is None and own and rounds_of(own, width, chip) == rounds_of(sizes, width, chip):
        load_image(emitter, target, ddr_value(value), order.data)
    else:
        moves = moves_of(load)
        load_moved(emitter, target, ddr_value(value), moves, sizes)


def moves_of(load: tpu.LoadOp) -> IndexMap:
    """Which element of what lies in DDR is which of a Load's value."""
    read = reading(load.input)
    return IndexMap.identity(math.prod(declared_shape(load.input))) if read is None else read.moves


def load_moved(
    emitter: Emitter, target: LocalValue, source: DdrValue, moves: IndexMap, sizes: Ncdhw
) -> None:
    """Bring a slice of a value into local memory; `moves` gives the whole value from what was
    stored with `sizes` at `source`, all rounds of a lane together."""
    found = _transfers(target, source, moves, sizes, emitter.chip)
    if found is None:
        raise TpuError("a value stored lane by lane takes too many transfers; it must be row-major")
    for local, ddr in found:
        fetch(emitter, local, ddr)


def moved_cost(
    target: LocalValue, moves: IndexMap, sizes: Ncdhw, chip: Chip
) -> tuple[int, int] | None:
    """(cycles, commands) of `load_moved`; None when it is out of the question."""
    found = _transfers(target, DdrValue(0, (), target.dtype), moves, sizes, chip)
    return None if found is None else (_cycles(found, chip), len(found))


def store_costs(sizes: Ncdhw, dtype: DType, chip: Chip) -> tuple[int, int]:
    """Cycles of storing a whole value: row-major, and lane by lane with all rounds together."""
    shape = (sizes.n, sizes.c, sizes.h, sizes.w)
    tensor, ddr = aligned(chip, 0, shape, dtype), DdrValue(0, shape, dtype)
    whole = LocalValue(tensor, Ncdhw(0, 0, 0, 0, 0), sizes)
    rounds = rounds_of(sizes, dtype.bytes, chip).whole
    plain, lanes = (
        sum(store_cycles(box, part, chip) for part, box in parts)
        for parts in (slice_parts(whole, ddr, chip), image_parts(tensor, ddr, rounds, chip))
    )
    return plain, lanes


def image_map(sizes: Ncdhw, width: int, pitch: int, lanes: int) -> IndexMap:
    """Where each element of n images of c rows of `width` elements lies: lane by lane, rows of a
    lane `pitch` apart, then what the last lanes hold of a round that is not whole."""
    rounds, left = divmod(sizes.c, lanes) if sizes.c > lanes else (1, 0)
    count, row = sizes.n * rounds, Digit(width, 1, 1)
    digits = (
        Digit(sizes.n, sizes.c * width, rounds * pitch),
        Digit(rounds, lanes * width, pitch),
        Digit(min(sizes.c, lanes), width, count * pitch),
        row,
    )
    boxes = [Box(0, 0, digits)]
    if left:
        first = rounds * lanes
        boxes.append(Box(first * width, first * pitch, (Digit(left, width, pitch), row)))
    return IndexMap(tuple(box.simplified() for box in boxes))


def _transfers(
    target: LocalValue, source: DdrValue, moves: IndexMap, sizes: Ncdhw, chip: Chip
) -> list[Piece] | None:
    """The transfers: where rows stay whole, with the gaps between them, else without."""
    width = sizes.h * sizes.w
    pitch = rounds_of(sizes, target.dtype.bytes, chip).run
    ways = [(target, moves, width)]
    rows = moves.in_rows(width) if pitch != width and _has_rows(target, width, pitch) else None
    if rows is not None:
        ways.insert(0, (_with_gaps(target, pitch), rows.of_rows(pitch), pitch))
    for place, way, step in ways:
        whole = way.after(image_map(sizes, step, pitch, chip.lanes))
        if len(whole.boxes) > MOST_BOXES:
            continue
        pieces = commands_of(place, source, whole, chip)
        if pieces is not None:
            return pieces
    return None


def _cycles(pieces: list[Piece], chip: Chip) -> int:
    return sum(load_cycles(local, ddr, chip) for local, ddr in pieces)


def _has_rows(target: LocalValue, width: int, pitch: int) -> bool:
    """Whether a value is in local memory as a whole, in rows of `width` that are `pitch` apart."""
    tensor, full = target.tensor, target.full
    n, c, h, w = tensor.shape
    plain = target.form is Form.PLAIN and target.depth == 1 and tensor.layout is Layout.ALIGNED
    whole = (n, c, h, w) == (full.n, full.c, full.h, full.w) and full.d == 1
    return plain and whole and h * w == width and tensor.strides[1] == pitch


def _with_gaps(target: LocalValue, pitch: int) -> LocalValue:
    """A value as rows that end where the next begin."""
    n, c, _, _ = target.tensor.shape
    by_n, by_c, _, _ = target.tensor.strides
    strides = (by_n, by_c, pitch, 1)
    tensor = replace(target.tensor, shape=(n, c, 1, pitch), strides=strides, layout=Layout.FREE)
    return replace(target, tensor=tensor, full=Ncdhw(n, c, 1, 1, pitch))
