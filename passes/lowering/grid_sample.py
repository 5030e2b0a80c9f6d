"""Sampling an image at computed positions: rows of pixels gathered by index, then weighted.

The image becomes a matrix with one row a pixel. Positions are whole numbers and fractions in f32
whatever the mode; an index of a pixel is exact up to 2^24. Numbers of each position lie in tensors
of one shape, which the caller chooses.
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.grid_axis import Axis, Tap, taps_of
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import element_of, shape_of

EXACT = 1 << 24
"""Indices up to this are exact in f32."""


def _grid_sampler(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """grid_sampler(x, g) -> the sum of Gather(pixels of x, index) * weight over all taps."""
    assert isinstance(op, top.GridSamplerOp)
    do, shape, places = Steps(op, ctx), shape_of(op.input), shape_of(op.grid)
    axes = _axes(do, op, shape[2:])
    rows = math.prod(places[:-1])
    grid = do.reshaped("grid", ctx.as_type(op.grid, F32), (rows, len(axes)), F32)
    columns = [
        do.reshaped(
            f"{axis.label}_positions",
            _part(do, f"{axis.label}_column", grid, 1, (len(axes) - 1 - number, 1)),
            (rows,),
            F32,
        )
        for number, axis in enumerate(axes)
    ]
    images = np.repeat(np.arange(shape[0]), rows // shape[0])
    reads = _reads(do, op.input, axes, columns, images)
    size = (rows, shape[1])
    total: SSAValue | None = None
    for number, (weight, read) in enumerate(reads):
        part = read
        if weight is not None:
            column = do.reshaped(f"column{number}", weight, (rows, 1), F32)
            part = do.step(f"weighted{number}", tpu.MulOp, [read, column], size, ctx.element)
        if total is not None:
            part = do.step(f"total{number}", tpu.AddOp, [total, part], size, ctx.element)
        total = part
    assert total is not None
    return [_result(do, total, shape[0], places[1:-1])]


def _sampled_sum(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """sampled_sum(x, g, w) -> the sum of Gather(pixels of x, index) * weight * w over taps and
    positions of a query.

    The first positions of all queries come first, then all second ones, so that what is added
    lies in the same lane; queries lie over as many lanes as divide them.
    """
    assert isinstance(op, top.SampledSumOp)
    do, (batch, queries, points) = Steps(op, ctx), shape_of(op.weights)
    shape, count = shape_of(op.input), batch * queries
    lanes = max(lane for lane in range(1, ctx.lanes.count + 1) if count % lane == 0)
    seen = (points, lanes, count // lanes)
    axes = _axes(do, op, shape[2:])
    grid = do.step(
        "turned_grid",
        tpu.PermuteOp,
        [ctx.as_type(op.grid, F32)],
        (2, points, batch, queries),
        order=[3, 2, 0, 1],
    )
    grid = do.reshaped("grid", grid, (2 * points, *seen[1:]), F32)
    columns = [
        _part(do, f"{axis.label}_positions", grid, 0, ((1 - number) * points, points))
        for number, axis in enumerate(axes)
    ]
    images = np.tile(np.repeat(np.arange(batch), queries), points).reshape(seen)
    reads = _reads(do, op.input, axes, columns, images)
    given = do.step(
        "turned_weights",
        tpu.PermuteOp,
        [ctx.as_type(op.weights, F32)],
        (points, batch, queries),
        order=[2, 0, 1],
    )
    given = do.reshaped("weights", given, seen, F32)
    size = (*seen, shape[1])
    total: SSAValue | None = None
    for number, (weight, read) in enumerate(reads):
        weight = (
            given if weight is None else do.step(f"w{number}", tpu.MulOp, [weight, given], seen)
        )
        column = do.reshaped(f"column{number}", weight, (*seen, 1), F32)
        rows = do.reshaped(f"rows{number}", read, size, ctx.element)
        part = do.step(f"weighted{number}", tpu.MulOp, [rows, column], size, ctx.element)
        if total is not None:
            part = do.step(f"total{number}", tpu.AddOp, [total, part], size, ctx.element)
        total = part
    assert total is not None
    found = total
    for point in range(points):
        part = total if points == 1 else _part(do, f"point{point}", total, 0, (point, 1))
        if point:
            part = do.step(f"sum{point}", tpu.AddOp, [found, part], shape_of(part), ctx.element)
        found = part
    return [do.last(tpu.ReshapeOp, [found], ctx.element, shape=[batch, queries, shape[1]])]


def _axes(do: Steps, op: top.GridSamplerOp | top.SampledSumOp, sizes: Sequence[int]) -> list[Axis]:
    """The spatial axes of an image of which every pixel has an exact index."""
    mode, padding = op.mode.value.data, op.padding_mode.value.data
    align = bool(op.align_corners.value.data)
    axes = [
        Axis(do, "zyx"[place], size, mode, padding, align)
        for place, size in enumerate(sizes, 3 - len(sizes))
    ]
    count = shape_of(op.input)[0] * math.prod(axis.length for axis in axes)
    if count > EXACT:
        raise do.refuse(f"its image has {count} pixels; indices are exact up to {EXACT}")
    return axes


def _reads(
    do: Steps,
    x: SSAValue,
    axes: Sequence[Axis],
    columns: Sequence[SSAValue],
    images: npt.NDArray[np.integer],
) -> list[tuple[SSAValue | None, SSAValue]]:
    """For every combination of taps the weight at each position, None for 1, and the pixels, a row
    a position; `columns` are the positions along each axis and `images` says of which image.

    What is computed of all combinations stands together, so that it can stay on the chip.
    """
    taps = [taps_of(axis, column) for axis, column in zip(axes, columns, strict=True)]
    table = _table(do, x, axes)
    length = math.prod(axis.length for axis in axes)
    several = shape_of(x)[0] > 1
    base = do.weight("images", images * length) if several else None
    corners = list(product(*taps))
    indices = [_index(do, number, corner, axes, base) for number, corner in enumerate(corners)]
    rows, element = images.size, do.ctx.element
    return [
        (
            _weight(do, number, corner),
            do.step(
                f"read{number}",
                tpu.GatherOp,
                [table, do.reshaped(f"place{number}", index, (rows,), F32)],
                (rows, shape_of(x)[1]),
                element,
                axis=0,
            ),
        )
        for number, (corner, index) in enumerate(zip(corners, indices, strict=True))
    ]


def _part(do: Steps, label: str, value: SSAValue, axis: int, bounds: tuple[int, int]) -> SSAValue:
    """So many elements from a first one on along one axis."""
    shape = shape_of(value)
    first, count = bounds
    return do.step(
        label,
        tpu.SliceOp,
        [value],
        (*shape[:axis], count, *shape[axis + 1 :]),
        element_of(value),
        offset=[first if place == axis else 0 for place in range(len(shape))],
        steps=[1] * len(shape),
        ends=[first + count if place == axis else size for place, size in enumerate(shape)],
        axes=[],
    )


def _table(do: Steps, x: SSAValue, axes: Sequence[Axis]) -> SSAValue:
    """The image as a matrix of pixels, with zeros around where they are read."""
    element, (batch, channels) = do.ctx.element, shape_of(x)[:2]
    x = do.ctx.as_type(x, element)
    pads = [axis.pad for axis in axes]
    lengths = [axis.length for axis in axes]
    if any(pads):
        paddings = [0, 0, *pads, 0, 0, *pads]
        x = do.step(
            "padded",
            tpu.PadOp,
            [x],
            (batch, channels, *lengths),
            element,
            paddings=paddings,
            val=0.0,
            mode="constant",
        )
    size = math.prod(lengths)
    image = do.reshaped("image", x, (batch, channels, size), element)
    pixels = do.step(
        "pixels", tpu.PermuteOp, [image], (batch, size, channels), element, order=[0, 2, 1]
    )
    return do.reshaped("table", pixels, (batch * size, channels), element)


def _index(
    do: Steps, number: int, corner: Sequence[Tap], axes: Sequence[Axis], base: SSAValue | None
) -> SSAValue:
    """The row of the table that holds the pixels at one combination of taps."""
    index = corner[0].index
    shape = shape_of(index)
    for tap, axis in zip(corner[1:], axes[1:], strict=True):
        label = f"{axis.label}{number}"
        length = float(axis.length)
        lines = do.step(f"{label}_lines", tpu.MulConstOp, [index], shape, const_val=length)
        index = do.step(f"{label}_index", tpu.AddOp, [lines, tap.index], shape)
    if base is not None:
        index = do.step(f"row{number}", tpu.AddOp, [index, base], shape)
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
    element, channels = do.ctx.element, shape_of(total)[1]
    size = math.prod(places)
    rows = do.reshaped("rows", total, (batch, size, channels), element)
    shape = (batch, channels, size)
    turned = do.step("turned", tpu.PermuteOp, [rows], shape, element, order=[0, 2, 1])
    return do.last(tpu.ReshapeOp, [turned], element, shape=[batch, channels, *places])


LOWERINGS: Lowerings = {top.GridSamplerOp: _grid_sampler, top.SampledSumOp: _sampled_sum}
