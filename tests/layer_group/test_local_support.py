"""Which ops have a local form, and the reason in words for each that has none."""

import pytest
from tests.layer_group.op_samples import (
    INT8,
    attention,
    best,
    binary,
    concat,
    conv,
    layer_norm,
    made,
    matmul,
    out,
    permute,
    picked,
    pool,
    rearrange,
    reduce,
    relu,
    reshape,
    slice_op,
    softmax,
    squeeze,
    unary,
    weight,
)
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, i32

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.tpu.gather import PLACES
from xdsl_tpu.passes.layer_group.base_groups import base_groups, why_global

ui8, ui16 = PLACES

SECOND_HALF = IndexMap((Box(32, 0, (Digit(32, 1, 1),)),))
"""What puts 32 elements behind 32 others."""

GLOBAL: list[tuple[str, NamedOp, str]] = [
    (
        "permute-beside-another",
        permute(out(permute((4, 8, 6), [1, 0, 2])), [0, 2, 1]),
        "with the Permute beside it, it is one move between global tensors",
    ),
    (
        "permute",
        permute((1, 8, 4, 4), [0, 2, 1, 3]),
        "order [0, 2, 1, 3] moves data across lanes",
    ),
    (
        "permute-inner",
        permute((1, 8, 4, 5), [0, 1, 3, 2]),
        "it turns order [0, 1, 3, 2] with the DMA, between global tensors",
    ),
    (
        "far-windows",
        conv((1, 4, 64, 64), 8, 3, 16),
        "a stride of 16 takes several commands",
    ),
    (
        "scan",
        made(tpu.LinearScanOp, [(1, 4, 5)] * 2, (1, 4, 5), nones=1, axis=1),
        "its steps along axis 1 of 1x4x5 are not those of n, h or w",
    ),
    (
        "attention-with-a-mask",
        attention((1, 8, 2, 16), mask=(1, 1, 8, 8)),
        "its mask would not lie over the lanes by rows",
    ),
    (
        "attention-with-masks-of-heads",
        attention((1, 8, 2, 16), mask=(1, 2, 1, 8)),
        "its mask would not lie over the lanes by rows",
    ),
    (
        "attention-with-a-mask-of-three-dimensions",
        attention((1, 8, 2, 16), mask=(1, 1, 8)),
        "its mask would not lie over the lanes by rows",
    ),
    (
        "attention-with-heads-first",
        attention((1, 2, 8, 16), head_major=(0, 1, 0, 0)),
        "its heads would lie over the lanes, not its rows",
    ),
    (
        "attention-of-rank-5",
        attention((1, 8, 1, 2, 16)),
        "rows of 1x8x1x2x16 are not its second dimension: 8 in 1 images",
    ),
    (
        "attention-of-folded-rows",
        attention((1, 1, 8, 32)),
        "rows of 1x1x8x32 are not its second dimension: 8 in 1 images",
    ),
    (
        "best-of-a-matrix",
        best((4, 8)),
        "its rows are of rank 2; only those of rank 3 and 4 are in one lane each",
    ),
    (
        "best-of-rank-5",
        best((1, 2, 3, 4, 8)),
        "its rows are of rank 5; only those of rank 3 and 4 are in one lane each",
    ),
    ("tile", made(tpu.TileOp, [(1, 4)], (1, 8), nones=1, tile=[1, 2]), "it has no local form"),
    (
        "unsqueeze",
        made(tpu.UnsqueezeOp, [(1, 4)], (1, 1, 4), axes=[1]),
        "1x4 to 1x1x4 changes dimension 0 or 1",
    ),
    (
        "ranks",
        made(tpu.AddOp, [(1, 4, 8), (8,)], (1, 4, 8)),
        "its operands have different ranks: 1x4x8 and 8",
    ),
    (
        "broadcast-5d",
        binary(tpu.AddOp, (2, 3, 4, 5, 6), (2, 3, 4, 5, 1)),
        "dimensions 3 and on of 2x3x4x5x6 and 2x3x4x5x1, which share an axis, are not broadcast "
        "alike",
    ),
    (
        "broadcast-5d-opposite-and-outer",
        binary(tpu.MulOp, (2, 3, 1, 5, 1), (2, 3, 4, 1, 6)),
        "dimensions 3 and on of 2x3x1x5x1 and 2x3x4x1x6, which share an axis, are not broadcast "
        "alike",
    ),
    (
        "broadcast-5d-opposite-int8",
        binary(tpu.AddOp, (2, 3, 4, 5, 1), (2, 3, 4, 1, 6), element=INT8),
        "dimensions 3 and on of 2x3x4x5x1 and 2x3x4x1x6, which share an axis, are not broadcast "
        "alike",
    ),
    (
        "broadcast-6d",
        binary(tpu.SubOp, (1, 1, 1, 1, 1, 6), (1, 1, 1, 1, 1, 1)),
        "dimensions 3 and on of 1x1x1x1x1x6 and 1x1x1x1x1x1, which share an axis, are not "
        "broadcast alike",
    ),
    (
        "concat-n",
        concat(0, (2,) * 5, (2,) * 5),
        "it is along axis 0 of rank 5; only up to rank 4 is local, whole images",
    ),
    ("concat-4", concat(4, (2,) * 5, (2,) * 5), "it is along axis 4; only axes 0 to 3 are local"),
    ("layer-norm-0", layer_norm((4, 8), 0), "it is over axis 0; only axes 1 to 4 are local"),
    (
        "layer-norm-5",
        layer_norm((1, 1, 1, 1, 2, 8), 5),
        "it is over axis 5; only axes 1 to 4 are local",
    ),
    *(
        (
            f"group-norm-{len(shape)}d",
            unary(tpu.GroupNormOp, shape, nones=4, eps=1e-5, num_groups=shape[1]),
            f"its rank is {len(shape)}; only 3 and 4 are local",
        )
        for shape in ((2, 4), (1, 4, 2, 2, 2))
    ),
    (
        "group-norm-pairs",
        unary(tpu.GroupNormOp, (4, 8, 4), nones=4, eps=1e-5, num_groups=4),
        "groups of 2 channels lie in several lanes",
    ),
    *(
        (
            f"pixel-norm-{len(shape)}d",
            unary(tpu.PixelNormOp, shape, nones=4, eps=1e-5),
            f"its rank is {len(shape)}; only ranks 3 and 4 are local",
        )
        for shape in ((2, 4), (1, 4, 2, 2, 2))
    ),
    *(
        (
            f"pixel-norm-{which}",
            made(tpu.PixelNormOp, ((1, 4, 8), *given), (1, 4, 8), nones=3, eps=1e-5),
            "its parameters are no rows",
        )
        for which, given in (("weight", ((1, 4, 1),)), ("shorter", ((1, 1, 3),)))
    ),
    (
        "rms-norm",
        unary(tpu.RMSNormOp, (8,), nones=1, eps=1e-5),
        "its rank is 1; only ranks 2 to 5 are local",
    ),
    (
        "matmul-batch",
        matmul((2, 3, 4, 5), (2, 3, 5, 6)),
        "2x3x4x5 by 2x3x5x6 has its batch in dimensions 0 and 1; it is local in 0 and 2 only",
    ),
    (
        "matmul-2d",
        matmul((4, 5), (5, 6)),
        "4x5 by 5x6 has ranks that have no local form",
    ),
    (
        "matmul-4d-by-2d",
        matmul((1, 56, 28, 16), (16, 8)),
        "1x56x28x16 by 16x8 fills the lanes badly: dimension 1 is larger than 28",
    ),
    (
        "matmul-5d-by-2d",
        matmul((1, 8, 64, 7, 16), (16, 8)),
        "1x8x64x7x16 by 16x8 fills the lanes badly: dimension 1 is larger than 7",
    ),
    (
        "matmul-one-left",
        matmul((1, 8, 16), (3, 16, 4)),
        "1x8x16 by 3x16x4 uses one left matrix several times",
    ),
    (
        "matmul-heads-alike",
        matmul((2, 3, 4, 5), (2, 5, 4, 5), hdim_is_batch=True),
        "2x3x4x5 by 2x5x4x5 has only dimension 1 different",
    ),
    (
        "matmul-heads-one-left",
        matmul((1, 49, 3, 49), (2, 49, 3, 32), hdim_is_batch=True),
        "1x49x3x49 by 2x49x3x32 uses one left matrix several times",
    ),
    (
        "matmul-one-left-head",
        matmul((2, 49, 1, 49), (2, 49, 3, 32), hdim_is_batch=True),
        "2x49x1x49 by 2x49x3x32 uses one left matrix several times",
    ),
    (
        "matmul-4d-by-3d",
        matmul((2, 3, 4, 5), (2, 5, 6)),
        "2x3x4x5 by 2x5x6 has several rows in a lane, which only 16-bit products have",
    ),
    (
        "rms-norm-6d",
        unary(tpu.RMSNormOp, (1, 1, 1, 2, 4, 8), nones=1, eps=1e-5),
        "its rank is 6; only ranks 2 to 5 are local",
    ),
    ("one-unknown", unary(tpu.AddOp, (1, DYNAMIC_INDEX)), "its shapes are not known"),
    ("pool", pool((1, 64, 64, 64), 2, 16), "its stride 16x16 is above 15"),
    (
        "pool-adaptive",
        pool((1, 64, 64, 64), 2, 2, is_adaptive=True),
        "its windows adapt to the output",
    ),
    (
        "rearrange-by-the-dma",
        rearrange([(4, 8)], (4, 8), IndexMap.rolled((4, 8), (1, 0)), in_lanes=False),
        "tpu.Rearrange has no local form",
    ),
    (
        "rearrange-of-two",
        rearrange([(1, 4, 8), (1, 4, 8)], (2, 4, 8), IndexMap.identity(32), SECOND_HALF),
        "it has several inputs, or shapes of other than 2 to 4 dimensions",
    ),
    (
        "rearrange-from-5d",
        rearrange([(1, 128, 2, 2, 12)], (1, 8, 16, 48), IndexMap.identity(128 * 48)),
        "it has several inputs, or shapes of other than 2 to 4 dimensions",
    ),
    (
        "rearrange-to-5d",
        rearrange([(1, 8, 16, 48)], (1, 128, 2, 2, 12), IndexMap.identity(128 * 48)),
        "it has several inputs, or shapes of other than 2 to 4 dimensions",
    ),
    (
        "rearrange-from-1d",
        rearrange([(32,)], (1, 4, 8), IndexMap.identity(32)),
        "it has several inputs, or shapes of other than 2 to 4 dimensions",
    ),
    (
        "rearrange-to-1d",
        rearrange([(1, 4, 8)], (32,), IndexMap.identity(32)),
        "it has several inputs, or shapes of other than 2 to 4 dimensions",
    ),
    (
        "rearrange-with-a-border",
        rearrange([(1, 4, 8)], (2, 4, 8), IndexMap.identity(32), border=0.0),
        "elements leave their lanes in no way that has a kernel",
    ),
    (
        "rearrange-all-apart",
        rearrange([(1, 8, 60)], (1, 32, 15), IndexMap.permuted((8, 6, 10), (2, 0, 1))),
        "elements leave their lanes in no way that has a kernel",
    ),
    (
        "reduce-axes",
        reduce((1, 4, 5, 6), (1, 2), "ReduceMean"),
        "it reduces axes [1, 2] of rank 4; only 2, 3 or both of rank 4 and 2 of rank 3 are local",
    ),
    (
        "reduce-mode",
        reduce((1, 4, 5, 6), (3,), "ReduceProd"),
        "ReduceProd is not local, only ReduceL1, ReduceL2, ReduceMax, ReduceMean, ReduceMin, "
        "ReduceSum",
    ),
    ("reduce-type", reduce((1, 4, 5), (2,), "ReduceSum", INT8), "it makes si8 of f16"),
    (
        "reshape-n",
        reshape((1, 56, 56, 96), (1, 3136, 96)),
        "1x56x56x96 to 1x3136x96 changes dimension 0 or 1",
    ),
    (
        "reshape-rank",
        reshape((1, 56, 56, 96), (1, 56, 8, 7, 96)),
        "1x56x56x96 to 1x56x8x7x96 goes across the border of rank 4",
    ),
    (
        "reshape-from-5d",
        reshape((1, 56, 8, 7, 96), (1, 56, 56, 96)),
        "1x56x8x7x96 to 1x56x56x96 goes across the border of rank 4",
    ),
    (
        "slice-c-size-2d",
        slice_op((4, 65536), (4, 2)),
        "dimension 1 of 4x65536 is above 65535",
    ),
    (
        "slice-c-step-2d",
        slice_op((4, 8), (4, 4), steps=(1, 2)),
        "its step along dimension 1 is 2; only 1 is local",
    ),
    ("reshape-1d", reshape((4,), (4,)), "4 to 4 changes dimension 0 or 1"),
    (
        "squeeze",
        squeeze((1, 4, 5, 1), (4, 5, 1), [0]),
        "1x4x5x1 to 4x5x1 changes dimension 0 or 1",
    ),
    (
        "slice-6d",
        slice_op((1, 1, 1, 1, 2, 2), (1, 1, 1, 1, 1, 2)),
        "its rank is 6; only ranks up to 5 are local",
    ),
    (
        "slice-5d",
        slice_op((1, 49, 3, 3, 32), (1, 49, 1, 1, 32)),
        "more than dimension 2 (d) differs in rank 5: 1x49x3x3x32 to 1x49x1x1x32",
    ),
    (
        "slice-c-step",
        slice_op((1, 8, 4, 4), (1, 4, 4, 4), steps=(1, 2, 1, 1)),
        "its step along dimension 1 is 2; only 1 is local",
    ),
    (
        "slice-c-size",
        slice_op((1, 65536, 2), (1, 65536, 1)),
        "dimension 1 of 1x65536x2 is above 65535",
    ),
    (
        "slice-at-run-time",
        made(
            tpu.SliceOp,
            [(4, 4), (2,)],
            (2, 4),
            nones=3,
            offset=[0, 0],
            ends=[2, 4],
            steps=[1, 1],
        ),
        "the slice is computed at run time",
    ),
    (
        "softmax-axis",
        softmax((1, 4, 5, 6), 1),
        "it is over axis 1 of rank 4; only axes 2 and 3 of rank 3 and 4 are local",
    ),
    (
        "softmax-rank",
        softmax((4, 5, 6, 7, 8), 4),
        "it is over axis 4 of rank 5; only axes 2 and 3 of rank 3 and 4 are local",
    ),
    (
        "swap",
        unary(tpu.SwapDimInnerOp, (4, 5, 6), offset=[0, 1, 0]),
        "its rank is 3; only rank 4 is local",
    ),
    (
        "upsample",
        made(tpu.UpsampleOp, [(1, 4, 5)], (1, 8, 10), nones=1, scale_h=2, scale_w=2),
        "its rank is 3; only rank 4 is local",
    ),
    (
        "rope",
        made(tpu.RopeOp, [(1, 3, 8, 32), (1, 1, 8, 32), (1, 1, 8, 32)], (1, 3, 8, 32)),
        "only tokens of heads, and angles of tokens, are local, not 1x3x8x32",
    ),
    (
        "elements-of-images",
        picked((2, 8, 4, 5), (2, 8, 4, 3), ui8),
        "it picks from 2x8x4x5; only elements of the rows of rank 3 are in lanes",
    ),
    (
        "elements-of-columns",
        picked((2, 8, 5), (2, 3, 5), ui8, axis=1),
        "it picks from 2x8x5; only elements of the rows of rank 3 are in lanes",
    ),
    (
        "elements-by-32-bits",
        picked((2, 8, 5), (2, 8, 3), i32),
        "its indices are no constants of unsigned 8 or 16 bits",
    ),
    (
        "elements-of-some-images",
        picked((4, 8, 5), (2, 8, 3), ui8),
        "indices 2x8x3 are not one for each row of 4x8x5",
    ),
    (
        "shuffle",
        made(tpu.ShuffleChannelOp, [(1, 4, 5)], (1, 4, 5), group=2),
        "its rank is 3; only rank 4 is local",
    ),
    (
        "blocks-of-pixels-last",
        made(
            tpu.Depth2SpaceOp,
            [(1, 5, 5, 8)],
            (1, 10, 10, 2),
            block_h=2,
            block_w=2,
            is_CRD=True,
            is_inversed=False,
            in_is_NCHW=False,
            out_is_NCHW=False,
        ),
        "its channels are not the second dimension",
    ),
    (
        "pad-channels",
        made(tpu.PadOp, [(1, 4, 5, 5)], (1, 6, 5, 5), nones=4, paddings=[0, 2, 0, 0, 0, 0, 0, 0]),
        "it does not only put known sizes around images, rows and columns",
    ),
    (
        "pad-channels-of-rank-3",
        made(tpu.PadOp, [(1, 4, 5)], (1, 6, 5), nones=4, paddings=[0, 0, 0, 0, 2, 0]),
        "it does not only put known sizes around images, rows and columns",
    ),
    (
        "pad-rank",
        made(tpu.PadOp, [(4, 5)], (4, 6), nones=4, paddings=[0, 1, 0, 0]),
        "its rank is 2; only ranks 3 and 4 are local",
    ),
    ("unknown", relu((1, DYNAMIC_INDEX)), "its shapes are not known"),
]

