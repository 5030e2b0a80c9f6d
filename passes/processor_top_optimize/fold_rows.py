"""Convolutions of large patches: rows as channels, where there are few channels."""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interpreters.layouts import MERGE_NOTHING, choose_3ic
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, rebuilt, tensor_like
from xdsl_tpu.passes.module_state import chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

_BYTES = {"F16": 2, "BF16": 2, "INT8": 1}
"""Of an element; the matrix unit does not multiply f32."""


class FoldPatchRows(RewritePattern):
    """Conv(x: NxCxHxW) {k x l, strides s x t} -> Conv(NxfCx(H/f)xW) {k/f x l, strides s/f x t}.

        Conv  1x3x224x224, 512x3x32x32    ->    Reshape, Permute, Reshape  1x96x7x224
                                                Conv  1x96x7x224, 512x96x1x32

    Row f y + r of channel c is row y of channel f c + r then. A filter has its channels side by
    side, in zeros up to what the matrix unit multiplies at once: with 3 of 32 the filter above
    takes 33.6 MB, with 96 it takes 3.1. Where rows of the kernel can be merged as they are loaded
    (`use_3ic_optimize`) that is better. f divides kernel, stride, rows and paddings; of these it
    is the one that takes the fewest cycles of the array, of loading filters and of laying rows out.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        fold = _fold(op)
        filters = None if fold < 2 else values_of(op.filter)
        if filters is None:
            return
        images, channels, rows, columns = shape_of(op.input)
        apart = reshape(
            derived_name(op, "_r_apart"),
            op.input,
            (images, channels, rows // fold, fold, columns),
        )
        order = (0, 1, 3, 2, 4)
        turned = top.PermuteOp.make(
            derived_name(op, "_r_rows"),
            (apart.output,),
            result_types=[tensor_like(op.input, (images, channels, fold, rows // fold, columns))],
            order=order,
        )
        whole = (images, channels * fold, rows // fold, columns)
        folded = reshape(derived_name(op, "_r_folded"), turned.output, whole)
        weight = make_weight(op, derived_name(op, "_folded_filter"), _folded(filters, fold))
        conv = rebuilt(op, operands=(folded.output, weight.output, *op.operands[2:]))
        (height, width), (down, across) = ints(op.kernel_shape), ints(op.strides)
        top_rows, left, bottom, right = ints(op.pads)
        conv.kernel_shape = I64_ARRAY.encode((height // fold, width))
        conv.strides = I64_ARRAY.encode((down // fold, across))
        conv.pads = I64_ARRAY.encode((top_rows // fold, left, bottom // fold, right))
        rewriter.replace(op, [apart, turned, folded, weight, conv])


def _fold(op: top.ConvOp) -> int:
    """How many rows become channels; 1 for none."""
    if not has_shapes(op.input, op.output, op.filter) or op.group.value.data != 1:
        return 1
    size = _BYTES.get(float_format(module_of(op)) or "F16")
    spread = any(ints(op.inserts or ())) or set(ints(op.dilations or ())) - {1}
    if size is None or spread or len(shape_of(op.input)) != 4 or len(ints(op.kernel_shape)) != 2:
        return 1
    chip, filters = chip_of(module_of(op)), shape_of(op.filter)
    lanes, (_, channels, height, width) = chip.weight_lanes, filters
    if channels >= lanes.channels(size):
        return 1
    if choose_3ic(channels, height, width, size, lanes) != MERGE_NOTHING:
        return 1
    common = int(
        np.gcd.reduce([height, ints(op.strides)[0], shape_of(op.input)[2], *ints(op.pads)[::2]])
    )
    folds = [fold for fold in range(1, common + 1) if common % fold == 0]
    price = _Price(chip, size, shape_of(op.input), filters, shape_of(op.output))
    return min(folds, key=price)


@dataclass(frozen=True)
class _Price:
    """Cycles of a convolution by the fold of its rows: the longer of multiplying and of loading
    filters, and the image loaded and stored once more where its rows are laid out."""

    chip: Chip
    size: int
    image: Shape
    filters: Shape
    result: Shape

    def __call__(self, fold: int) -> float:
        chip, lanes = self.chip, self.chip.weight_lanes
        outputs, channels, height, width = self.filters
        images, _, rows, columns = self.result
        block = lanes.channels(self.size)
        taps = _rounds(channels * fold, block) * (height // fold) * width
        places = images * _rounds(rows * columns, chip.cube_outputs[self.size])
        array = _rounds(outputs, lanes.count) * taps * places
        loads = outputs * taps * block * self.size / chip.load_bytes_per_cycle
        image = prod(self.image) * self.size if fold > 1 else 0
        moves = image / chip.load_bytes_per_cycle + image / chip.store_bytes_per_cycle
        return max(array, loads) + moves


def _rounds(size: int, at_once: int) -> int:
    return -(-size // at_once)


def _folded(filters: Floats, fold: int) -> Floats:
    outputs, channels, height, width = filters.shape
    parts = filters.reshape(outputs, channels, height // fold, fold, width)
    return parts.swapaxes(2, 3).reshape(outputs, channels * fold, height // fold, width)
