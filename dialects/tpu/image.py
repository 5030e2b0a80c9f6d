"""Preparing images."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    F64_ARRAY,
    I32_DENSE,
    I64_ARRAY,
    I64_INT,
    TEXT,
    UI32,
    default_attr_def,
)
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import IMAGE_OUT_FORMAT, ROUND_MODE, YUV2RGB_FORMULA
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp


@irdl_op_definition
class PreprocessOp(TpuOp):
    """An image as a camera delivers it, made into the network's input."""

    name = "tpu.Preprocess"

    input = operand_def(RANKED)
    quant_mode = attr_def(TEXT)
    customization_format = attr_def(TEXT)
    channel_order = attr_def(TEXT)
    resize_dims = attr_def(I64_ARRAY)
    scale = attr_def(F64_ARRAY)
    mean = attr_def(F64_ARRAY)
    sign = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MeanStdScaleOp(LocalOp):
    """(image - mean) / std, quantised."""

    name = "tpu.MeanStdScale"

    input = operand_def(RANKED)
    f32_param = operand_def(RANKED)
    quant_mode = attr_def(TEXT)
    customization_format = attr_def(TEXT)
    channel_order = attr_def(TEXT)
    sign = default_attr_def(BOOL, True)
    scale = attr_def(F64_ARRAY)
    std = attr_def(F64_ARRAY)
    mean = attr_def(F64_ARRAY)
    zero_points = attr_def(F64_ARRAY)
    resize_dims = attr_def(I64_ARRAY)
    multi = attr_def(I32_DENSE)
    rshift = attr_def(I32_DENSE)
    offset = attr_def(I32_DENSE)
    rounding_mode = attr_def(TEXT)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class CscOp(TpuOp):
    """An image in another colour space, padded and aligned."""

    name = "tpu.Csc"

    input = operand_def(RANKED)
    channel_order = opt_attr_def(I32_DENSE)
    pixel_format = attr_def(TEXT)
    aligned = default_attr_def(BOOL, True)
    pixel_type = default_attr_def(I64_INT, 1)
    y_align = default_attr_def(I64_INT, 64)
    w_align = default_attr_def(I64_INT, 64)
    channel_align = default_attr_def(I64_INT, 64)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class Yuv2rgbFormulaOp(TpuOp):
    """A YUV image as RGB."""

    name = "tpu.Yuv2rgbFormula"

    YUV = operand_def(RANKED)
    src_format = attr_def(UI32)
    dst_format = attr_def(UI32)
    image_format = attr_def(IMAGE_OUT_FORMAT)
    formula_mode = attr_def(YUV2RGB_FORMULA)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class Mmap2RgbmapOp(TpuOp):
    """A mosaic of colour samples rearranged to planes."""

    name = "tpu.Mmap2Rgbmap"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class PackRawOp(TpuOp):
    """Raw sensor samples packed into planes."""

    name = "tpu.PackRaw"

    input = operand_def(RANKED)
    high_table = operand_def(RANKED_OR_NONE)
    low_table = operand_def(RANKED_OR_NONE)
    white_level = attr_def(F64)
    black_level = attr_def(F64)
    threshold = attr_def(F64)
    channel_order = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class DepackRawOp(TpuOp):
    """Planes unpacked to raw sensor samples."""

    name = "tpu.DepackRaw"

    input = operand_def(RANKED)
    padding_h = attr_def(I64_INT)
    padding_w = attr_def(I64_INT)
    white_level = attr_def(F64)
    black_level = attr_def(F64)
    channel_order = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())
