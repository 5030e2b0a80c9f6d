"""Post-processing of detectors."""

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
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.enums import DETECTION_OUTPUT_CODE_TYPE, ROI_ALIGN_MODE, YOLO_VERSION


@irdl_op_definition
class DetectionOutputOp(NamedOp):
    """SSD detection output."""

    name = "top.DetectionOutput"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    num_classes = attr_def(I64_INT)
    background_label_id = default_attr_def(I64_INT, 0)
    nms_threshold = attr_def(F64)
    top_k = attr_def(I64_INT)
    code_type = attr_def(DETECTION_OUTPUT_CODE_TYPE)
    keep_top_k = attr_def(I64_INT)
    confidence_threshold = attr_def(F64)
    share_location = default_attr_def(BOOL, True)
    variance_encoded_in_target = default_attr_def(F64, 0.0)
    eta = default_attr_def(F64, 1.0)

    traits = traits_def(Pure())


@irdl_op_definition
class FrcnDetectionOp(NamedOp):
    """Faster-RCNN detection post-process."""

    name = "top.FrcnDetection"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    class_num = attr_def(I64_INT)
    obj_threshold = attr_def(F64)
    nms_threshold = attr_def(F64)
    keep_topk = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class NmsOp(NamedOp):
    """Non-maximum suppression."""

    name = "top.Nms"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    center_point_box = attr_def(I64_INT)
    max_output_size = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class PriorBoxOp(NamedOp):
    """SSD prior boxes."""

    name = "top.PriorBox"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    min_size = attr_def(F64_ARRAY)
    max_size = attr_def(F64_ARRAY)
    aspect_ratios = attr_def(F64_ARRAY)
    variance = attr_def(F64_ARRAY)
    clip = default_attr_def(BOOL, True)
    step_h = attr_def(F64)
    step_w = attr_def(F64)
    img_h = attr_def(I64_INT)
    img_w = attr_def(I64_INT)
    offset = default_attr_def(F64, 0.5)
    num_priors = attr_def(I64_INT)
    use_default_aspect_ratio = default_attr_def(BOOL, True)

    traits = traits_def(Pure())


@irdl_op_definition
class ProposalOp(NamedOp):
    """RPN proposals."""

    name = "top.Proposal"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    net_input_h = attr_def(I64_INT)
    net_input_w = attr_def(I64_INT)
    feat_stride = attr_def(I64_INT)
    anchor_base_size = attr_def(I64_INT)
    rpn_obj_threshold = attr_def(F64)
    rpn_nms_threshold = attr_def(F64)
    rpn_nms_post_top_n = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class RetinaFaceDetectionOp(NamedOp):
    """RetinaFace post-process."""

    name = "top.RetinaFaceDetection"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    nms_threshold = attr_def(F64)
    confidence_threshold = attr_def(F64)
    keep_topk = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class ROIPoolingOp(NamedOp):
    """ROI pooling."""

    name = "top.ROIPooling"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    pooled_h = attr_def(I64_INT)
    pooled_w = attr_def(I64_INT)
    spatial_scale = attr_def(F64)

    traits = traits_def(Pure())


@irdl_op_definition
class RoiAlignOp(NamedOp):
    """ROI align."""

    name = "top.RoiAlign"

    input = operand_def(TENSOR)
    rois = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(ROI_ALIGN_MODE)
    output_height = attr_def(I64_INT)
    output_width = attr_def(I64_INT)
    sampling_ratio = attr_def(I64_INT)
    spatial_scale = attr_def(F64)
    align_corners = attr_def(BOOL)

    traits = traits_def(Pure())


@irdl_op_definition
class RoiExtractorOp(NamedOp):
    """Multi-level ROI extraction."""

    name = "top.RoiExtractor"

    rois = operand_def(TENSOR)
    target_lvls = operand_def(TENSOR)
    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(ROI_ALIGN_MODE)
    num_levels = attr_def(I64_INT)
    output_height = attr_def(I64_INT)
    output_width = attr_def(I64_INT)
    sampling_ratio = attr_def(I64_INT)
    spatial_scales = attr_def(F64_ARRAY)
    align_corners = attr_def(BOOL)
    is_static = attr_def(BOOL)

    traits = traits_def(Pure())


@irdl_op_definition
class YoloDetectionOp(NamedOp):
    """YOLO detection post-process."""

    name = "top.YoloDetection"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
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

    traits = traits_def(Pure())
