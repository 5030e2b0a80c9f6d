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
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.top.abstract import ShapedOp
from xdsl_tpu.dialects.top.enums import DETECTION_OUTPUT_CODE_TYPE, ROI_ALIGN_MODE, YOLO_VERSION


@irdl_op_definition
class DetectionOutputOp(NamedOp):
    """Boxes and classes of an SSD detector after decoding and non-maximum suppression."""

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
    """Boxes and classes of a Faster R-CNN detector after non-maximum suppression."""

    name = "top.FrcnDetection"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    class_num = attr_def(I64_INT)
    obj_threshold = attr_def(F64)
    nms_threshold = attr_def(F64)
    keep_topk = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class NmsOp(ShapedOp):
    """Indices of the boxes that survive non-maximum suppression, batch, class and box a row.

    Inputs are boxes, batch x count x 4, scores, batch x classes x count, and thresholds (ONNX
    operators, NonMaxSuppression). The shape leaves room for `max_output_size` boxes a class.
    """

    name = "top.Nms"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    center_point_box = attr_def(I64_INT)
    max_output_size = attr_def(I64_INT)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        if len(self.inputs) < 2:
            raise ShapeError("boxes and scores are needed")
        boxes, scores = (self.shape_of(operand, 3) for operand in self.inputs[:2])
        if boxes[2] != 4 or scores[::2] != boxes[:2]:
            raise ShapeError(f"boxes {dims(boxes)} and scores {dims(scores)} do not fit")
        batch, classes, count = scores
        return ((batch * classes * min(count, self.max_output_size.value.data), 3),)


@irdl_op_definition
class PriorBoxOp(NamedOp):
    """The default boxes of an SSD detector and their variances, from the sizes of a feature map."""

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
    """Region proposals of a Faster R-CNN network out of scores and box offsets."""

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
    """Faces and landmarks of a RetinaFace detector after non-maximum suppression."""

    name = "top.RetinaFaceDetection"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    nms_threshold = attr_def(F64)
    confidence_threshold = attr_def(F64)
    keep_topk = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class ROIPoolingOp(NamedOp):
    """Max pooling of each region of interest to pooled_h x pooled_w."""

    name = "top.ROIPooling"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    pooled_h = attr_def(I64_INT)
    pooled_w = attr_def(I64_INT)
    spatial_scale = attr_def(F64)

    traits = traits_def(Pure())


@irdl_op_definition
class RoiAlignOp(ShapedOp):
    """Bilinear sampling of each region of interest to output_height x output_width.

    input is N, C, H, W; each row of rois is a batch index and a box; `mode` reduces the
    `sampling_ratio` squared samples of a bin (ONNX operators, RoiAlign).
    """

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

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, rois = self.shape_of(self.input, 4), self.shape_of(self.rois, 2)
        return ((rois[0], shape[1], self.output_height.value.data, self.output_width.value.data),)


@irdl_op_definition
class RoiExtractorOp(NamedOp):
    """RoiAlign on the level of a feature pyramid that each region belongs to."""

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
    """Boxes and classes of a YOLO detector after decoding and non-maximum suppression."""

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
