"""Samples of images of few pixels: how much each reads of every pixel, times the pixels.

`tpu.SampledSum` computes that where the rows lie, without an index; what it takes grows with the
image, where a read by an index takes as long from any. Here is which of the two is cheaper. A pixel
that is no number is one of every sum of its image then: nothing times it is not 0.
"""

from collections.abc import Sequence
from math import ceil, prod
from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.context import F32
from xdsl_tpu.passes.lowering.grid_axis import BILINEAR, NEAREST, ZEROS, Axis
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import element_of, shape_of

HAT = 4
"""Passes in f32 over the shares along one side of an image."""

INDEX = 1.0
"""Cycles of a sample that is read by an index, besides the reads: four places and shares of f32
leave the chip for it."""

SHARE = 0.5
"""Part of local memory that one head of a lane group of rows, and all pixels, may take."""

WORD = 4


class Samples(NamedTuple):
    """Rows of `images`, each with so many `points` of each of its `heads` of `columns`."""

    images: int
    rows: int
    heads: int
    points: int
    columns: int


def as_product(
    do: Steps,
    samples: Samples,
    axes: Sequence[Axis],
    operands: Sequence[SSAValue],
) -> SSAValue:
    """The sums of samples of pixels, images of all heads, at places y and x from -1 to 1, times
    weights if there are any: images, rows, heads * columns."""
    pixels, *places = operands[: 1 + len(axes)]
    y, x = (_place(axis, one) for axis, one in zip(axes, places, strict=True))
    return do.step(
        "sums",
        tpu.SampledSumOp,
        [pixels, x, y, *operands[1 + len(axes) :]],
        (samples.images, samples.rows, samples.heads * samples.columns),
        do.ctx.element,
        heads=samples.heads,
        height=axes[0].size,
        width=axes[1].size,
    )


def _place(axis: Axis, position: SSAValue) -> SSAValue:
    """Where a sample is read, in pixels."""
    x = axis.pixels(position)
    if axis.padding != ZEROS:
        x = axis.inside("at", x)
    return axis.active("round", x, ActiveMode.ROUND) if axis.mode == NEAREST else x


def is_cheaper(do: Steps, samples: Samples, axes: Sequence[Axis]) -> bool:
    """Whether samples are rather products with all pixels than read by an index."""
    if len(axes) != 2 or axes[0].mode not in (BILINEAR, NEAREST):
        return False
    assert isinstance(do.ctx.element, AnyFloat)
    width, chip = do.ctx.element.size, do.ctx.chip
    size = prod(axis.size for axis in axes)
    line = chip.eu_bytes // width
    columns = ceil(samples.columns / line) * line
    taps = 1 if axes[0].mode == NEAREST else 4
    groups = samples.images * ceil(samples.rows / chip.lanes) * samples.heads
    count = samples.images * samples.rows * samples.heads * samples.points
    read = taps * samples.columns * width / chip.gather_bytes_per_cycle
    sides = samples.points * (WORD + 2 * width) * max(axis.size for axis in axes)
    pixels = ceil(size / chip.lanes) * samples.heads * columns * width
    held = 2 * (size * width + pixels) + sides
    if held > chip.local_bytes * SHARE:
        return False
    # one operand of three, on the average: the others come of what has rows in lanes already
    spread = samples.images * samples.rows * chip.ddr_row_bytes / chip.load_bytes_per_cycle
    return groups * _cycles(samples, axes, width, columns, chip) + spread < count * (read + INDEX)


def _cycles(samples: Samples, axes: Sequence[Axis], width: int, columns: int, chip: Chip) -> float:
    """Of one head of as many rows as there are lanes."""
    size = prod(axis.size for axis in axes)
    hats = samples.points * sum(axis.size for axis in axes) * HAT * WORD / chip.eu_bytes
    shares = (2 * samples.points - 1) * size * width / chip.eu_bytes
    macs = chip.cube_channels[width] * chip.cube_outputs[width]
    return hats + shares + size * columns / macs


def of_table(do: Steps, op: top.SampledSumOp, axes: Sequence[Axis]) -> SSAValue | None:
    """A `SampledSum` as a product: images, rows, columns. None where it is cheaper by an index, and
    where its pixels lie otherwise than image by image, or one of each image beside each other.

    In the first case images are images, in the second heads.
    """
    points, batch, rows = shape_of(op.weights)
    table, channels = op.table, shape_of(op.table)[1]
    size = prod(axis.size for axis in axes)
    first, step, apart = (one.value.data for one in (op.first, op.image_step, op.pixel_step))
    if apart == 1 and (step == size or batch == 1):
        samples = Samples(batch, rows, 1, points, channels)
    elif apart == batch and step == 1:
        samples = Samples(1, rows, batch, points, channels)
    else:
        return None
    if not is_cheaper(do, samples, axes):
        return None
    element = do.ctx.element
    table = do.ctx.as_type(table, element)
    if batch * size != shape_of(table)[0]:
        table = do.part("pixels", table, 0, (first, batch * size))
    shape = (samples.images, size, samples.heads * channels)
    pixels = do.reshaped("image", table, shape, element)
    places = list[SSAValue]()
    for number, axis in enumerate(axes):
        half = do.part(f"{axis.label}_half", op.grid, 0, (1 - number, 1))
        flat = do.reshaped(f"{axis.label}_flat", half, (points, batch, rows), element_of(half))
        rows_first = _rows_first(do, samples, f"{axis.label}_places", flat)
        places.append(do.ctx.as_type(rows_first, F32))
    shares = _rows_first(do, samples, "shares", do.ctx.as_type(op.weights, element))
    out = as_product(do, samples, axes, [pixels, *places, shares])
    if samples.heads == 1:
        return out
    apart_heads = do.reshaped("by_heads", out, (rows, batch, channels), element)
    made = (batch, rows, channels)
    return do.step("turned", tpu.PermuteOp, [apart_heads], made, element, order=[1, 0, 2])


def _rows_first(do: Steps, samples: Samples, label: str, value: SSAValue) -> SSAValue:
    """Numbers of samples, points P of each image or head in turn, row by row."""
    kind, given = element_of(value), shape_of(value)
    order = (1, 2, 0) if samples.heads == 1 else (2, 1, 0)
    made = tuple(given[axis] for axis in order)
    turned = do.step(f"{label}_turned", tpu.PermuteOp, [value], made, kind, order=list(order))
    flat = (samples.images, samples.rows, samples.heads * samples.points)
    return do.reshaped(label, turned, flat, kind)
