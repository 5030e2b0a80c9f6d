"""Convolutions of large patches: rows as channels, where there are few channels."""

from math import prod

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.interpreters.layouts import MERGE_NOTHING, choose_3ic
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, rebuilt, tensor_like
from xdsl_tpu.passes.module_state import chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

_BYTES = {"F16": 2, "BF16": 2, "INT8": 1}
"""Of an element; the matrix unit does not multiply f32."""

_TIMES = 4
"""How often the image is moved, at most, by what lays its rows out: loaded and stored in runs of a
row, which take twice as long as whole ones."""


class FoldPatchRows(RewritePattern):
    """Conv(x: NxCxHxW) {k x l, strides s x t} -> Conv(NxfCx(H/f)xW) {k/f x l, strides s/f x t}.

        Conv  1x3x224x224, 512x3x32x32    ->    Reshape, Permute, Reshape  1x24x28x224
                                                Conv  1x24x28x224, 512x24x4x32

    Row f y + r of channel c is row y of channel f c + r then. A filter has its channels side by
    side, in zeros up to what the matrix unit multiplies at once: with 3 of 32 the filter above
    takes 33.6 MB, with 24 it takes 4.2. Where rows of the kernel can be merged as they are loaded
    (`use_3ic_optimize`) that is better. f divides kernel, stride, rows and paddings.
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
    outputs, channels, height, width = shape_of(op.filter)
    lanes = chip_of(module_of(op)).weight_lanes
    parallel = lanes.channels(size)
    if channels >= parallel or choose_3ic(channels, height, width, size, lanes) != MERGE_NOTHING:
        return 1
    common = np.gcd.reduce(
        [height, ints(op.strides)[0], shape_of(op.input)[2], *ints(op.pads)[::2]]
    )
    fold = max(f for f in range(1, parallel // channels + 1) if common % f == 0)
    saved = outputs * height * width * parallel * (1 - 1 / fold)
    return fold if saved > _TIMES * prod(shape_of(op.input)) else 1


def _folded(filters: Floats, fold: int) -> Floats:
    outputs, channels, height, width = filters.shape
    parts = filters.reshape(outputs, channels, height // fold, fold, width)
    return parts.swapaxes(2, 3).reshape(outputs, channels * fold, height // fold, width)
