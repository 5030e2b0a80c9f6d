"""Image preprocessing and stereo matching."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    F64_ARRAY,
    I64_ARRAY,
    I64_INT,
    TEXT,
    UI32,
    default_attr_def,
)
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.enums import (
    IMAGE_OUT_FORMAT,
    MATCH_TEMPLATE_MODE,
    ROUND_MODE,
    YUV_FORMULA,
)


@irdl_op_definition
class CscOp(NamedOp):
    """Colour-space conversion with padding/alignment."""

    name = "top.Csc"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    pixel_format = attr_def(TEXT)
    aligned = attr_def(BOOL)
    y_align = attr_def(I64_INT)
    w_align = attr_def(I64_INT)
    channel_align = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class DepackRawOp(NamedOp):
    """Unpack raw sensor (Bayer) data."""

    name = "top.DepackRaw"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    padding_h = attr_def(I64_INT)
    padding_w = attr_def(I64_INT)
    white_level = attr_def(F64)
    black_level = attr_def(F64)
    channel_order = attr_def(I64_ARRAY)

    traits = traits_def(Pure())


@irdl_op_definition
class Mmap2RgbmapOp(NamedOp):
    """Mosaic map to rgb map."""

    name = "top.Mmap2Rgbmap"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class MeanStdScaleOp(NamedOp):
    """Normalise an image by mean/std/scale with quantised input."""

    name = "top.MeanStdScale"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    quant_mode = attr_def(TEXT)
    customization_format = attr_def(TEXT)
    channel_order = attr_def(TEXT)
    sign = default_attr_def(BOOL, True)
    scale = attr_def(F64_ARRAY)
    std = attr_def(F64_ARRAY)
    mean = attr_def(F64_ARRAY)
    zero_points = attr_def(F64_ARRAY)
    resize_dims = attr_def(I64_ARRAY)
    rounding_mode = attr_def(TEXT)

    traits = traits_def(Pure())


@irdl_op_definition
class PreprocessOp(NamedOp):
    """Fused image preprocessing."""

    name = "top.Preprocess"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    quant_mode = attr_def(TEXT)
    customization_format = attr_def(TEXT)
    channel_order = attr_def(TEXT)
    resize_dims = attr_def(I64_ARRAY)
    scale = attr_def(F64_ARRAY)
    mean = attr_def(F64_ARRAY)
    sign = default_attr_def(BOOL, True)

    traits = traits_def(Pure())


@irdl_op_definition
class Yuv2rgbFormulaOp(NamedOp):
    """YUV to RGB conversion."""

    name = "top.Yuv2rgbFormula"

    YUV = operand_def(TENSOR)
    output = result_def(TENSOR)
    src_format = attr_def(UI32)
    dst_format = attr_def(UI32)
    image_format = attr_def(IMAGE_OUT_FORMAT)
    formula_mode = attr_def(YUV_FORMULA)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure())


@irdl_op_definition
class MatchTemplateOp(NamedOp):
    """Template matching."""

    name = "top.MatchTemplate"

    input = operand_def(TENSOR)
    match = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(MATCH_TEMPLATE_MODE)

    traits = traits_def(Pure())


@irdl_op_definition
class CorrelationOp(NamedOp):
    """Correlation cost volume of two feature maps up to max_disp."""

    name = "top.Correlation"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    max_disp = default_attr_def(I64_INT, 0)
    num_groups = default_attr_def(I64_INT, 1)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatVolumeOp(NamedOp):
    """Stereo-matching concatenation cost volume."""

    name = "top.ConcatVolume"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    max_disp = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure())
