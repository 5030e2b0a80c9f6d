"""`canonicalize`: rewrites that make `top` IR smaller or more regular, to a fixpoint.

`PATTERNS` says which patterns are tried on which op, in order; one family of ops a file.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.canonicalize import (
    add,
    blocks,
    broadcast_batch,
    carried_dims,
    channels_last,
    chosen_matrices,
    concat,
    concat_parts,
    constant_operand,
    conv,
    div,
    expand,
    expectation,
    gather,
    gathered_lines,
    indexed_rows,
    inserted_zeros,
    known_masks,
    left_weight,
    masked_bias,
    matmul,
    matmul_permute_split,
    modulated,
    mul,
    mul_const,
    norm,
    overwritten,
    pad,
    patch_merging,
    patch_products,
    permute,
    plane_pool,
    pointwise,
    pooled_rows,
    positions,
    read_columns,
    recurrence,
    reduce,
    relu,
    reshape,
    resize,
    rotary,
    row_factors,
    row_norm,
    samples,
    scale,
    scatter,
    segment_sums,
    slice,
    split,
    squeeze,
    stretched,
    summed_products,
    swap_dim_inner,
    transposed_rows,
    weight,
    weighted_taps,
    windows,
)
from xdsl_tpu.passes.pattern_table import PatternPass, PatternTable

PATTERNS: PatternTable = {
    top.AddConstOp: (scale.MergeConstAfterScale(),),
    top.AddOp: (
        add.SwapAddInputs(),
        add.AddToAddConst(),
        add.AlignAddRanks(),
        add.AddToScale(),
        add.MergeAdds(),
        windows.ConstantForImages(),
        channels_last.SumBeforePermute(),
        rotary.RotaryEmbedding(),
        recurrence.LinearRecurrence(),
        stretched.WidenStretched(),
        gathered_lines.InterpFromGathers(),
    ),
    top.AvgPoolOp: (pad.PadIntoWindow(), plane_pool.PlanePool()),
    top.BatchNormOp: (scale.BatchNormToScale(),),
    top.CompareConstOp: (constant_operand.FuseNotEqual(),),
    top.CompareOp: (constant_operand.CompareToCompareConst(),),
    top.ConcatOp: (
        concat.DropEmptyConcatInputs(),
        concat.RemoveConcat(),
        concat.ConcatWeights(),
        concat.ZerosToPad(),
        concat.ConcatNeighbourSlices(),
        concat.ConcatOfConcats(),
        overwritten.WriteBoxesOnce(),
        recurrence.RollConcat(),
        rotary.RotatedParts(),
    ),
    top.ConvOp: (
        pad.PadIntoWindow(),
        conv.Conv3dTranspose(),
        conv.Conv3dTo2d(),
        conv.Conv1dTo2d(),
        conv.WholeImages(),
        blocks.ConvOfBlocks(),
        modulated.FactorsOfFilter(),
        inserted_zeros.ConvToDeconv(),
        conv.MergePointwiseConv(),
        pointwise.PointwiseBeforeResize(),
        pointwise.PointwiseOfConcat(),
        expectation.ExpectationInRows(),
    ),
    top.Depth2SpaceOp: (blocks.ConvInBlockOrder(),),
    top.DivOp: (div.DivToMul(), div.DivToSoftsign(), row_norm.DivToRMSNorm()),
    top.ExpandOp: (expand.ExpandToTile(),),
    top.FlattenOp: (reshape.FlattenToReshape(),),
    top.GatherElementsOp: (indexed_rows.GatherOfRows(), read_columns.ReadColumns()),
    top.GatherNDOp: (carried_dims.GatherWholeDimension(),),
    top.GatherOp: (gather.GatherToSlice(),),
    top.GroupNormOp: (norm.AlignGroupNormWeights(),),
    top.InstanceNormOp: (norm.InstanceNormToGroupNorm(),),
    top.InterpOp: (resize.RemoveInterp(), resize.InterpToUpsample()),
    top.LayerNormOp: (norm.AlignLayerNormWeights(), norm.RowsOfGroups()),
    top.MaskedFillOp: (known_masks.KnownFill(),),
    top.MatMulOp: (
        patch_products.PatchesToConv(),
        matmul_permute_split.MatmulWithPermuteAndSplit(),
        matmul.MatMulWithBias(),
        matmul.MatMulWithEqualBias(),
        matmul.MatMulWithColumnFactors(),
        matmul.NoKeepDimsAddReshape(),
        chosen_matrices.ChosenMatrices(),
        broadcast_batch.BroadcastBatch(),
        matmul.RepeatedWeightToRows(),
        matmul.SliceMatMul(),
        matmul.PermuteMatMulPermute(),
        transposed_rows.MoveRowsBehindProduct(),
        transposed_rows.MoveRowsBeforeProduct(),
        matmul.LeftWeightToConv(),
        left_weight.LeftWeightToRight(),
        expectation.ColumnToSum(),
        row_factors.RowFactorsBehindProduct(),
    ),
    top.MaxOp: (constant_operand.MaxMinToConst(),),
    top.MaxPoolOp: (pad.PadIntoWindow(), plane_pool.PlanePool()),
    top.MinOp: (constant_operand.MaxMinToConst(),),
    top.MulConstOp: (
        reduce.SumToMean(),
        mul.HalvedMulToGELU(),
        mul_const.RemoveMulConst(),
        mul_const.MergeMulConsts(),
        mul_const.MergeMulConst(),
        scale.MergeConstAfterScale(),
    ),
    top.MulOp: (
        mul.MulToSiLU(),
        mul.MulToGELU(),
        mul.MulToMulConst(),
        mul.MulToScale(),
        mul.MergeMuls(),
        row_norm.DivToRMSNorm(),
        row_norm.MulIntoRMSNorm(),
        stretched.WidenStretched(),
    ),
    top.PReluOp: (norm.PReluToLeakyRelu(),),
    top.PackOp: (split.PackToConcat(),),
    top.PadOp: (overwritten.WriteBoxesOnce(),),
    top.PermuteOp: (
        permute.RemovePermute(),
        permute.PermuteFuse(),
        channels_last.PermuteBehindImageOp(),
        channels_last.PermuteBeforeImagePad(),
        permute.TopPermuteToPixelShuffle(),
        permute.TopPermuteToPixelUnshuffle(),
        permute.Permute5dSplit(),
        expand.TileAfterPermute(),
        overwritten.WriteBoxesOnce(),
    ),
    top.PowOp: (div.PowToProduct(),),
    top.ReduceOp: (
        samples.SamplesToSums(),
        summed_products.SumOfProducts(),
        weighted_taps.WeightedTaps(),
        modulated.LengthsOfFilter(),
        reduce.ReduceToReshape(),
        reduce.KeepReducedDims(),
        reduce.TopReduceTranspose(),
        reduce.MergeReduces(),
        reduce.ReduceBeforeView(),
        pooled_rows.PooledRows(),
        reduce.ReduceToPool(),
    ),
    top.RMSNormOp: (row_norm.CenteredRows(),),
    top.ReluOp: (relu.FuseRelu(), relu.MoveReluBeforeConcat()),
    top.ReshapeOp: (
        reshape.TopReshapeFuse(),
        reshape.TopFuseReshape2(),
        reshape.TopReshapeFuse2(),
        reshape.TopFuseReshape3(),
        reshape.TopAddReshapeSwap(),
        patch_merging.Reshape4Depth2SpacePattern(),
    ),
    top.SampledSumOp: (samples.RowsOfSource(),),
    top.ScaleOp: (
        scale.AlignScaleShape(),
        scale.ScaleOfSeries(),
        scale.MergeScales(),
        scale.MergeConstIntoScale(),
        scale.MergeScaleIntoMatMul(),
    ),
    top.ScatterNDOp: (scatter.ScatterToConcat(), carried_dims.ScatterWholeDimension()),
    top.SliceOp: (
        slice.NoUseSlice(),
        slice.MergeSlicePattern(),
        slice.SliceOfConcat(),
        concat_parts.PartsOfConcat(),
        slice.SliceToReverse(),
        slice.CropConv(),
        slice.SomeFilters(),
        slice.CropDeconv(),
    ),
    top.ScatterElementsOp: (scatter.ScatterElementsToConcat(), indexed_rows.ScatterOfRows()),
    top.SoftmaxOp: (positions.PositionsIntoProduct(),),
    top.SplitOp: (split.SplitToSlice(),),
    top.SqrtOp: (reduce.RootOfSquares(),),
    top.SqueezeOp: (
        squeeze.CancelSqueezes(),
        squeeze.RemoveSqueeze(),
        squeeze.SqueezeBeforePermute(),
    ),
    top.SubOp: (constant_operand.SubToAddConst(), stretched.WidenStretched()),
    top.SwapDimInnerOp: (swap_dim_inner.TopMultiSwapDimMergeToOne(),),
    top.TileOp: (
        expand.RemoveTile(),
        expand.MergeTiles(),
        expand.TileStretchedByReader(),
        expand.TileAfterReader(),
    ),
    top.TransposeOp: (permute.TransposeToPermute(),),
    top.UnpackOp: (split.UnpackToSlices(),),
    top.UnsqueezeOp: (squeeze.CancelSqueezes(), squeeze.RemoveSqueeze()),
    top.UpsampleOp: (resize.RemoveInterp(),),
    top.ViewOp: (reshape.ViewToReshape(),),
    top.WeightOp: (weight.WeightToConst(),),
    top.WhereOp: (
        segment_sums.SegmentSums(),
        masked_bias.MaskBesideBias(),
        known_masks.KnownChoice(),
        known_masks.HiddenScores(),
    ),
}


@dataclass(frozen=True)
class CanonicalizePass(PatternPass):
    """Apply all canonicalisation patterns, fold, and remove unused ops, until nothing changes."""

    name = "canonicalize"

    @classmethod
    def table(cls, weights: Weights | None) -> PatternTable:
        return PATTERNS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [self.enabled(), CanonicalizationRewritePattern()]
        applier = GreedyRewritePatternApplier(patterns, ctx=ctx, folding_enabled=True)
        PatternRewriteWalker(applier, post_walk_func=region_dce).rewrite_module(op)


@dataclass(frozen=True)
class TpuCanonicalizePass(CanonicalizePass):
    """Our `canonicalize` under a name that plain xdsl-opt has free."""

    name = "tpu-canonicalize"
