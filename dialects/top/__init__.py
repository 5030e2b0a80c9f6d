"""The `top` dialect: a network as its framework means it, on no chip in particular.

One class per op: `top.Foo` is `FooOp`. A tensor is known by the location of the op that makes it.
"""

from xdsl.ir import Dialect

from xdsl_tpu.dialects.base import registered
from xdsl_tpu.dialects.top.activation import (
    EluOp,
    GELUOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    MishOp,
    PReluOp,
    ReluOp,
    SigmoidOp,
    SiLUOp,
    SoftmaxOp,
    SoftplusOp,
    SoftsignOp,
    SwishOp,
    TanhOp,
)
from xdsl_tpu.dialects.top.constant_operand import (
    AddConstOp,
    BinaryConstShiftOp,
    ClipOp,
    CompareConstOp,
    DivConstOp,
    MaxConstOp,
    MinConstOp,
    MulConstOp,
    Pow2Op,
    PowOp,
    ReciprocalOp,
    SubConstOp,
)
from xdsl_tpu.dialects.top.control import (
    CustomOp,
    IfOp,
    ListOp,
    LoopOp,
    TupleOp,
    UnTupleOp,
    YieldOp,
)
from xdsl_tpu.dialects.top.conv import ConvOp, DeconvOp, DeformConv2DOp
from xdsl_tpu.dialects.top.create import (
    ArangeOp,
    ConstantFillOp,
    MeshGridOp,
    RandnLikeOp,
    RangeOp,
    TriluOp,
)
from xdsl_tpu.dialects.top.detection import (
    DetectionOutputOp,
    FrcnDetectionOp,
    NmsOp,
    PriorBoxOp,
    ProposalOp,
    RetinaFaceDetectionOp,
    RoiAlignOp,
    RoiExtractorOp,
    ROIPoolingOp,
    YoloDetectionOp,
)
from xdsl_tpu.dialects.top.elementwise import (
    AddOp,
    BinaryShiftOp,
    CompareOp,
    DivOp,
    LogicalAndOp,
    MaskedFillOp,
    MaxOp,
    MinOp,
    ModOp,
    MulOp,
    Pow3Op,
    RemainderOp,
    SubOp,
    WhereOp,
)
from xdsl_tpu.dialects.top.image import (
    ConcatVolumeOp,
    CorrelationOp,
    CscOp,
    DepackRawOp,
    MatchTemplateOp,
    MeanStdScaleOp,
    Mmap2RgbmapOp,
    PreprocessOp,
    Yuv2rgbFormulaOp,
)
from xdsl_tpu.dialects.top.index import (
    A16GatherOp,
    GatherElementsOp,
    GatherNDOp,
    GatherOp,
    IndexPutOp,
    NonZeroOp,
    ScatterElementsOp,
    ScatterNDOp,
    SortOp,
    TopKOp,
)
from xdsl_tpu.dialects.top.llm import (
    AttentionOp,
    C2CAllReduceOp,
    C2CBroadcastOp,
    ChunkGatedDeltaRuleOp,
    FAttentionLseOp,
    FAttentionOp,
    FlexAttentionOp,
    RecurrentGatedDeltaRuleOp,
    RopeOp,
    ScaleDotProductAttentionOp,
)
from xdsl_tpu.dialects.top.mask_rcnn import (
    MaskRCNN_BboxPoolerOp,
    MaskRCNN_GetBboxBOp,
    MaskRCNN_MaskPoolerOp,
    MaskRCNN_RPNGetBboxesOp,
)
from xdsl_tpu.dialects.top.matmul import A16MatMulOp, EinsumOp, Fp8MatMulOp, MatMulOp, MlpOp
from xdsl_tpu.dialects.top.norm import (
    BatchNormOp,
    GroupNormOp,
    InstanceNormOp,
    LayerNormOp,
    LRNOp,
    NormalizeOp,
    PixelNormOp,
    RMSNormOp,
    ScaleOp,
)
from xdsl_tpu.dialects.top.permute import (
    CopyOp,
    Depth2SpaceOp,
    PermuteOp,
    ReverseOp,
    ShuffleChannelOp,
    SwapChannelOp,
    SwapDimInnerOp,
    TransposeOp,
)
from xdsl_tpu.dialects.top.pool import (
    AdaptiveAvgPoolOp,
    AvgPoolOp,
    MaxPoolOp,
    MaxPoolWithMaskOp,
    MaxUnpoolOp,
    PoolMaskOp,
)
from xdsl_tpu.dialects.top.quantize import (
    CastOp,
    DequantIntOp,
    DequantizeLinearOp,
    DtypeCastOp,
    LutOp,
    QuantizeLinearOp,
    RequantFpOp,
    RequantIntOp,
    ScaleLutOp,
)
from xdsl_tpu.dialects.top.reduce import ArgOp, CumSumOp, ReduceOp, VarianceOp
from xdsl_tpu.dialects.top.reshape import (
    ExpandOp,
    FlattenOp,
    RepeatOp,
    ReshapeOp,
    ShapeOp,
    SizeOp,
    SqueezeOp,
    TileOp,
    UnsqueezeOp,
    ViewOp,
)
from xdsl_tpu.dialects.top.resize import GridSamplerOp, InterpOp, SampledSumOp, UpsampleOp
from xdsl_tpu.dialects.top.rnn import GRUOp, LinearScanOp, LSTMOp, SelectiveScanOp
from xdsl_tpu.dialects.top.slice import (
    ConcatOp,
    ConcatSliceOp,
    InsertOp,
    PackOp,
    PadOp,
    SliceAxisOp,
    SliceOp,
    SplitOp,
    StridedSliceOp,
    UnpackOp,
)
from xdsl_tpu.dialects.top.source import InputOp, NoneOp, WeightOp
from xdsl_tpu.dialects.top.train import (
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
    WeightReorderOp,
)
from xdsl_tpu.dialects.top.unary import (
    AbsOp,
    ArccosOp,
    ArctanhOp,
    CeilOp,
    CoshOp,
    CosOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogBOp,
    LogOp,
    RoundOp,
    RsqrtOp,
    SignOp,
    SinhOp,
    SinOp,
    SqrtOp,
    TanOp,
)

