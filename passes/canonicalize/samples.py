"""Sums of weighted samples of images, as deformable attention makes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap, row_major
from xdsl_tpu.passes.canonicalize.common import VIEWS, behind_views, has_relu, reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

MOST_ROWS = 1 << 24
"""Rows of a table have indices in f32, which are exact up to this one."""


class SamplesToSums(RewritePattern):
    """Sum(Concat(samples of images) * weights) over positions -> SampledSum + SampledSum + ..

        GridSampler  8x32x40x40 at 8x300x4x2 -> 8x32x300x4    Permute     of the weights 8x8x300
        GridSampler  8x32x20x20 at 8x300x4x2 -> 8x32x300x4    Slice       of these       4x8x300
        Concat       8x32x300x8                          ->   Permute     of the grid  2x4x8x300
        Mul          by 8x1x300x8                             Permute     to pixels    8x1600x32
        Reduce       {ReduceSum, axes = [3]} 8x32x300         SampledSum  12800x32      8x300x32
                                                              .. the same of the second image
                                                              Add                       8x300x32
                                                              Permute     [0, 2, 1]     8x32x300

    Samples are read a pixel with all its channels at a time, and no samples of several images are
    put together (Deformable DETR, arXiv 2010.04159, eq. 3). The weights of all images are brought
    to the order of samples in one go, whose parts lie one after the other.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        found = _weighted(op)
        if found is None:
            return
        none = none_for(op, rewriter)
        batch, _, queries, points = shape_of(op.input)
        name = derived_name(op, "_r_weights")
        rows = reshape(name, found.weights, (batch, queries, points))
        weights = _turned(derived_name(op, "_r_turned_weights"), rows.output, (2, 0, 1))
        made: list[Operation] = [rows, weights]
        total: SSAValue | None = None
        start = 0
        for sampler in found.samplers:
            end = start + shape_of(sampler.output)[3]
            made += _summed(sampler, weights.output, (start, end), none)
            if total is not None:
                pair = (total, made[-1].results[0])
                name = derived_name(op, f"_r_total{end}")
                made.append(top.AddOp.make(name, pair, result_types=[total.type]))
            total = made[-1].results[0]
            start = end
        assert total is not None
        keeps = bool(op.keepdims.value.data)
        name = derived_name(op, "_r_turned") if keeps else op.location
        made.append(_turned(name, total, (0, 2, 1)))
        if keeps:
            made.append(reshape(op.location, made[-1].results[0], shape_of(op.output)))
        rewriter.replace(op, made)


@dataclass(frozen=True, slots=True)
class _Weighted:
    """Samples of several images in the order in which their positions follow each other, and
    their weights N, 1, queries, positions of all of them."""

    samplers: Sequence[top.GridSamplerOp]
    weights: SSAValue


def _weighted(op: top.ReduceOp) -> _Weighted | None:
    """What a Reduce sums, if it is samples with weights that all channels share."""
    product = sole_producer(op.input, top.MulOp)
    if product is None or op.mode.data != "ReduceSum" or has_relu(product):
        return None
    if not has_shapes(op.input, *product.inputs) or len(product.inputs) != 2:
        return None
    shape = shape_of(op.input)
    if len(shape) != 4 or ints(op.axes) not in ((3,), (-1,)):
        return None
    for samples, weights in (product.inputs, tuple(reversed(product.inputs))):
        if shape_of(samples) != shape or shape_of(weights) != (shape[0], 1, *shape[2:]):
            continue
        samplers = _samplers(samples, shape[:3])
        if samplers is not None:
            return _Weighted(samplers, weights)
    return None


def _samplers(value: SSAValue, rows: tuple[int, ...]) -> list[top.GridSamplerOp] | None:
    """The samplers whose results are put together to N, C, queries, positions."""
    value = behind_views(value)
    concat = sole_producer(value, top.ConcatOp)
    parts: Sequence[SSAValue] = (value,)
    if concat is not None:
        if has_relu(concat) or not has_shapes(*concat.inputs):
            return None
        axis = concat.axis.value.data % len(shape_of(concat.output))
        if prod(shape_of(concat.output)[:axis]) != prod(rows):
            return None
        parts = tuple(map(behind_views, concat.inputs))
    found: list[top.GridSamplerOp] = []
    for part in parts:
        sampler = sole_producer(part, top.GridSamplerOp)
        if sampler is None or not has_shapes(sampler.output):
            return None
        if shape_of(sampler.output)[:3] != rows:
            return None
        if len(shape_of(sampler.output)) != 4:
            return None
        found.append(sampler)
    return found


def _summed(
    sampler: top.GridSamplerOp, weights: SSAValue, bounds: tuple[int, int], none: SSAValue
) -> list[Operation]:
    """The samples of one image with their part of the weights P, N, queries, summed:
    N, queries, C."""
    batch, channels, height, width = shape_of(sampler.input)
    size, queries = height * width, shape_of(sampler.grid)[1]
    grid = _turned(derived_name(sampler, "_r_grid"), sampler.grid, (3, 2, 0, 1))
    share = slice_along(derived_name(sampler, "_r_share"), weights, 0, bounds, none)
    shape = (batch, channels, size)
    image = reshape(derived_name(sampler, "_r_image"), sampler.input, shape)
    pixels = _turned(derived_name(sampler, "_r_pixels"), image.output, (0, 2, 1))
    name = derived_name(sampler, "_r_table")
    table = reshape(name, pixels.output, (batch * size, channels))
    total = top.SampledSumOp.make(
        derived_name(sampler, "_r_sum"),
        (table.output, grid.output, share.output),
        result_types=[tensor_like(sampler.output, (batch, queries, channels))],
        height=height,
        width=width,
        image_step=size,
        mode=sampler.mode,
        padding_mode=sampler.padding_mode,
        align_corners=sampler.align_corners,
    )
    return [grid, share, image, pixels, table, total]


