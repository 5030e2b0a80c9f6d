"""The closed lists of values that attributes of `tpu` ops take, printed `#tpu<mnemonic Case>`.

A case is written as in the text: `RoundMode.HalfUp` is `#tpu<round_mode HalfUp>`.
"""

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class ActiveMode(StrEnum):
    """Which function `tpu.Active` applies to every element."""

    TANH = "TANH"
    SIGMOID = "SIGMOID"
    RELU = "RELU"
    EXP = "EXP"
    ELU = "ELU"
    SQRT = "SQRT"
    SQUARE = "SQUARE"
    RSQRT = "RSQRT"
    ABSVAL = "ABSVAL"
    LN = "LN"
    ROUND = "ROUND"
    CEIL = "CEIL"
    FLOOR = "FLOOR"
    SIN = "SIN"
    COS = "COS"
    IS_FINITE = "IS_FINITE"
    MISH = "MISH"
    SWISH = "SWISH"
    HSWISH = "HSWISH"
    SILU = "SILU"
    ARCSIN = "ARCSIN"
    ARCCOS = "ARCCOS"
    ARCSINH = "ARCSINH"
    ARCCOSH = "ARCCOSH"
    ARCTANH = "ARCTANH"
    SINH = "SINH"
    COSH = "COSH"
    TAN = "TAN"
    SIGN = "SIGN"
    GELU = "GELU"
    ERF = "ERF"
    HSIGMOID = "HSIGMOID"
    LOG_SIGMOID = "LOG_SIGMOID"
    SOFT_PLUS = "SOFT_PLUS"
    SOFT_SIGN = "SOFT_SIGN"
    LOG2 = "LOG2"
    TGELU = "TGELU"
    QGELU = "QGELU"