Top = Dialect("top", *registered(vars()))

__all__ = [
    "A16GatherOp", "A16MatMulOp", "AbsOp", "AdaptiveAvgPoolOp", "AddConstOp", "AddOp",
    "ArangeOp", "ArccosOp", "ArctanhOp", "ArgOp", "AttentionOp", "AvgPoolOp", "BatchNormBwdOp",
    "BatchNormOp", "BatchNormTrainOp", "BinaryConstShiftOp", "BinaryShiftOp", "C2CAllReduceOp",
    "C2CBroadcastOp", "CastOp", "CeilOp", "ChunkGatedDeltaRuleOp", "ClipOp", "CompareConstOp",
    "CompareOp", "ConcatOp", "ConcatSliceOp", "ConcatVolumeOp", "ConstantFillOp",
    "ConvBwd_WeightOp", "ConvOp", "ConvbwdOp", "CopyOp", "CorrelationOp", "CosOp", "CoshOp",
    "CscOp", "CumSumOp", "CustomOp", "DeconvOp", "DeformConv2DOp", "DepackRawOp",
    "Depth2SpaceOp", "DequantIntOp", "DequantizeLinearOp", "DetectionOutputOp", "DivConstOp",
    "DivOp", "DtypeCastOp", "EinsumOp", "EluOp", "EmbDenseBwdOp", "ErfOp", "ExpOp", "ExpandOp",
    "FAttentionLseOp", "FAttentionOp", "FlattenOp", "FlexAttentionOp", "FloorOp", "Fp8MatMulOp",
    "FrcnDetectionOp", "GELUOp", "GRUOp", "GatherElementsOp", "GatherNDOp", "GatherOp",
    "GridSamplerOp", "GroupNormOp", "GroupNormTrainOp", "HardSigmoidOp", "HardSwishOp", "IfOp",
    "IndexPutOp", "InputOp", "InsertOp", "InstanceNormOp", "InterpOp", "LRNOp", "LSTMOp",
    "LayerNormBwdOp", "LayerNormOp", "LayerNormTrainOp", "LeakyReluOp", "LinearScanOp",
    "ListOp", "LogBOp",
    "LogOp", "LogicalAndOp", "LoopOp", "LutOp", "MaskRCNN_BboxPoolerOp", "MaskRCNN_GetBboxBOp",
    "MaskRCNN_MaskPoolerOp", "MaskRCNN_RPNGetBboxesOp", "MaskedFillOp", "MatMulOp",
    "MatchTemplateOp", "MaxConstOp", "MaxOp", "MaxPoolOp", "MaxPoolWithMaskOp",
    "MaxPoolingIndicesBwdOp", "MaxUnpoolOp", "MeanRstdOp", "MeanStdScaleOp", "MeshGridOp",
    "MinConstOp", "MinOp", "MishOp", "MlpOp", "Mmap2RgbmapOp", "ModOp", "MulConstOp", "MulOp",
    "NmsOp", "NonZeroOp", "NoneOp", "NormalizeOp", "PReluOp", "PackOp", "PadOp", "PermuteOp",
    "PixelNormOp", "PoolMaskOp", "Pow2Op", "Pow3Op", "PowOp", "PreprocessOp", "PriorBoxOp",
    "ProposalOp", "QuantizeLinearOp", "RMSNormOp", "ROIPoolingOp", "RandnLikeOp", "RangeOp",
    "ReciprocalOp", "RecurrentGatedDeltaRuleOp", "ReduceOp", "ReluOp", "RemainderOp",
    "RepeatOp", "RequantFpOp", "RequantIntOp", "ReshapeOp", "RetinaFaceDetectionOp",
    "ReverseOp", "RoiAlignOp", "RoiExtractorOp", "RopeOp", "RoundOp", "RsqrtOp", "SampledSumOp",
    "ScaleDotProductAttentionOp", "ScaleLutOp", "ScaleOp", "ScatterElementsOp", "ScatterNDOp",
    "SelectiveScanOp", "ShapeOp", "ShuffleChannelOp", "SiLUOp", "SigmoidOp", "SignOp", "SinOp",
    "SinhOp", "SizeOp", "SliceAxisOp", "SliceOp", "SoftmaxBwdOp", "SoftmaxOp", "SoftplusOp",
    "SoftsignOp", "SortOp", "SplitOp", "SqrtOp", "SqueezeOp", "StridedSliceOp", "SubConstOp",
    "SubOp", "SwapChannelOp", "SwapDimInnerOp", "SwishOp", "TanOp", "TanhOp", "TileOp", "Top",
    "TopKOp", "TransposeOp", "TriluOp", "TupleOp", "UnTupleOp", "UnpackOp", "UnsqueezeOp",
    "UpsampleOp", "VarianceOp", "ViewOp", "WeightOp", "WeightReorderOp", "WhereOp", "YieldOp",
    "YoloDetectionOp", "Yuv2rgbFormulaOp",
]  # fmt: skip
