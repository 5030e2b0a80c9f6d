"""The `tpu` dialect: what the chip executes, one class per op, called after its IR name.

`tpu.Conv2D` is `Conv2DOp`. Ops are grouped by family in the modules of this package.
"""

from xdsl.ir import Dialect

from xdsl_tpu.dialects.base import registered
from xdsl_tpu.dialects.tpu.activation import (
    ActiveOp,
    FusedActiveCastOp,
    LeakyReluOp,
    LutBF16Op,
    LutOp,
    PReluOp,
    ReluOp,
    ScaleLutOp,
    ScaleOp,
    SoftRampOp,
)
from xdsl_tpu.dialects.tpu.attention import (
    AttentionOp,
    ChunkGatedDeltaRuleOp,
    FAttentionLseOp,
    FAttentionOp,
    FlexAttentionOp,
    MlpOp,
    RecurrentGatedDeltaRuleOp,
    RopeOp,
    SelectiveScanOp,
)
from xdsl_tpu.dialects.tpu.attributes import CompressAttr, LayerGroupAttr
from xdsl_tpu.dialects.tpu.binary import (
    AddOp,
    BinaryShiftOp,
    CastAddOp,
    CompareOp,
    DivOp,
    LogicalAndOp,
    MaskedFillOp,
    MaxOp,
    MinOp,
    MulOp,
    SubOp,
    WhereOp,
)
from xdsl_tpu.dialects.tpu.blocks import Batch2SpaceOp, Depth2SpaceOp, Space2BatchOp
from xdsl_tpu.dialects.tpu.concat import ConcatOp
from xdsl_tpu.dialects.tpu.constant import (
    AddConstOp,
    BinaryConstShiftOp,
    ClipOp,
    CompareConstOp,
    MaxConstOp,
    MinConstOp,
    MulConstOp,
    ReciprocalOp,
    SubConstOp,
)
from xdsl_tpu.dialects.tpu.control import IfOp, LoopOp, YieldOp
from xdsl_tpu.dialects.tpu.conv import (
    Conv2DOp,
    Conv3DOp,
    CorrelationOp,
    Deconv3DOp,
    DeconvOp,
    DeformGatherOp,
)
from xdsl_tpu.dialects.tpu.detection import (
    DetectionOutputOp,
    MatchTemplateOp,
    NmsOp,
    RoiAlignOp,
    RoiExtractorOp,
    YoloDetectionOp,
)
from xdsl_tpu.dialects.tpu.enums import (
    ActiveMode,
    ActiveModeAttr,
    BufferType,
    BufferTypeAttr,
    CorePattern,
    CorePatternAttr,
    DequantMode,
    DequantModeAttr,
    DevPattern,
    DevPatternAttr,
    ImageOutFormat,
    ImageOutFormatAttr,
    LutBF16Mode,
    LutBF16ModeAttr,
    PaddingMode,
    PaddingModeAttr,
    PoolMode,
    PoolModeAttr,
    RequantMode,
    RequantModeAttr,
    ResizeCoordMode,
    ResizeCoordModeAttr,
    ResizeMode,
    ResizeModeAttr,
    RopeMode,
    RopeModeAttr,
    RoundMode,
    RoundModeAttr,
    RunMode,
    RunModeAttr,
    Yuv2rgbFormula,
    Yuv2rgbFormulaAttr,
)
from xdsl_tpu.dialects.tpu.extension import CustomOp, GenericCpuOp, RearrangeOp
from xdsl_tpu.dialects.tpu.gather import (
    A16GatherOp,
    GatherElementsOp,
    GatherNDOp,
    GatherOp,
    IndexPutOp,
    ScatterElementsOp,
    ScatterNDOp,
)
from xdsl_tpu.dialects.tpu.image import (
    CscOp,
    DepackRawOp,
    MeanStdScaleOp,
    Mmap2RgbmapOp,
    PackRawOp,
    PreprocessOp,
    Yuv2rgbFormulaOp,
)
from xdsl_tpu.dialects.tpu.layer_group import (
    GroupOp,
    GroupParallelOp,
    LoadOp,
    LoadToL2MOp,
    MoveOp,
    SliceMergeOp,
    StoreOp,
)
from xdsl_tpu.dialects.tpu.mask_rcnn import (
    MaskRCNN_BboxPoolerOp,
    MaskRCNN_GetBboxBOp,
    MaskRCNN_MaskPoolerOp,
    MaskRCNN_RPNGetBboxesOp,
)
from xdsl_tpu.dialects.tpu.matmul import A16MatMulOp, Fp8MatMulOp, MatMulLutOp, MatMulOp
from xdsl_tpu.dialects.tpu.memory import (
    AppendOp,
    AutoIncreaseOp,
    BufferOp,
    D2DOp,
    Device2HostOp,
    Host2DeviceOp,
    JoinOp,
    OutBufferOp,
    Weight2ActivationOp,
    WeightReorderOp,
)
from xdsl_tpu.dialects.tpu.norm import (
    GroupNormOp,
    InstanceNormOp,
    LayerNormCastOp,
    LayerNormOp,
    LRNOp,
    PixelNormOp,
    RMSNormOp,
)
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.tpu.parallel import (
    C2CAllReduceOp,
    C2CBroadcastOp,
    CoreBeginOp,
    CoreEndOp,
    CoreJoinOp,
    CoreParallelOp,
    CoreSplitOp,
    DevBeginOp,
    DevEndOp,
)
from xdsl_tpu.dialects.tpu.pool import (
    MaxPoolWithMaskOp,
    MaxUnpoolOp,
    Pool1DOp,
    Pool2DOp,
    Pool3DOp,
    PoolMaskOp,
)
from xdsl_tpu.dialects.tpu.quantize import (
    CastOp,
    DequantIntAxisOp,
    DequantIntOp,
    DtypeCastOp,
    MulShiftOp,
    RequantFpAxisOp,
    RequantFpOp,
    RequantIntAxisOp,
    RequantIntOp,
)
from xdsl_tpu.dialects.tpu.rank import BestOp, RankedOp, RankOp
from xdsl_tpu.dialects.tpu.reduce import ArgOp, CumSumOp, NonZeroOp, ReduceOp, SortOp, TopKOp
from xdsl_tpu.dialects.tpu.resize import (
    GridSampleInDeformableAttnOp,
    GridSamplerOp,
    InterpOp,
    ResampleOp,
    SampledSumOp,
    UpsampleOp,
)
from xdsl_tpu.dialects.tpu.rnn import GRUOp, LinearScanOp, LSTMOp
from xdsl_tpu.dialects.tpu.shape import IdentityOp, ReshapeOp, SqueezeOp, UnsqueezeOp
from xdsl_tpu.dialects.tpu.shape_value import (
    ConstantFillOp,
    RandnLikeOp,
    RangeOp,
    ShapeArithOp,
    ShapeAssignOp,
    ShapeCastOp,
    ShapeClipOp,
    ShapeOp,
    ShapePackOp,
    ShapePowOp,
    ShapeReduceOp,
    ShapeReshapeOp,
    ShapeReverseOp,
    ShapeScatterElementsOp,
    ShapeSliceOp,
    ShapeSqueezeOp,
    ShapeTileOp,
    ShapeTransposeOp,
    ShapeUnsqueezeOp,
)
from xdsl_tpu.dialects.tpu.slice import (
    ConcatSliceOp,
    ConcatVolumeOp,
    CopyOp,
    InsertOp,
    PadOp,
    SliceOp,
    StridedSliceOp,
    TileOp,
    TriluOp,
)
from xdsl_tpu.dialects.tpu.softmax import SoftmaxCastOp, SoftmaxOp
from xdsl_tpu.dialects.tpu.training import (
    BatchNormBwdOp,
    BatchNormTrainOp,
    ConvBwd_WeightOp,
    ConvbwdOp,
    EmbDenseBwdOp,
    GroupNormTrainOp,
    LayerNormBwdOp,
    LayerNormTrainOp,
    MaxPoolingIndicesBwdOp,
    MeanRstdOp,
    SoftmaxBwdOp,
    WhereBnbwdOp,
)
from xdsl_tpu.dialects.tpu.transpose import (
    PermuteOp,
    ReverseOp,
    ShuffleChannelOp,
    SwapChannelOp,
    SwapDimInnerOp,
)