LOCAL: list[tuple[str, NamedOp]] = [
    (
        "far-windows-beside-each-other-in-their-rows",
        made(
            tpu.Conv2DOp,
            [(1, 4, 3, 64), weight((8, 4, 1, 16)), weight((1, 8, 1, 1), f32)],
            (1, 8, 3, 4),
            kernel_shape=(1, 16),
            strides=(1, 16),
            pads=(0,) * 4,
            with_bias=True,
        ),
    ),
    ("slice-1d", slice_op((8,), (4,))),
    ("slice-c-size", slice_op((1, 65535, 2), (1, 65535, 1))),
    ("slice-5d-d-alone", slice_op((2, 4, 3, 5, 8), (2, 4, 1, 5, 8))),
    ("add-one-channel", binary(tpu.AddOp, (2, 1, 8), (2, 1, 8))),
    ("add-stretched-rows", binary(tpu.AddOp, (2, 4, 8), (2, 4, 1))),
    ("broadcast-6d-alike", binary(tpu.AddOp, (1, 3, 4, 5, 6, 7), (1, 3, 4, 1, 1, 1))),
    ("concat-n-4d", concat(0, (2,) * 4, (3, 2, 2, 2))),
    ("concat-w", concat(3, (2,) * 4, (2,) * 4)),
    ("layer-norm-1", layer_norm((4, 8), 1)),
    ("layer-norm-4", layer_norm((1, 1, 1, 2, 8), 4)),
    ("group-norm-3d", unary(tpu.GroupNormOp, (2, 4, 8), nones=4, eps=1e-5, num_groups=4)),
    ("group-norm-4d", unary(tpu.GroupNormOp, (2, 4, 8, 2), nones=4, eps=1e-5, num_groups=4)),
    ("pixel-norm-3d", unary(tpu.PixelNormOp, (2, 4, 8), nones=4, eps=1e-5)),
    (
        "pixel-norm-rows",
        made(tpu.PixelNormOp, ((1, 4, 8), (1, 1, 4), (4,)), (1, 4, 8), nones=2, eps=1e-5),
    ),
    ("pixel-norm-4d", unary(tpu.PixelNormOp, (2, 4, 8, 2), nones=4, eps=1e-5)),
    ("rms-norm-2d", unary(tpu.RMSNormOp, (4, 8), nones=1, eps=1e-5)),
    ("rms-norm-5d", unary(tpu.RMSNormOp, (1, 1, 2, 4, 8), nones=1, eps=1e-5)),
    ("permute-matrix", permute((1, 8, 4), [0, 2, 1])),
    ("permute-last", permute((1, 8, 4, 4), [0, 2, 3, 1])),
    ("permute-first", permute((1, 8, 4, 4), [0, 3, 1, 2])),
    ("rearrange-rows", rearrange([(4, 8)], (4, 8), IndexMap.rolled((4, 8), (1, 0)))),
    (
        "rearrange-4d",
        rearrange([(1, 128, 48)], (1, 8, 16, 48), IndexMap.identity(128 * 48)),
    ),
    (
        "rearrange-to-columns",
        rearrange([(12, 70, 32)], (70, 32, 12), IndexMap.permuted((12, 70, 32), (1, 2, 0))),
    ),
    ("reduce-h", reduce((1, 4, 5, 6), (2,), "ReduceMax")),
    ("reduce-image", reduce((1, 4, 5, 6), (2, 3), "ReduceL2")),
    ("reduce-to-wide", reduce((1, 4, 5, 6), (3,), "ReduceL2", f32)),
    (
        "rope",
        made(tpu.RopeOp, [(1, 3, 8, 32), (1, 3, 1, 32), (1, 3, 1, 32)], (1, 3, 8, 32)),
    ),
    ("elements", picked((2, 8, 5), (2, 8, 3), ui8)),
    ("elements-alike-in-all-images", picked((2, 8, 500), (1, 8, 3), ui16)),
    ("attention", attention((1, 8, 2, 16))),
    (
        "attention-with-a-mask-by-row",
        attention((1, 8, 2, 16), mask=(1, 8, 1, 8), mask_by_row=True),
    ),
    ("attention-with-a-mask-of-one-row", attention((1, 8, 2, 16), mask=(1, 1, 1, 8))),
    (
        "attention-with-one-row-by-row",
        attention((1, 8, 2, 16), mask=(1, 1, 1, 8), mask_by_row=True),
    ),
    ("attention-with-a-mask-of-each-image", attention((2, 8, 2, 16), mask=(2, 1, 1, 8))),
    ("attention-with-a-mask-of-all-images", attention((2, 8, 2, 16), mask=(1, 1, 1, 8))),
    ("best-of-rank-3", best((1, 4, 8))),
    ("best-of-rank-4", best((1, 4, 3, 8))),
    ("attention-of-rank-3", attention((1, 8, 32))),
    ("shuffle", made(tpu.ShuffleChannelOp, [(1, 4, 5, 5)], (1, 4, 5, 5), group=2)),
    (
        "pad",
        made(tpu.PadOp, [(1, 4, 5, 5)], (1, 4, 7, 8), nones=4, paddings=[0, 0, 1, 1, 0, 0, 1, 2]),
    ),
    (
        "pad-of-images",
        made(tpu.PadOp, [(7, 4, 5, 5)], (8, 4, 5, 5), nones=4, paddings=[1, 0, 0, 0, 0, 0, 0, 0]),
    ),
    ("pad-rank-3", made(tpu.PadOp, [(1, 4, 5)], (1, 4, 8), nones=4, paddings=[0, 0, 1, 0, 0, 2])),
    (
        "blocks",
        made(
            tpu.Depth2SpaceOp,
            [(1, 8, 5, 5)],
            (1, 2, 10, 10),
            block_h=2,
            block_w=2,
            is_CRD=True,
            is_inversed=False,
        ),
    ),
    (
        "upsample",
        made(tpu.UpsampleOp, [(1, 4, 5, 5)], (1, 4, 10, 10), nones=1, scale_h=2, scale_w=2),
    ),
    (
        "far-windows-of-bytes-in-rows",
        made(
            tpu.Conv2DOp,
            [(1, 3, 32, 32), weight((1, 8, 1, 768), INT8)],
            (1, 8, 2, 2),
            INT8,
            nones=1,
            kernel_shape=[16, 16],
            strides=[16, 16],
            pads=[0, 0, 0, 0],
            use_3ic_optimize=1,
            with_bias=False,
        ),
    ),
    (
        "far-windows-in-rows",
        made(
            tpu.Conv2DOp,
            [(1, 3, 32, 32), weight((1, 8, 1, 1024))],
            (1, 8, 2, 2),
            nones=1,
            kernel_shape=[16, 16],
            strides=[16, 16],
            pads=[0, 0, 0, 0],
            use_3ic_optimize=1,
            with_bias=False,
        ),
    ),
    ("slice-5d-d", slice_op((64, 49, 3, 3, 32), (64, 49, 1, 3, 32))),
    ("slice-4d", slice_op((1, 8, 4, 4), (1, 4, 4, 2), steps=(1, 1, 1, 2))),
    ("squeeze", squeeze((64, 49, 1, 3, 32), (64, 49, 3, 32), [2])),
    ("unsqueeze", made(tpu.UnsqueezeOp, [(1, 4)], (1, 4, 1), axes=[2])),
    ("add-weight", binary(tpu.AddOp, (1, 4), weight((1, 4)))),
    ("add-one", binary(tpu.AddOp, (1, 4))),
    ("add-other-lanes", binary(tpu.AddOp, (2, 4, 8), (2, 1, 8))),
    ("broadcast-5d-alike", binary(tpu.AddOp, (2, 3, 4, 5, 6), (1, 3, 1, 1, 1))),
    ("broadcast-5d-opposite", binary(tpu.AddOp, (2, 3, 4, 5, 1), (2, 3, 4, 1, 6))),
    ("concat-c", concat(1, (2,) * 5, (2,) * 5)),
    (
        "computed-filter",
        made(
            tpu.Conv2DOp,
            [(1, 4, 8, 8), (4, 1, 3, 3)],
            (1, 4, 6, 6),
            nones=1,
            kernel_shape=[3, 3],
            strides=[1, 1],
            pads=[0, 0, 0, 0],
            group=4,
            with_bias=False,
        ),
    ),
    ("near-windows", conv((1, 4, 64, 64), 8, 3, 15)),
    ("layer-norm", layer_norm((1, 49, 96), 2)),
    ("matmul-3d", matmul((64, 49, 96), (1, 96, 96))),
    ("matmul-f32", matmul((1, 4, 5), (1, 5, 6), f32)),
    ("matmul-4d-by-2d", matmul((1, 28, 28, 16), (16, 8))),
    ("matmul-lines", matmul((1, 8, 64, 32), (1, 32, 32))),
    ("matmul-heads", matmul((64, 49, 3, 49), (64, 49, 3, 32), hdim_is_batch=True)),
    ("pool", pool((1, 64, 64, 64), 2, 15)),
    ("reduce", reduce((1, 4, 5), (2,), "ReduceMax")),
    ("reshape", reshape((64, 49, 96), (64, 49, 3, 32))),
    ("scan-n", made(tpu.LinearScanOp, [(7, 4, 5)] * 2, (7, 4, 5), nones=1, axis=0)),
    ("scan-h", made(tpu.LinearScanOp, [(1, 4, 5)] * 2, (1, 4, 5), nones=1, axis=2)),
    ("scan-w", made(tpu.LinearScanOp, [(1, 4, 5, 6)] * 2, (1, 4, 5, 6), nones=1, axis=3)),
    ("softmax", softmax((64, 49, 3, 49), 3)),
    ("softmax-3d", softmax((4, 5, 6), 2)),
    ("swap", unary(tpu.SwapDimInnerOp, (1, 56, 1, 5376), offset=[0, 3, 0, 0])),
    ("add-other-lanes", binary(tpu.AddOp, (2, 4, 8), (2, 1, 8))),
]


