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
    """Conversion of a YUV or RGB image to the network's colour format, undoing row alignment."""

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
    """Planes of a packed Bayer image, black level taken off and white level scaled."""

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
    """RGB image out of a mosaic of colour samples."""

    name = "top.Mmap2Rgbmap"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class MeanStdScaleOp(NamedOp):
    """(x - mean) / std * scale of an image and its quantisation."""

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
    """All preprocessing of an image as one op, to be expanded later."""

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
    """YUV to RGB by a named formula."""

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
    """Similarity of a small image to every place in a larger one."""

    name = "top.MatchTemplate"

    input = operand_def(TENSOR)
    match = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(MATCH_TEMPLATE_MODE)

    traits = traits_def(Pure())


@irdl_op_definition
class CorrelationOp(NamedOp):
    """Products of two feature maps for each disparity up to `max_disp` (stereo matching)."""

    name = "top.Correlation"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    max_disp = default_attr_def(I64_INT, 0)
    num_groups = default_attr_def(I64_INT, 1)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatVolumeOp(NamedOp):
    """Pairs of two feature maps for each disparity up to `max_disp` (stereo matching)."""

    name = "top.ConcatVolume"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    max_disp = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure())
