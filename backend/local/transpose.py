"""Channels to the end of each pixel and back, without leaving local memory."""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.exchange import exchange
from xdsl_tpu.backend.tensor import LocalTensor, Shape4, aligned, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit

TURNED, TO_THE_END, TO_THE_FRONT = (0, 2, 1), (0, 2, 3, 1), (0, 3, 1, 2)
EXCHANGED = (0, 3, 2, 1)

_SCRATCH_BYTES = 16384
"""Bytes per lane of what one command exchanges, where it could be more."""


class _Tile(NamedTuple):
    """Channels from `c` on, at most a lane group, of `groups` lane groups of image rows from `y`
    on, `rows` in each."""

    c: int
    channels: int
    y: int
    groups: int
    rows: int


def permute(context: LocalContext) -> None:
    """tpu.Permute of an image (n, c, h, w) to pixels (n, h, w, c), or back; of (n, c, h), too;
    and of lanes with columns, (n, w, h, c).

    The command exchanges lanes and columns, (c, h, w) to (w, h, c), for one lane group of each:

        to the end:     (c, h, w)  copied as  (c, w, h)   exchanged  (h, w, c)
        to the front:   (h, w, c)  exchanged  (c, w, h)   copied as  (c, h, w)

    Nothing is copied where w is 1. Where all channels are in one lane group, and pixels of
    several lane groups lie without gaps, one command takes them all.

    Raises DoesNotFit for another order, and for lane groups that are not a multiple of the EU
    width.
    """
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.PermuteOp)
    order, chip = ints(op.order), context.chip
    if order not in (TURNED, TO_THE_END, TO_THE_FRONT, EXCHANGED) or x.depth > 1:
        raise DoesNotFit(f"order {list(order)} has no local kernel")
    if chip.lanes % chip.eu(x.tensor.dtype.bytes):
        raise DoesNotFit(f"{chip.lanes} lanes are no multiple of the elements in an EU width")
    if order == EXCHANGED:
        exchange(context, x.tensor, out.tensor)
        return
    image, pixels = x.tensor, out.tensor
    if order == TO_THE_FRONT:
        image, pixels = pixels, image
    if order == TURNED:
        count, height, channels, _ = pixels.shape
        by_n, by_group, _, _ = pixels.strides
        shape, strides = (count, height, 1, channels), (by_n, by_group, channels, 1)
        pixels = strided(pixels.address, shape, strides, pixels.dtype)
    for n in range(image.shape[0]):
        for tile in _tiles(context, pixels):
            with context.scratch.temporary():
                _move(context, image, pixels, n, tile, to_the_end=order != TO_THE_FRONT)


def _tiles(context: LocalContext, pixels: LocalTensor) -> Iterator[_Tile]:
    lanes = context.chip.lanes
    _, height, width, channels = pixels.shape
    most = 1
    if channels <= lanes and pixels.strides[1] == width * channels:
        most = max(1, _SCRATCH_BYTES // (width * lanes * pixels.dtype.bytes))
    for c in range(0, channels, lanes):
        for y in range(0, height, most * lanes):
            groups, rest = divmod(min(most * lanes, height - y), lanes)
            count = min(lanes, channels - c)
            if groups:
                yield _Tile(c, count, y, groups, lanes)
            if rest:
                yield _Tile(c, count, y + groups * lanes, 1, rest)


def _move(
    context: LocalContext,
    image: LocalTensor,
    pixels: LocalTensor,
    n: int,
    tile: _Tile,
    to_the_end: bool,
) -> None:
    """Exchange a tile of both; `lines` and `body` are its operand and result, where they lie or
    beside."""
    emitter, (c, channels, y, groups, rows) = context.emitter, tile
    _, _, width, depth = pixels.shape
    part = pixels.window((n, y, 0, c), (1, rows, groups * width, channels), context.chip)
    ends = (1, channels, groups * width, rows), (1, rows, groups * width, channels)
    lies = width == 1, width == 1 or channels == depth
    places = image.window((n, c, 0, 0), image.shape, context.chip).at(w=y * width), part.address
    lines, body = (
        aligned(context.chip, place, shape, image.dtype)
        if there
        else context.scratch.aligned(shape, image.dtype)
        for there, place, shape in zip(lies, places, ends, strict=True)
    )
    image_part, lined = _pairs(image, places[0], lines, tile, width)
    if to_the_end:
        if not lies[0]:
            emitter.copy(lined, image_part)
        emitter.transpose_cw(body, lines)
        if not lies[1]:
            emitter.copy(part, body)
    else:
        if not lies[1]:
            emitter.copy(body, part)
        emitter.transpose_cw(lines, body)
        if not lies[0]:
            emitter.copy(image_part, lined)


def _pairs(
    image: LocalTensor, place: int, lines: LocalTensor, tile: _Tile, width: int
) -> tuple[LocalTensor, LocalTensor]:
    """A tile of the image, and its lines (c, w, h) as such; what lies closer together in both is
    innermost, as gaps between neighbours cost time."""
    _, channels, _, groups, rows = tile
    shape: Shape4 = (groups, channels, rows, width)
    spread: Shape4 = (rows * width, image.strides[1], width, 1)
    lined: Shape4 = (width * rows, lines.strides[1], 1, rows)
    if width <= rows:
        shape, spread, lined = ((n, c, w, h) for n, c, h, w in (shape, spread, lined))
    return strided(place, shape, spread, image.dtype), strided(
        lines.address, shape, lined, image.dtype
    )
