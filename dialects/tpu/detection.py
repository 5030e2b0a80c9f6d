"""Object detection."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.kinds import CODE_TYPE, MATCH_MODE, ROI_ALIGN_MODE, YOLO_VERSION
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, TpuOp


@irdl_op_definition
class DetectionOutputOp(TpuOp):
    """Boxes of an SSD detector, decoded and thinned out."""

    name = "tpu.DetectionOutput"

    inputs = var_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    num_classes = attr_def(I64_INT)
    background_label_id = default_attr_def(I64_INT, 0)
    nms_threshold = attr_def(F64)
    top_k = attr_def(I64_INT)
    code_type = attr_def(CODE_TYPE)
    keep_top_k = attr_def(I64_INT)
    confidence_threshold = attr_def(F64)
    share_location = default_attr_def(BOOL, True)
    variance_encoded_in_target = default_attr_def(F64, 0)
    eta = default_attr_def(F64, 1)
    onnx_nms = default_attr_def(I64_INT, 1)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class YoloDetectionOp(TpuOp):
    """Boxes of a YOLO detector, decoded and thinned out."""

    name = "tpu.YoloDetection"

    inputs = var_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    net_input_h = attr_def(I64_INT)
    net_input_w = attr_def(I64_INT)
    nms_threshold = attr_def(F64)
    obj_threshold = attr_def(F64)
    keep_topk = attr_def(I64_INT)
    anchors = attr_def(F64_ARRAY)
    version = attr_def(YOLO_VERSION)
    class_num = default_attr_def(I64_INT, 80)
    num_boxes = default_attr_def(I64_INT, 3)
    agnostic_nms = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class NmsOp(TpuOp):
    """The boxes that overlap no better one of their class too much."""

    name = "tpu.Nms"

    inputs = var_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    center_point_box = attr_def(I64_INT)
    max_output_size = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RoiAlignOp(TpuOp):
    """Regions of a feature map resampled to one size."""

    name = "tpu.RoiAlign"

    input = operand_def(RANKED)
    rois = operand_def(RANKED)
    mode = attr_def(ROI_ALIGN_MODE)
    output_height = attr_def(I64_INT)
    output_width = attr_def(I64_INT)
    sampling_ratio = attr_def(I64_INT)
    spatial_scale = attr_def(F64)
    align_corners = attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RoiExtractorOp(TpuOp):
    """RoiAlign over several feature maps, each region from the map of its level."""

    name = "tpu.RoiExtractor"

    rois = operand_def(RANKED)
    target_lvls = operand_def(RANKED)
    inputs = var_operand_def(RANKED)
    mode = attr_def(ROI_ALIGN_MODE)
    num_levels = attr_def(I64_INT)
    output_height = attr_def(I64_INT)
    output_width = attr_def(I64_INT)
    sampling_ratio = attr_def(I64_INT)
    spatial_scales = attr_def(F64_ARRAY)
    align_corners = attr_def(BOOL)
    is_static = attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MatchTemplateOp(TpuOp):
    """How well a template fits at every place of an image."""

    name = "tpu.MatchTemplate"

    input = operand_def(RANKED)
    match = operand_def(RANKED_OR_NONE)
    table = operand_def(RANKED_OR_NONE)
    mantissa_table = operand_def(RANKED_OR_NONE)
    mode = attr_def(MATCH_MODE)
    output = result_def(RANKED)

    traits = traits_def(Pure())