def _turned(name: str | LocationAttr, value: SSAValue, order: Sequence[int]) -> top.PermuteOp:
    shape = shape_of(value)
    kind = tensor_like(value, tuple(shape[axis] for axis in order))
    return top.PermuteOp.make(name, (value,), result_types=[kind], order=tuple(order))


class RowsOfSource(RewritePattern):
    """Pixels that lie in rows of what a table was cut and permuted from are read from there.

    Slice       1x2100x256 -> 1x1600x256       Reshape     1x2100x256 -> 16800x32
    Permute     1x256x1600                     SampledSum  16800x32 {image_step = 1,
    Reshape     8x32x1600                  ->                        pixel_step = 8}
    Permute     8x1600x32
    Reshape     12800x32
    SampledSum  12800x32 {image_step = 1600}
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SampledSumOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.table, op.grid):
            return
        wanted = _pixels(op)
        found: tuple[SSAValue, _Rows] | None = None
        for source, moved in _sources(op.table):
            rows = _rows(wanted.after(moved), op)
            if rows is not None:
                found = (source, rows)
        if found is None:
            return
        source, rows = found
        channels = shape_of(op.table)[1]
        shape = (prod(shape_of(source)) // channels, channels)
        if shape[0] > MOST_ROWS:
            return
        table = reshape(derived_name(op, "_r_table"), source, shape)
        made = top.SampledSumOp.make(
            op.location,
            (table.output, op.grid, op.weights),
            result_types=[op.output.type],
            height=op.height,
            width=op.width,
            first=rows.first,
            image_step=rows.image_step,
            pixel_step=rows.pixel_step,
            mode=op.mode,
            padding_mode=op.padding_mode,
            align_corners=op.align_corners,
        )
        rewriter.replace(op, (table, made))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where the pixels of images lie in a table."""

    first: int
    image_step: int
    pixel_step: int


def _pixels(op: top.SampledSumOp) -> IndexMap:
    """All numbers that an op reads of its table: images, pixels, channels."""
    channels = shape_of(op.table)[1]
    steps = (op.image_step.value.data * channels, op.pixel_step.value.data * channels, 1)
    return _in_rows(op, op.first.value.data * channels, steps)


def _in_rows(op: top.SampledSumOp, at: int, steps: Sequence[int]) -> IndexMap:
    """Images, pixels and channels in order, found at constant distances from each other."""
    sizes = (shape_of(op.grid)[2], op.height.value.data * op.width.value.data)
    shape = (*sizes, shape_of(op.table)[1])
    digits = map(Digit, shape, row_major(shape), steps)
    return IndexMap((Box(0, at, tuple(digits)).simplified(),))


def _sources(value: SSAValue) -> Iterator[tuple[SSAValue, IndexMap]]:
    """What a value is cut and permuted from, nearest first, and where its numbers lie there.

    What is only a view of its operand is none by itself.
    """
    total: IndexMap | None = None
    while (moved := _moved(value.owner)) is not None:
        owner = cast(Operation, value.owner)
        value = owner.operands[0]
        total = moved if total is None else total.after(moved)
        if len(total.boxes) > 1:
            return
        if not isinstance(owner, VIEWS):
            yield value, total


def _moved(op: Operation | Block) -> IndexMap | None:
    """Where the numbers of a result lie in the first operand, if they do."""
    if isinstance(op, Block) or not op.operands or not has_shapes(op.operands[0], op.results[0]):
        return None
    shape = shape_of(op.operands[0])
    match op:
        case top.ReshapeOp() | top.SqueezeOp() | top.UnsqueezeOp():
            return IndexMap.identity(prod(shape))
        case top.PermuteOp():
            return IndexMap.permuted(shape, ints(op.order))
        case top.SliceOp() if is_static(op):
            steps, made = row_major(shape), row_major(shape_of(op.output))
            cuts = op.cuts()
            at = sum(part.first * step for part, step in zip(cuts, steps, strict=True))
            digits = (
                Digit(part.count, to, part.step * step)
                for part, to, step in zip(cuts, made, steps, strict=True)
            )
            return IndexMap((Box(0, at, tuple(digits)).simplified(),))
        case _:
            return None


def _rows(pixels: IndexMap, op: top.SampledSumOp) -> _Rows | None:
    """How pixels lie in a table of rows as wide as a pixel, if they do."""
    box, channels = pixels.boxes[0], shape_of(op.table)[1]
    images, size = shape_of(op.grid)[2], op.height.value.data * op.width.value.data
    image_step = _place(box, size * channels) - box.at if images > 1 else 0
    pixel_step = _place(box, channels) - box.at if size > 1 else 0
    starts = (box.at, image_step, pixel_step)
    if min(starts) < 0 or any(start % channels for start in starts):
        return None
    if pixels != _in_rows(op, box.at, (image_step, pixel_step, 1)):
        return None
    return _Rows(*(start // channels for start in starts))


def _place(box: Box, result: int) -> int:
    """Where an element of a result without gaps lies in the source."""
    at = box.at
    for digit in box.digits:
        turns, result = divmod(result, digit.to)
        at += turns * digit.at
    return at
