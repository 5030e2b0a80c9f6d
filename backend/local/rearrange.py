"""Any movement within local memory: copies in the lanes, between exchanges of lanes and columns.

rows over the lanes  --exchange-->  columns over the lanes  --copy-->  ..  --exchange-->  rows
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.local.turned_copy import copies_of, copy_in_lanes
from xdsl_tpu.backend.tensor import align, aligned, ceil_div, strided
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import LaneCopy, Rows, lane_copies, lane_way

_SCRATCH_BYTES = 16384
"""Bytes per lane of rows that are put together for one exchange, where it could be more."""

_FEW = 3
"""Lane groups of rows that are exchanged by a command each, where they would have to be put
together for one: that takes two copies."""

NO_WAY = "elements leave their lanes in no way that has a kernel"


class _Piece(NamedTuple):
    """Rows that one exchange takes: `times` times `lanes`, at `rows` and then every `by_rows`
    elements in their lanes, at `columns` and then side by side as columns."""

    times: int
    lanes: int
    rows: int
    by_rows: int
    columns: int


class _Side:
    """One end of a movement: a value, and where its elements are when they are moved in the lanes.

    `turned` is 0 where that is the value itself; else as many of its columns lie over the lanes in
    a buffer at `address`, each with a column of every row.
    """

    def __init__(self, context: LocalContext, value: LocalValue, turned: int) -> None:
        tensor, chip = value.tensor, context.chip
        n, c, h, w = tensor.shape
        dense = h == 1 or tensor.strides[2] == w
        if not dense or tensor.address >> chip.lane_shift or value.depth > 1:
            raise DoesNotFit("elements do not lie one behind the other in their lanes")
        self.context, self.tensor, self.turned = context, tensor, turned
        self.rows, self.address = _rows(value), tensor.address
        self.groups = ceil_div(c, chip.lanes)
        self.pad = align(min(c, chip.lanes), chip.eu(tensor.dtype.bytes))
        self.parts = self.rows.run // turned if turned else 1
        self.plane = n * self.groups * self.pad

    @property
    def elements(self) -> int:
        """What a lane has room for."""
        n, _, _ = self.rows
        return self.parts * self.plane if self.turned else n * self.tensor.strides[0]

    @property
    def lanes(self) -> int:
        """How many there are, of all lane groups."""
        return self.turned or self.rows.c

    def boxes(self) -> Iterator[Box]:
        """Where elements are by lane and position."""
        n, c, run = self.rows
        if not self.turned:
            yield Box(
                0,
                0,
                (Digit(c, 0, run), Digit(n, self.tensor.strides[0], c * run), Digit(run, 1, 1)),
            )
            return
        most, k = self.context.chip.lanes, self.turned
        ends = Digit(k, 0, 1), Digit(self.parts, self.plane, k)
        image = Digit(n, self.groups * self.pad, c * run)
        whole, rest = divmod(c, most)
        if whole:
            group = Digit(whole, self.pad, most * run), Digit(most, 1, run)
            yield Box(0, 0, (ends[0], ends[1], image, *group))
        if rest:
            yield Box(whole * self.pad, whole * most * run, (*ends, image, Digit(rest, 1, run)))

    def at(self, first: int, position: int) -> int:
        """The address of a position in lane `first` of all lane groups."""
        group, lane = divmod(first, self.context.chip.lanes)
        position += 0 if self.turned else group * self.tensor.strides[1]
        offset = self.address + position * self.tensor.dtype.bytes
        return lane << self.context.chip.lane_shift | offset

    def pieces(self) -> Iterator[_Piece]:
        """All rows."""
        n, c, _ = self.rows
        by_n, by_group = self.tensor.strides[:2]
        whole, rest = divmod(c, self.context.chip.lanes)
        if self.groups == 1:
            yield _Piece(n, c, 0, by_n, 0)
        elif not rest and by_n == self.groups * by_group:
            yield _Piece(n * whole, self.context.chip.lanes, 0, by_group, 0)
        else:
            for image in range(n):
                rows, columns = image * by_n, image * self.groups * self.pad
                yield _Piece(whole, self.context.chip.lanes, rows, by_group, columns)
                if rest:
                    rows, columns = rows + whole * by_group, columns + whole * self.pad
                    yield _Piece(1, rest, rows, by_group, columns)

    def exchange(self, first: int, columns: int, into_lanes: bool) -> None:
        """Bring columns from `first` on, at most a lane group, over the lanes, or back."""
        chip, width = self.context.chip, self.tensor.dtype.bytes
        together = max(1, _SCRATCH_BYTES // (align(columns, chip.eu(width)) * width))
        alike: dict[tuple[int, int, int, bool], list[_Piece]] = {}
        for part, piece in product(range(self.parts), self.pieces()):
            most = 1 if piece.times <= _FEW else together
            for start in range(0, piece.times, most):
                count = min(most, piece.times - start)
                rows = piece.rows + start * piece.by_rows + part * self.turned + first
                at = part * self.plane + piece.columns + start * self.pad
                one = piece._replace(times=count, rows=rows, columns=at)
                key = count, piece.lanes, piece.by_rows, self._lies(one, columns)
                alike.setdefault(key, []).append(one)
        for pieces in alike.values():
            for one in self.context.emitter.alike(pieces):
                with self.context.scratch.temporary():
                    self._exchange(one, columns, into_lanes)

    def _lies(self, piece: _Piece, columns: int) -> bool:
        """Whether rows can be exchanged where they are."""
        chip, width = self.context.chip, self.tensor.dtype.bytes
        if (self.tensor.address + piece.rows * width) % chip.eu_bytes:
            return False
        return piece.times == 1 or piece.by_rows == align(columns, chip.eu(width))

    def _exchange(self, piece: _Piece, columns: int, into_lanes: bool) -> None:
        chip, emitter, width = self.context.chip, self.context.emitter, self.tensor.dtype.bytes
        shape, dtype = (piece.times, piece.lanes, 1, columns), self.tensor.dtype
        strides = (piece.by_rows, 0, columns, 1)
        place = strided(self.tensor.address + piece.rows * width, shape, strides, dtype)
        lies = self._lies(piece, columns)
        rows = (
            aligned(chip, place.address, shape, dtype)
            if lies
            else self.context.scratch.aligned(shape, dtype)
        )
        turned = aligned(
            chip,
            self.address + piece.columns * width,
            (piece.times, columns, 1, piece.lanes),
            dtype,
        )
        if into_lanes:
            if not lies:
                emitter.copy(rows, settled(place, chip))
            emitter.transpose_cw(turned, rows)
            return
        emitter.transpose_cw(rows, turned)
        if not lies:
            emitter.copy(settled(place, chip), rows)


def move_elements(context: LocalContext, moves: IndexMap) -> None:
    """Write the elements of the operand's slice to that of the result, in another order; both are
    counted row-major.

    Raises DoesNotFit where that takes more than copies within the lanes, before and behind which
    lanes and columns may be exchanged, or where there is no room.
    """
    values = context.operand(0), context.out
    way = lane_way(moves, *map(_rows, values))
    if way is None:
        raise DoesNotFit(NO_WAY)
    source, target = map(partial(_Side, context), values, (way.source, way.target))
    distance = 2 * max(source.elements, target.elements)
    copies = lane_copies(moves, tuple(source.boxes()), tuple(target.boxes()), distance)
    if copies is None:
        raise DoesNotFit(NO_WAY)
    with context.scratch.temporary():
        _carry_out(context, source, target, copies)


def _rows(value: LocalValue) -> Rows:
    n, c, h, w = value.tensor.shape
    return Rows(n, c, h * w)


def _carry_out(
    context: LocalContext, source: _Side, target: _Side, copies: tuple[LaneCopy, ...]
) -> None:
    width, lanes = source.tensor.dtype.bytes, context.chip.lanes
    stays = source.turned and target.turned and all(map(_stays, copies))
    if source.turned:
        room = max(source.elements, target.elements) if stays else source.elements
        source.address = context.scratch.take(room * width)
    if target.turned:
        target.address = source.address if stays else context.scratch.take(target.elements * width)
    for first in range(0, source.lanes, lanes):
        count = min(lanes, source.lanes - first)
        if source.turned:
            source.exchange(first, count, into_lanes=True)
        for one in () if stays else copies:
            _copy(context, source, target, one, first)
        if target.turned:
            target.exchange(first, count, into_lanes=False)


def _stays(copy: LaneCopy) -> bool:
    return copy.to == copy.at and all(digit.to == digit.at for digit in copy.digits)


def _copy(context: LocalContext, source: _Side, target: _Side, copy: LaneCopy, first: int) -> None:
    """The part of a copy that is in the lane group from lane `first` on."""
    low = max(first, copy.first)
    lanes = min(first + context.chip.lanes, copy.first + copy.lanes) - low
    if lanes <= 0:
        return
    ends, width = (target.at(low, copy.to), source.at(low, copy.at)), source.tensor.dtype.bytes
    for one in copies_of(copy.digits, lanes, ends, (0, 0), width):
        copy_in_lanes(context, one, source.tensor.dtype)