Tpu = Dialect("tpu", *registered(vars()))

__all__ = [
    "A16GatherOp", "A16MatMulOp", "ActiveMode", "ActiveModeAttr", "ActiveOp", "AddConstOp",
    "AddOp", "AppendOp", "ArgOp", "AttentionOp", "AutoIncreaseOp", "Batch2SpaceOp",
    "BatchNormBwdOp", "BatchNormTrainOp", "BestOp", "BinaryConstShiftOp", "BinaryShiftOp",
    "BufferOp", "BufferType", "BufferTypeAttr", "C2CAllReduceOp", "C2CBroadcastOp",
    "CastAddOp", "CastOp",
    "ChunkGatedDeltaRuleOp", "ClipOp", "CompareConstOp", "CompareOp", "CompressAttr",
    "ConcatOp", "ConcatSliceOp", "ConcatVolumeOp", "ConstantFillOp", "Conv2DOp", "Conv3DOp",
    "ConvBwd_WeightOp", "ConvbwdOp", "CopyOp", "CoreBeginOp", "CoreEndOp", "CoreJoinOp",
    "CoreParallelOp", "CorePattern", "CorePatternAttr", "CoreSplitOp", "CorrelationOp", "CscOp",
    "CumSumOp", "CustomOp", "D2DOp", "Deconv3DOp", "DeconvOp", "DeformGatherOp", "DepackRawOp",
    "Depth2SpaceOp", "DequantIntAxisOp", "DequantIntOp", "DequantMode", "DequantModeAttr",
    "DetectionOutputOp", "DevBeginOp", "DevEndOp", "DevPattern", "DevPatternAttr",
    "Device2HostOp", "DivOp", "DtypeCastOp", "EmbDenseBwdOp", "FAttentionLseOp", "FAttentionOp",
    "FlexAttentionOp", "Fp8MatMulOp", "FusedActiveCastOp", "GRUOp", "GatherElementsOp",
    "GatherNDOp", "GatherOp", "GenericCpuOp", "GridSampleInDeformableAttnOp", "GridSamplerOp",
    "GroupNormOp", "GroupNormTrainOp", "GroupOp", "GroupParallelOp", "Host2DeviceOp",
    "IdentityOp", "IfOp", "ImageOutFormat", "ImageOutFormatAttr", "IndexPutOp", "InsertOp",
    "InstanceNormOp", "InterpOp", "JoinOp", "LRNOp", "LSTMOp", "LayerGroupAttr", "LayerNormBwdOp",
    "LayerNormCastOp", "LayerNormOp", "LayerNormTrainOp", "LeakyReluOp", "LinearScanOp", "LoadOp",
    "LoadToL2MOp", "LocalOp", "LogicalAndOp", "LoopOp", "LutBF16Mode", "LutBF16ModeAttr",
    "LutBF16Op", "LutOp", "MaskRCNN_BboxPoolerOp", "MaskRCNN_GetBboxBOp",
    "MaskRCNN_MaskPoolerOp", "MaskRCNN_RPNGetBboxesOp", "MaskedFillOp", "MatMulLutOp",
    "MatMulOp", "MatchTemplateOp", "MaxConstOp", "MaxOp", "MaxPoolWithMaskOp",
    "MaxPoolingIndicesBwdOp", "MaxUnpoolOp", "MeanRstdOp", "MeanStdScaleOp", "MinConstOp",
    "MinOp", "MlpOp", "Mmap2RgbmapOp", "MoveOp", "MulConstOp", "MulOp", "MulShiftOp", "NmsOp",
    "NonZeroOp", "OutBufferOp", "PReluOp", "PackRawOp", "PadOp", "PaddingMode",
    "PaddingModeAttr", "PermuteOp", "PixelNormOp", "Pool1DOp", "Pool2DOp", "Pool3DOp",
    "PoolMaskOp", "PoolMode", "PoolModeAttr", "PreprocessOp", "RMSNormOp", "RandnLikeOp",
    "RangeOp", "RankOp", "RankedOp", "RearrangeOp", "ReciprocalOp", "RecurrentGatedDeltaRuleOp",
    "ReduceOp", "ReluOp", "RequantFpAxisOp", "RequantFpOp", "RequantIntAxisOp", "RequantIntOp",
    "RequantMode", "RequantModeAttr", "ResampleOp", "ReshapeOp", "ResizeCoordMode",
    "ResizeCoordModeAttr", "ResizeMode", "ResizeModeAttr", "ReverseOp", "RoiAlignOp",
    "RoiExtractorOp", "RopeMode", "RopeModeAttr", "RopeOp", "RoundMode", "RoundModeAttr",
    "RunMode", "RunModeAttr", "SampledSumOp", "ScaleLutOp", "ScaleOp", "ScatterElementsOp",
    "ScatterNDOp", "SelectiveScanOp", "ShapeArithOp", "ShapeAssignOp", "ShapeCastOp",
    "ShapeClipOp", "ShapeOp", "ShapePackOp", "ShapePowOp", "ShapeReduceOp", "ShapeReshapeOp",
    "ShapeReverseOp",
    "ShapeScatterElementsOp", "ShapeSliceOp", "ShapeSqueezeOp", "ShapeTileOp",
    "ShapeTransposeOp", "ShapeUnsqueezeOp", "ShuffleChannelOp", "SliceMergeOp", "SliceOp",
    "SoftRampOp", "SoftmaxBwdOp", "SoftmaxCastOp", "SoftmaxOp", "SortOp", "Space2BatchOp",
    "SqueezeOp",
    "StoreOp", "StridedSliceOp", "SubConstOp", "SubOp", "SwapChannelOp", "SwapDimInnerOp",
    "TileOp", "TopKOp", "Tpu", "TpuOp", "TriluOp", "UnsqueezeOp", "UpsampleOp",
    "Weight2ActivationOp", "WeightReorderOp", "WhereBnbwdOp", "WhereOp", "YieldOp",
    "YoloDetectionOp", "Yuv2rgbFormula", "Yuv2rgbFormulaAttr", "Yuv2rgbFormulaOp",
]  # fmt: skip
