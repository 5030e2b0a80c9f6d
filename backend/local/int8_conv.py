"""`tpu.Conv2D` on slices of 8-bit integers, with coefficients merged in one weight."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.int8.coefficients import Coefficients, convolve, filter_of, layout_of
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalValue
from xdsl_tpu.backend.local.parts import Part
from xdsl_tpu.backend.local.transfer import STREAMED_BYTES
from xdsl_tpu.backend.local.views import conv_operand, group_pieces
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned_bytes,
    ceil_div,
    compact,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interpreters.coefficients import CoefficientLayout
from xdsl_tpu.dialects.interpreters.layouts import WIDEST_ROW


def conv2d(context: LocalContext) -> None:
    """Emit a convolution for each lane group of output channels.

    Where the chip does not give them a new scale, the exact sums of a lane group are in scratch
    memory; when they do not fit, rows are computed piece by piece. Raises TpuError for several
    groups of more than one channel unless each begins on the first lane, or the slice lies within
    one, and when not even a few rows fit.
    """
    op = context.op
    assert isinstance(op, tpu.Conv2DOp)
    x, weight = context.operand(0), context.operand(1)
    kind, groups = filter_of(op, weight.dtype, context.chip), op.group.value.data
    apart = groups > 1 and not kind.depthwise and x.tensor.shape[1] * groups != x.full.c
    if apart and not _begin_on_lane_0(context, x, groups):
        raise DoesNotFit(f"{groups} groups of {x.full.c} channels have no local kernel")
    if weight.form is Form.COEFFICIENTS:
        kind = replace(kind, layout=replace(kind.layout, channels=weight.tensor.shape[1]))
    # Their places are counted from the first channel of the slice.
    first = (weight.start.c - context.out.start.c) // context.chip.lanes
    parts = Coefficients(kind, weight.tensor.address, first)
    images, channels = context.out.tensor.shape[:2]
    pieces = group_pieces(channels, images, context.chip.lanes)
    whole = any(op.merged_taps())
    for out in (context.out,) if whole else _row_pieces(context, pieces[0]):
        with context.scratch.temporary():
            source, window = conv_operand(context, op, out)
            for channels in pieces:
                operand = source
                if apart:
                    own = _inputs_of(context, x, groups, channels)
                    operand = Part(Piece(0, source.shape[0]), own).of(source, context.chip)
                _piece(context, out.tensor, operand, parts, channels, window)


def _begin_on_lane_0(context: LocalContext, x: LocalValue, groups: int) -> bool:
    """Whether the slice has all channels of one image and inputs and outputs of every group begin
    on the first lane."""
    out, lanes = context.out, context.chip.lanes
    whole = x.tensor.shape[1] == x.full.c and out.tensor.shape[0] == 1
    return whole and not x.full.c // groups % lanes and not out.full.c // groups % lanes


def _inputs_of(context: LocalContext, x: LocalValue, groups: int, channels: Piece) -> Piece:
    """The input channels of the group that outputs of a lane group are in."""
    group = (context.out.start.c + channels.start) // (context.out.full.c // groups)
    size = x.full.c // groups
    return Piece(group * size, size)


def loads_in_parts(op: Operation, target: LocalValue, chip: Chip) -> bool:
    """Whether `load_coefficients` brings an operand, merged coefficients: it is not one box, or
    large."""
    assert isinstance(op, tpu.Conv2DOp)
    return target.form is Form.COEFFICIENTS or _is_streamed(layout_of(op, chip), chip)


def load_coefficients(
    emitter: Emitter, op: Operation, target: LocalValue, source: DdrValue
) -> None:
    """Bring the coefficients of a convolution, or those of some whole lane groups, or the last
    ones: large filters some places at a time, so that work on the first ones can begin."""
    assert isinstance(op, tpu.Conv2DOp)
    chip, whole = emitter.chip, layout_of(op, emitter.chip)
    word, runs = DType.I32.bytes, list[_Run]()
    if target.form is Form.COEFFICIENTS:
        part, place = replace(whole, channels=target.tensor.shape[1]), target.start.c // chip.lanes
        runs.append((place * whole.requant_step, 0, part.bias))
        if part.has_bias:
            runs.append((whole.bias + place * word, part.bias, part.places * word))
        first = whole.filter + place * whole.row
        pieces = _streamed(part, whole.lane_bytes, 0, chip)
        runs += [(first + at, part.filter + at, size) for at, _, size in pieces]
    else:
        part = whole
        runs += _streamed(part, whole.lane_bytes, whole.filter, chip)
    for at, to, size in runs:
        box = _box(part.lanes, size, whole.lane_bytes, source)
        local = compact(chip, target.tensor.address + to, box.shape, source.dtype)
        fetch(emitter, local, replace(box, address=source.address + at))


def _is_streamed(whole: CoefficientLayout, chip: Chip) -> bool:
    return len(_streamed(whole, whole.lane_bytes, whole.filter, chip)) > 1


_Run: TypeAlias = tuple[int, int, int]
"""Bytes that lie together in a lane: where in its row in DDR, where in the lane, how many."""

LONGER = 1 / 16
"""By how much the pieces of a filter may take longer than the whole."""


def _box(lanes: int, size: int, step: int, source: DdrValue) -> GlobalTensor:
    return GlobalTensor(source.address, (1, lanes, 1, size), (step, step, size, 1), source.dtype)


@lru_cache(maxsize=1024)
def _streamed(part: CoefficientLayout, step: int, head: int, chip: Chip) -> list[_Run]:
    """The transfers of filters with `head` bytes before them; `step`: from lane to lane in DDR.

    Of large filters as many places at a time as have the first and the last of them soonest, both
    together, where that takes hardly longer in all: every transfer has a start, and short runs of
    a lane come at a lower rate.
    """
    size = part.places * part.row
    if part.depthwise or size * part.lanes < STREAMED_BYTES:
        return [(0, 0, head + size)]
    source, most = DdrValue(0, (1,), DType.I8), max(1, (WIDEST_ROW - head) // part.row)

    def cycles_of(places: int) -> tuple[int, int]:
        """Of the first transfer, and of all."""
        sizes = [one.size * part.row for one in cut(part.places, places)]
        sizes[0] += head
        cycles: list[int] = []
        for size in sizes:
            box = _box(part.lanes, size, step, source)
            cycles.append(load_cycles(compact(chip, 0, box.shape, source.dtype), box, chip))
        return cycles[0], sum(cycles)

    ways = {places: cycles_of(places) for places in range(1, min(most, part.places) + 1)}
    longest = (1 + LONGER) * min(total for _, total in ways.values())
    quick = [places for places, (_, total) in ways.items() if total <= longest]
    places = min(quick, key=lambda one: sum(ways[one]))
    ends = [head + (one.start + one.size) * part.row for one in cut(part.places, places)]
    return [(at, at, end - at) for at, end in pairwise((0, *ends))]


def _piece(
    context: LocalContext,
    out: LocalTensor,
    x: LocalTensor,
    parts: Coefficients,
    channels: Piece,
    window: Window,
) -> None:
    """The output channels of a lane group (of all, when there are several images)."""
    chip, images = context.chip, Piece(0, out.shape[0])
    target = Part(images, channels).of(out, chip)
    source = Part(images, channels).of(x, chip) if parts.filter.depthwise else x
    with context.scratch.temporary():
        total = None
        if not chip.instructions.requantises:
            total = context.scratch.aligned(target.shape, DType.I32)
        convolve(context.emitter, target, total, source, parts, channels, window)


def _row_pieces(context: LocalContext, channels: Piece) -> Iterator[LocalValue]:
    """The result, or as many of its rows at a time as scratch memory has room for.

    A piece begins on an EU boundary; those of several images would lie as far apart as whole images
    do, which nothing gives a new scale: they are computed at once.
    """
    out, chip, scratch = context.out, context.chip, context.scratch
    n, _, h, w = out.tensor.shape
    unit = chip.eu_bytes // math.gcd(w, chip.eu_bytes)
    op = context.op
    assert isinstance(op, tpu.Conv2DOp)
    x = context.operand(0)

    def fits(step: int) -> bool:
        sums = [aligned_bytes(chip, (n, channels.size, step, w), DType.I32)]
        if chip.instructions.requantises:
            sums = []
        if step == h:
            return scratch.holds(sums)
        reach = (step - 1) * ints(op.strides)[0] + _extent(op)
        shape: Shape4 = (n, x.tensor.shape[1], reach, x.tensor.shape[3])
        return scratch.holds([aligned_bytes(chip, shape, x.dtype), *sums])

    steps = [h] if n > 1 else [h, *range((h - 1) // unit * unit, 0, -unit)]
    step = scratch.enough(
        lambda: next((step for step in steps if fits(step)), None), f"for the sums of {unit} rows"
    )
    # Equal pieces as few as possible.
    count = ceil_div(h, step)
    step = min(step, ceil_div(ceil_div(h, count), unit) * unit)
    for rows in cut(h, step):
        yield out if rows.size == h else _rows(context, out, rows)


def _extent(op: tpu.Conv2DOp) -> int:
    dilation = ints(op.dilations)[0] if op.dilations is not None else 1
    return (ints(op.kernel_shape)[0] - 1) * dilation + 1


def _rows(context: LocalContext, out: LocalValue, rows: Piece) -> LocalValue:
    n, c, _, w = out.tensor.shape
    part = out.tensor.window((0, 0, rows.start, 0), (n, c, rows.size, w), context.chip)
    return replace(out, tensor=part, start=out.start._replace(h=out.start.h + rows.start))
