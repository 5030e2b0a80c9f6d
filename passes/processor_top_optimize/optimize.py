"""The pass `processor-top-optimize`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.canonicalize.conv import MergePointwiseConv
from xdsl_tpu.passes.canonicalize.mul_const import MergeMulConst
from xdsl_tpu.passes.canonicalize.permute import Permute5dSplit, PermuteFuse, RemovePermute
from xdsl_tpu.passes.canonicalize.reshape import TopFuseReshape2, TopReshapeFuse
from xdsl_tpu.passes.canonicalize.swap_dim_inner import TopMultiSwapDimMergeToOne
from xdsl_tpu.passes.pattern_table import PatternPass, PatternTable, rewrite
from xdsl_tpu.passes.processor_top_optimize import (
    arithmetic,
    columns_first,
    conv,
    cosine_attention,
    depthwise,
    depthwise_volume,
    far_conv,
    far_pool,
    far_taps,
    fold_depth,
    fold_rows,
    joined_permutes,
    large_filter,
    large_groups,
    matmul_output_transpose,
    matmul_right_transpose,
    pad_channels,
    parts,
    pixel_norm,
    pixels,
    pool_lines,
    reshape_reorder,
    scale,
    shuffle_channel,
    split_channels,
    split_matmul,
    swap_dim_inner,
    upsampled_lines,
)

PATTERNS: PatternTable = {
    top.AddOp: (arithmetic.ConvertMultiInputAdd(),),
    top.AvgPoolOp: (far_pool.FarPool(), pool_lines.PoolByLines()),
    top.ConcatOp: (
        swap_dim_inner.ConcatToSwapDimInner(),
        joined_permutes.ConcatBeforePermute(),
    ),
    top.ConvOp: (
        conv.ConvRowsToPlanes(),
        MergePointwiseConv(),
        fold_depth.WindowsToImages(),
        depthwise_volume.DepthwiseVolume(),
        fold_rows.FoldPatchRows(),
        far_conv.FarConv(),
        far_taps.FarTaps(),
        large_filter.LargeFilter(),
        large_groups.LargeGroups(),
        depthwise.SplitDepthwise(),
        split_channels.SplitConvByChannels(),
    ),
    top.DeconvOp: (conv.DeconvRowsToPlanes(), upsampled_lines.DepthwiseDeconvByPhases()),
    top.DivOp: (arithmetic.DivBySqrt(),),
    top.MatMulOp: (
        split_matmul.SplitMatMulPattern(),
        matmul_right_transpose.ConvertMatMulWithRightTranspose(),
        matmul_right_transpose.ConvertMatMulWithLeftTranspose(),
        reshape_reorder.ReshapeReorderPattern(),
        pixels.ImageToRows(),
        pixels.RowToPixel(),
    ),
    top.MaxPoolOp: (far_pool.FarPool(), pool_lines.PoolByLines()),
    top.MulConstOp: (
        MergeMulConst(),
        reshape_reorder.MulConstBeforePermute(),
        reshape_reorder.ReshapeReorderPattern(),
    ),
    top.MulOp: (arithmetic.MulToQuickGELU(), arithmetic.SquareOfAbs()),
    top.PadOp: (pad_channels.PadToConcat(),),
    top.PermuteOp: (
        RemovePermute(),
        PermuteFuse(),
        columns_first.ColumnsFirst(),
        pixel_norm.NormOfPixels(),
        pixel_norm.SignalNorm(),
        shuffle_channel.PermuteToShuffleChannel(),
        matmul_output_transpose.ConvertMatMulWithOutputTranspose(),
        Permute5dSplit(),
    ),
    top.PixelNormOp: (pixel_norm.PixelNormToRows(),),
    top.ReduceOp: (parts.ReduceOfParts(),),
    top.RMSNormOp: (cosine_attention.NormBeforePermute(),),
    top.ReshapeOp: (
        TopReshapeFuse(),
        TopFuseReshape2(),
        reshape_reorder.PermuteWithinBatches(),
        pixels.RowsToImage(),
    ),
    top.ScaleOp: (
        cosine_attention.ScaleOnQueries(),
        scale.MergeScale2Conv(),
        scale.MergeScaleIntoMatMul(),
        scale.ConvertScaleOp(),
    ),
    top.SoftmaxOp: (reshape_reorder.ReshapeReorderPattern(),),
    top.SwapDimInnerOp: (TopMultiSwapDimMergeToOne(),),
}


@dataclass(frozen=True)
class ProcessorTopOptimizePass(PatternPass):
    """Replace what the chip does badly by what it does well, before lowering.

    The patterns are those for the BM1684X; they change no numbers, so that they hold for
    every chip, but are worth it for this one.
    """

    name = "processor-top-optimize"

    @classmethod
    def table(cls, weights: Weights | None) -> PatternTable:
        return PATTERNS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, self.enabled())
