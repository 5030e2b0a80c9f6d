"""Convolutions over blocks of pixels that were made channels, and before channels become blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer
from xdsl_tpu.passes.tensors import shape_of

Place: TypeAlias = tuple[int, int, int]
"""Channel of the image, row and column in its block."""

_RANK = 4


@dataclass(frozen=True)
class _Blocks:
    """`image` in blocks of `height` x `width` pixels; what becomes each channel."""

    image: SSAValue
    height: int
    width: int
    places: Sequence[Place]


class ConvOfBlocks(RewritePattern):
    """Conv(Concat(Slice(x, 0::2, 0::2), Slice(x, 1::2, 0::2), ..), W) -> Conv(x, W').

        Slice   1x3x416x416 -> 1x3x208x208, four times
        Concat  1x12x208x208                              ->    Conv  1x3x416x416, 6x6, stride 2
        Conv    1x12x208x208, 3x3, stride 1

    The pixels that one tap of the filter sees are those of a block, so that W' has them side by
    side: kernel, strides and padding are as many times larger as blocks are. The blocks may be
    gathered by Slices in any order or by a Depth2Space, and have no other use.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if len(op.kernel_shape.data) != _RANK - 2 or op.group.value.data != 1:
            return
        dilations = (1, 1) if op.dilations is None else ints(op.dilations)
        if dilations != (1, 1) or any(ints(op.inserts or ())):
            return
        blocks = _of_slices(op.input) or _of_shuffle(op.input)
        kernels = None if blocks is None else values_of(op.filter)
        if blocks is None or kernels is None:
            return
        height, width = blocks.height, blocks.width
        weight = make_weight(
            op, derived_name(op.filter, "_of_pixels"), _side_by_side(kernels, blocks)
        )
        conv = rebuilt(op, operands=(blocks.image, weight, *op.operands[2:]))
        for name in ("kernel_shape", "strides", "pads"):
            sizes = ints(getattr(op, name))
            factors = (height, width) * (len(sizes) // 2)
            grown = [size * factor for size, factor in zip(sizes, factors, strict=True)]
            setattr(conv, name, I64_ARRAY.encode(grown))
        rewriter.replace(op, [weight, conv])


class ConvInBlockOrder(RewritePattern):
    """Depth2Space(Conv(x, W)) {is_CRD = true} -> Depth2Space(Conv(x, W')) {is_CRD = false}.

    The filters change places, so that all channels of one place in the block follow each other:
    what moves them moves as many neighbours as the image has channels, from a lane to the same
    lane where that is a multiple of the lanes.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.Depth2SpaceOp, rewriter: PatternRewriter) -> None:
        conv = sole_producer(op.input, top.ConvOp)
        if conv is None or op.is_inversed.value.data or not op.is_CRD.value.data:
            return
        if not (op.in_is_NCHW.value.data and has_shapes(conv.output)):
            return
        channels = shape_of(conv.output)[1]
        block = op.block_h.value.data * op.block_w.value.data
        if conv.group.value.data != 1 or block in (1, channels):
            return
        given = [value for value in conv.operands[1:] if not is_none(value)]
        known = [values_of(value) for value in given]
        moved = [
            make_weight(conv, derived_name(value, "_by_place"), _by_place(values, block))
            for value, values in zip(given, known, strict=True)
            if values is not None
        ]
        if len(moved) < len(given):
            return
        weights = dict(zip(given, moved, strict=True))
        made = rebuilt(
            conv,
            operands=(conv.input, *(weights.get(value, value) for value in conv.operands[1:])),
            location=name_loc(derived_name(conv, "_by_place")),
        )
        blocks = rebuilt(op, operands=(made.output,))
        blocks.is_CRD = BOOL.encode(False)
        rewriter.replace(op, [*moved, made, blocks])


def _by_place(values: Floats, block: int) -> Floats:
    """Filters or biases (channels * block, ..) as (block * channels, ..)."""
    places = values.reshape(values.shape[0] // block, block, -1).swapaxes(0, 1)
    return places.reshape(values.shape)


def _side_by_side(kernels: Floats, blocks: _Blocks) -> Floats:
    """(outputs, places, kh, kw) -> (outputs, channels, kh * height, kw * width)."""
    outputs, _, rows, columns = kernels.shape
    channels, height, width = shape_of(blocks.image)[1], blocks.height, blocks.width
    wide = np.zeros((outputs, channels, rows, height, columns, width), np.float32)
    for source, (channel, row, column) in enumerate(blocks.places):
        wide[:, channel, :, row, :, column] += kernels[:, source]
    return wide.reshape(outputs, channels, rows * height, columns * width)


def _of_slices(value: SSAValue) -> _Blocks | None:
    """Blocks whose pixels were gathered place by place."""
    concat = sole_producer(value, top.ConcatOp)
    if concat is None or has_relu(concat) or not has_shapes(value):
        return None
    slices = [sole_producer(part, top.SliceOp) for part in concat.inputs]
    first = slices[0]
    if first is None or concat.axis.value.data % len(shape_of(value)) != 1:
        return None
    image, shape = first.input, shape_of(value)
    if len(shape) != _RANK or not is_static(first):
        return None
    steps = [part.step for part in first.cuts()]
    if steps[:2] != [1, 1] or min(steps) < 1 or max(steps) == 1:
        return None
    height, width = shape_of(image)[2:]
    if (height, width) != (shape[2] * steps[2], shape[3] * steps[3]):
        return None
    places: list[Place] = []
    for part in slices:
        if part is None or part.input is not image or not is_static(part):
            return None
        cuts = part.cuts()
        if [cut.step for cut in cuts] != steps or shape_of(part.output)[2:] != shape[2:]:
            return None
        start, row, column = (cut.first for cut in cuts[1:])
        count = cuts[1].count
        if cuts[0].count != shape[0] or row >= steps[2] or column >= steps[3]:
            return None
        places += [(channel, row, column) for channel in range(start, start + count)]
    return _Blocks(image, steps[2], steps[3], places)


def _of_shuffle(value: SSAValue) -> _Blocks | None:
    """Blocks that a Depth2Space made channels of."""
    op = sole_producer(value, top.Depth2SpaceOp)
    if op is None or not has_shapes(op.input, op.output) or not op.is_inversed.value.data:
        return None
    if not op.in_is_NCHW.value.data or not op.out_is_NCHW.value.data:
        return None
    height, width = op.block_h.value.data, op.block_w.value.data
    channels, swapped = shape_of(op.input)[1], bool(op.swap_cr.value.data)
    lines, points = range(height), range(width)
    pixels = (
        [(r, c) for c in points for r in lines]
        if swapped
        else [(r, c) for r in lines for c in points]
    )
    if op.is_CRD.value.data:
        places = [(channel, *pixel) for channel in range(channels) for pixel in pixels]
    else:
        places = [(channel, *pixel) for pixel in pixels for channel in range(channels)]
    return _Blocks(op.input, height, width, places)