@pytest.mark.parametrize(("op", "why"), [pytest.param(o, w, id=name) for name, o, w in GLOBAL])
def test_reason_is_said(op: NamedOp, why: str) -> None:
    assert why_global(op) == why


@pytest.mark.parametrize("op", [pytest.param(op, id=name) for name, op in LOCAL])
def test_local_form_is_there(op: NamedOp) -> None:
    assert why_global(op) is None


def test_every_reason_in_the_table_has_a_case() -> None:
    """Ops that may refuse are those that say so themselves; each appears above."""
    shown = {type(op) for _, op, _ in GLOBAL}
    refusing = {
        op for op in tpu.Tpu.operations if issubclass(op, LocalGen) and "local_support" in vars(op)
    }
    assert refusing - shown == set()


def test_base_groups_split_where_an_op_has_no_local_form() -> None:
    ops = [relu((1, 4)), relu((1, 4)), GLOBAL[0][1], LOCAL[0][1]]
    groups = base_groups(ops)
    assert [len(group.ops) for group in groups] == [2, 1, 1]
    assert [group.why_global for group in groups] == [None, GLOBAL[0][2], None]


def test_more_reasons_may_come_from_outside() -> None:
    ops = [relu((1, 4)), relu((1, 4))]
    groups = base_groups(ops, why=lambda op: "no kernel" if op is ops[0] else why_global(op))
    assert [(group.ops, group.why_global) for group in groups] == [
        ((ops[0],), "no kernel"),
        ((ops[1],), None),
    ]