@irdl_attr_definition
class ActiveModeAttr(EnumAttribute[ActiveMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<active_mode Case>`."""

    name = "tpu.active_mode"


class BufferType(StrEnum):
    """Where a scratch buffer lies."""

    GMEM = "GMEM"
    L2 = "L2"


@irdl_attr_definition
class BufferTypeAttr(EnumAttribute[BufferType], SpacedOpaqueSyntaxAttribute):
    """`#tpu<buffer_type Case>`."""

    name = "tpu.buffer_type"


class CorePattern(StrEnum):
    """How work is split over cores."""

    Common = "Common"


@irdl_attr_definition
class CorePatternAttr(EnumAttribute[CorePattern], SpacedOpaqueSyntaxAttribute):
    """`#tpu<core_pattern Case>`."""

    name = "tpu.core_pattern"


class DequantMode(StrEnum):
    """The integer formula of a dequantisation."""

    Normal = "Normal"
    TFLite = "TFLite"


@irdl_attr_definition
class DequantModeAttr(EnumAttribute[DequantMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<dq_mode Case>`."""

    name = "tpu.dq_mode"


class DevPattern(StrEnum):
    """Which pattern of ops a multi-device segment distributes."""

    MatMulColumn = "MatMulColumn"
    MatMulRow = "MatMulRow"
    MatMulMerge = "MatMulMerge"
    MatMulSliceMerge = "MatMulSliceMerge"
    MatMulTopK = "MatMulTopK"
    MatMulSliceMerge2 = "MatMulSliceMerge2"
    MatMulSliceMerge3 = "MatMulSliceMerge3"
    AttentionSliceMerge = "AttentionSliceMerge"
    AttentionSliceMerge2 = "AttentionSliceMerge2"
    EmbeddingSliceMerge = "EmbeddingSliceMerge"
    FAttentionSliceMerge = "FAttentionSliceMerge"


@irdl_attr_definition
class DevPatternAttr(EnumAttribute[DevPattern], SpacedOpaqueSyntaxAttribute):
    """`#tpu<dev_pattern Case>`."""

    name = "tpu.dev_pattern"


class ImageOutFormat(StrEnum):
    """The element type an image conversion delivers."""

    FLOAT32 = "FLOAT32"
    UINT8 = "UINT8"


@irdl_attr_definition
class ImageOutFormatAttr(EnumAttribute[ImageOutFormat], SpacedOpaqueSyntaxAttribute):
    """`#tpu<image_out_format Case>`."""

    name = "tpu.image_out_format"


class LutBF16Mode(StrEnum):
    """How a bf16 look-up uses its tables."""

    Other = "Other"
    Mantissa = "Mantissa"
    Slope = "Slope"
    Log = "Log"
    Exp = "Exp"


@irdl_attr_definition
class LutBF16ModeAttr(EnumAttribute[LutBF16Mode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<lut_mode Case>`."""

    name = "tpu.lut_mode"


class PaddingMode(StrEnum):
    """What padding is filled with."""

    constant = "constant"
    reflect = "reflect"
    symmetric = "symmetric"
    edge = "edge"


@irdl_attr_definition
class PaddingModeAttr(EnumAttribute[PaddingMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<Pad_Mode Case>`."""

    name = "tpu.Pad_Mode"


class PoolMode(StrEnum):
    """Mean or maximum of a window."""

    Avg = "Avg"
    Max = "Max"


@irdl_attr_definition
class PoolModeAttr(EnumAttribute[PoolMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<pool_mode Case>`."""

    name = "tpu.pool_mode"


class RequantMode(StrEnum):
    """The integer formula of a requantisation."""

    TFLite_LShift = "TFLite_LShift"
    TFLite = "TFLite"
    MultiplierShift = "MultiplierShift"
    OnlyShift = "OnlyShift"
    QDM = "QDM"
    OnlyScale = "OnlyScale"


@irdl_attr_definition
class RequantModeAttr(EnumAttribute[RequantMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<rq_mode Case>`."""

    name = "tpu.rq_mode"


class ResizeCoordMode(StrEnum):
    """How an output coordinate maps to an input coordinate."""

    align_corners = "align_corners"
    half_pixel = "half_pixel"
    pytorch_half_pixel = "pytorch_half_pixel"
    asymmetric = "asymmetric"


@irdl_attr_definition
class ResizeCoordModeAttr(EnumAttribute[ResizeCoordMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<coord_mode Case>`."""

    name = "tpu.coord_mode"


class ResizeMode(StrEnum):
    """Nearest neighbour or linear interpolation."""

    nearest = "nearest"
    linear = "linear"


@irdl_attr_definition
class ResizeModeAttr(EnumAttribute[ResizeMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<mode Case>`."""

    name = "tpu.mode"


class RopeMode(StrEnum):
    """Which elements a rotary embedding pairs."""

    interleaved_pairs = "interleaved_pairs"
    contiguous_halves = "contiguous_halves"


@irdl_attr_definition
class RopeModeAttr(EnumAttribute[RopeMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<rope_mode Case>`."""

    name = "tpu.rope_mode"


class RoundMode(StrEnum):
    """How a value between two representable ones is rounded."""

    HalfAwayFromZero = "HalfAwayFromZero"
    HalfUp = "HalfUp"
    HalfDown = "HalfDown"
    HalfToEven = "HalfToEven"
    HalfToOdd = "HalfToOdd"
    HalfTowardsZero = "HalfTowardsZero"
    TowardsZero = "TowardsZero"
    Up = "Up"
    Down = "Down"


@irdl_attr_definition
class RoundModeAttr(EnumAttribute[RoundMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<round_mode Case>`."""

    name = "tpu.round_mode"


class RunMode(StrEnum):
    """Who runs a subnet, and how."""

    TPU_STATIC = "TPU_STATIC"
    TPU_DYNAMIC = "TPU_DYNAMIC"
    CPU = "CPU"
    SWITCH = "SWITCH"
    MERGE = "MERGE"
    LOOP = "LOOP"
    UNKNOW = "UNKNOW"


@irdl_attr_definition
class RunModeAttr(EnumAttribute[RunMode], SpacedOpaqueSyntaxAttribute):
    """`#tpu<run_mode Case>`."""

    name = "tpu.run_mode"


class Yuv2rgbFormula(StrEnum):
    """Coefficients of a YUV to RGB conversion."""

    _601_limited = "_601_limited"
    _601_full = "_601_full"


@irdl_attr_definition
class Yuv2rgbFormulaAttr(EnumAttribute[Yuv2rgbFormula], SpacedOpaqueSyntaxAttribute):
    """`#tpu<yuv2rgb_formula_mode Case>`."""

    name = "tpu.yuv2rgb_formula_mode"
