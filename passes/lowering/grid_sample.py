"""Sampling an image at computed positions: rows of pixels gathered by index, then weighted.

The image becomes a matrix with one row a pixel. Positions are whole numbers and fractions in f32
whatever the mode; an index of a pixel is exact up to 2^24. Numbers of each position lie in tensors
of one shape, which the caller chooses.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.grid_axis import Axis, Tap, taps_of
from xdsl_tpu.passes.lowering.sampled_products import Samples, as_product, is_cheaper, of_table
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of

EXACT = 1 << 24
"""Indices up to this are exact in f32."""


def _grid_sampler(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """grid_sampler(x, g) -> the sum of Gather(pixels of x, index) * weight over all taps."""
    assert isinstance(op, top.GridSamplerOp)
    do, shape, places = Steps(op, ctx), shape_of(op.input), shape_of(op.grid)
    axes, size = _axes(do, op, shape[2:]), math.prod(shape[2:])
    rows = math.prod(places[:-1])
    columns = _columns(do, op.grid, axes)
    samples = Samples(shape[0], rows // shape[0], 1, 1, shape[1])
    if is_cheaper(do, samples, axes):
        vectors = [
            do.reshaped(f"{axis.label}_rows", column, (*samples[:2], 1), F32)
            for axis, column in zip(axes, columns, strict=True)
        ]
        table = do.reshaped(
            "pixels_of", _table(do, op.input), (shape[0], size, shape[1]), ctx.element
        )
        total = as_product(do, samples, axes, [table, *vectors])
        return [_result(do, total, shape[0], places[1:-1])]
    images = np.repeat(np.arange(shape[0]), rows // shape[0])
    reads = _reads(do, _Pixels(_table(do, op.input), images * size, 1), axes, columns)
    total = _weighted(do, (rows,), reads, shape[1])
    return [_result(do, total, shape[0], places[1:-1])]


def _columns(do: Steps, grid: SSAValue, axes: Sequence[Axis]) -> list[SSAValue]:
    """The positions along each axis, a vector of all samples: the last column of the grid for the
    first axis.

    What puts a grid together of such columns, or of images of them, is passed by: in the grid they
    lie in turns.
    """
    rows, parts = math.prod(shape_of(grid)[:-1]), _stacked(grid)
    if (images := _images(grid)) is not None:
        parts = [do.part(f"column{n}", images, 1, (n, 1)) for n in range(len(axes))]
    elif len(parts) != len(axes):
        whole = do.reshaped("grid", do.ctx.as_type(grid, F32), (rows, len(axes)), F32)
        parts = [
            do.part(f"{axis.label}_column", whole, 1, (place, 1))
            for place, axis in enumerate(reversed(axes))
        ]
    return [
        do.reshaped(f"{axis.label}_positions", do.ctx.as_type(part, F32), (rows,), F32)
        for axis, part in zip(axes, reversed(parts), strict=True)
    ]


def _stacked(grid: SSAValue) -> list[SSAValue]:
    """The columns that are put side by side to make a grid; empty when it is made otherwise."""
    concat, rank = grid.owner, len(shape_of(grid))
    if not isinstance(concat, top.ConcatOp | tpu.ConcatOp) or concat.do_relu.value.data:
        return []
    columns = list(concat.inputs)
    last = concat.axis.value.data % rank == rank - 1
    return columns if last and all(shape_of(part)[-1] == 1 for part in columns) else []


def _images(grid: SSAValue) -> SSAValue | None:
    """The images whose channels, put last, make a grid; None when it is made otherwise."""
    permute, rank = grid.owner, len(shape_of(grid))
    if not isinstance(permute, top.PermuteOp | tpu.PermuteOp):
        return None
    is_last = ints(permute.order) == (0, *range(2, rank), 1)
    return permute.input if is_last else None


def _sampled_sum(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """sampled_sum(t, g, w) -> the sum of Gather(t, index) * weight * w over taps and positions of a
    query, or a product with all pixels where that is cheaper.

    The first positions of all queries come first, then all second ones, so that what is added
    lies in the same lane.
    """
    assert isinstance(op, top.SampledSumOp)
    do, (points, batch, queries) = Steps(op, ctx), shape_of(op.weights)
    channels, count = shape_of(op.table)[1], batch * queries
    axes = _axes(do, op, (op.height.value.data, op.width.value.data))
    found = of_table(do, op, axes)
    if found is None:
        lanes = _lanes(count, ctx.lanes.count)
        seen = (points, lanes, -(-count // lanes))
        grid = _spread(do, "grid", ctx.as_type(op.grid, F32), (2 * points, *seen[1:]), count)
        columns = [
            do.part(f"{axis.label}_positions", grid, 0, ((1 - number) * points, points))
            for number, axis in enumerate(axes)
        ]
        images = np.pad(np.repeat(np.arange(batch), queries), (0, math.prod(seen[1:]) - count))
        starts = op.first.value.data + images * op.image_step.value.data
        pixels = _Pixels(
            ctx.as_type(op.table, ctx.element),
            np.tile(starts, points).reshape(seen),
            op.pixel_step.value.data,
        )
        weights = _spread(do, "weights", ctx.as_type(op.weights, F32), seen, count)
        reads = _reads(do, pixels, axes, columns)
        total = _weighted(do, seen, reads, channels, weights)
        found = _over_points(do, total)
        if math.prod(seen[1:]) > count:
            rows = (math.prod(seen[1:]), channels)
            found = do.part("given", do.reshaped("all", found, rows, ctx.element), 0, (0, count))
    return [do.last(tpu.ReshapeOp, [found], ctx.element, shape=[batch, queries, channels])]


def _lanes(count: int, lanes: int) -> int:
    """Over how many lanes queries lie: as many as divide them, or all, and some queries that are
    not there, where these are few and lanes would else be idle."""
    dividing = max(lane for lane in range(1, lanes + 1) if count % lane == 0)
    return lanes if count >= _MANY * lanes and dividing < _BUSY * lanes else dividing


_MANY, _BUSY = 4, 0.8
"""Queries per lane of which one more does not matter; the part of the lanes that should work."""


def _spread(
    do: Steps, label: str, value: SSAValue, shape: tuple[int, int, int], count: int
) -> SSAValue:
    """`count` numbers of each position as lines of so many in each lane, with zeros behind them."""
    flat, (first, lanes, each) = do.reshaped(f"{label}_rows", value, (shape[0], count), F32), shape
    if lanes * each > count:
        none = [do.ctx.none()] * 4
        paddings = [0, 0, 0, lanes * each - count]
        flat = do.step(
            f"{label}_filled", tpu.PadOp, [flat, *none], (first, lanes * each), paddings=paddings
        )
    return do.reshaped(label, flat, shape, F32)


def _weighted(
    do: Steps,
    seen: tuple[int, ...],
    reads: Sequence[tuple[SSAValue | None, SSAValue]],
    channels: int,
    given: SSAValue | None = None,
) -> SSAValue:
    """The sum of all taps of each position, times the weight that is given for it, if one is;
    positions are seen in one shape."""
    size, element = (*seen, channels), do.ctx.element
    total: SSAValue | None = None
    for number, (weight, read) in enumerate(reads):
        part = do.reshaped(f"rows{number}", read, size, element)
        if weight is None:
            weight = given
        elif given is not None:
            weight = do.step(f"w{number}", tpu.MulOp, [weight, given], seen)
        if weight is not None:
            column = do.reshaped(f"column{number}", weight, (*seen, 1), F32)
            part = do.step(f"weighted{number}", tpu.MulOp, [part, column], size, element)
        if total is not None:
            part = do.step(f"total{number}", tpu.AddOp, [total, part], size, element)
        total = part
    assert total is not None
    return total


def _over_points(do: Steps, total: SSAValue) -> SSAValue:
    """The sum over the first dimension."""
    points, found = shape_of(total)[0], total
    for point in range(points):
        part = total if points == 1 else do.part(f"point{point}", total, 0, (point, 1))
        if point:
            part = do.step(f"sum{point}", tpu.AddOp, [found, part], shape_of(part), do.ctx.element)
        found = part
    return found


@dataclass(frozen=True)
class _Pixels:
    """A table with a pixel a row: where the image of each position starts, and how far from each
    other its pixels are."""

    table: SSAValue
    starts: npt.NDArray[np.integer]
    step: int


def _axes(do: Steps, op: top.GridSamplerOp | top.SampledSumOp, sizes: Sequence[int]) -> list[Axis]:
    """The spatial axes of an image."""
    mode, padding = op.mode.value.data, op.padding_mode.value.data
    align = bool(op.align_corners.value.data)
    return [
        Axis(do, "zyx"[place], size, mode, padding, align)
        for place, size in enumerate(sizes, 3 - len(sizes))
    ]


def _reads(
    do: Steps, pixels: _Pixels, axes: Sequence[Axis], columns: Sequence[SSAValue]
) -> list[tuple[SSAValue | None, SSAValue]]:
    """For every combination of taps the weight at each position, None for 1, and the pixels, a row
    a position; `columns` are the positions along each axis.

    What is computed of all combinations stands together, so that it can stay on the chip.
    """
    taps = [taps_of(axis, column) for axis, column in zip(axes, columns, strict=True)]
    corners = list(product(*taps))
    lines = _lines(do, pixels, axes, taps)
    indices = [_index(do, number, corner) for number, corner in enumerate(product(*lines))]
    table, rows = pixels.table, pixels.starts.size
    return [
        (
            _weight(do, number, corner),
            do.step(
                f"read{number}",
                tpu.GatherOp,
                [table, do.reshaped(f"place{number}", index, (rows,), F32)],
                (rows, shape_of(table)[1]),
                do.ctx.element,
                axis=0,
            ),
        )
        for number, (corner, index) in enumerate(zip(corners, indices, strict=True))
    ]


def _lines(
    do: Steps, pixels: _Pixels, axes: Sequence[Axis], taps: Sequence[Sequence[Tap]]
) -> list[list[SSAValue]]:
    """How far each tap along an axis leads into the table; with the first axis from its start."""
    highest = int(pixels.starts.max()) + (math.prod(axis.size for axis in axes) - 1) * pixels.step
    if highest >= EXACT:
        raise do.refuse(f"it reads pixel {highest} of a table; indices are exact up to {EXACT}")
    step, found = pixels.step, list[list[SSAValue]]()
    for axis, own in reversed(list(zip(axes, taps, strict=True))):
        values = [tap.index for tap in own]
        if step != 1:
            values = [
                axis.scaled(f"lines{number}", value, float(step), 0.0)
                for number, value in enumerate(values)
            ]
        found.insert(0, values)
        step *= axis.size
    shape, first = shape_of(found[0][0]), int(pixels.starts.min())
    if (pixels.starts != first).any():
        starts = do.weight("starts", pixels.starts)
        found[0] = [
            do.step(f"start{number}", tpu.AddOp, [value, starts], shape)
            for number, value in enumerate(found[0])
        ]
    elif first:
        found[0] = [
            do.step(f"start{number}", tpu.AddConstOp, [value], shape, const_val=float(first))
            for number, value in enumerate(found[0])
        ]
    return found


def _table(do: Steps, x: SSAValue) -> SSAValue:
    """An image as a matrix of pixels."""
    element, (batch, channels, *lengths) = do.ctx.element, shape_of(x)
    size = math.prod(lengths)
    image = do.reshaped("image", do.ctx.as_type(x, element), (batch, channels, size), element)
    pixels = do.step(
        "pixels", tpu.PermuteOp, [image], (batch, size, channels), element, order=[0, 2, 1]
    )
    return do.reshaped("table", pixels, (batch * size, channels), element)


def _index(do: Steps, number: int, lines: Sequence[SSAValue]) -> SSAValue:
    """The row of the table that holds the pixels at one combination of taps."""
    index = lines[0]
    for place, line in enumerate(lines[1:]):
        pair = [index, line]
        index = do.step(f"index{number}_{place}", tpu.AddOp, pair, shape_of(index))
    return index


def _weight(do: Steps, number: int, corner: Sequence[Tap]) -> SSAValue | None:
    """How much of the pixels at one combination of taps counts; None: all of it."""
    weight: SSAValue | None = None
    for place, tap in enumerate(corner):
        if weight is not None and tap.weight is not None:
            pair = [weight, tap.weight]
            weight = do.step(f"weight{number}_{place - 1}", tpu.MulOp, pair, shape_of(weight))
        elif tap.weight is not None:
            weight = tap.weight
    return weight


def _result(do: Steps, total: SSAValue, batch: int, places: Sequence[int]) -> SSAValue:
    """Rows of pixels back as an image."""
    element, channels = do.ctx.element, shape_of(total)[-1]
    size = math.prod(places)
    rows = do.reshaped("rows", total, (batch, size, channels), element)
    shape = (batch, channels, size)
    turned = do.step("turned", tpu.PermuteOp, [rows], shape, element, order=[0, 2, 1])
    return do.last(tpu.ReshapeOp, [turned], element, shape=[batch, channels, *places])


LOWERINGS: Lowerings = {top.GridSamplerOp: _grid_sampler, top.SampledSumOp: _sampled_sum}
