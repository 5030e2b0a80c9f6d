"""The four stages of Mask R-CNN outside its backbone."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import F64, I64_INT
from xdsl_tpu.dialects.base import TENSOR, NamedOp


@irdl_op_definition
class MaskRCNN_RPNGetBboxesOp(NamedOp):
    """Region proposals from the five levels of the pyramid."""

    name = "top.MaskRCNN_RPNGetBboxes"

    cls_scores_0 = operand_def(TENSOR)
    cls_scores_1 = operand_def(TENSOR)
    cls_scores_2 = operand_def(TENSOR)
    cls_scores_3 = operand_def(TENSOR)
    cls_scores_4 = operand_def(TENSOR)
    bbox_preds_0 = operand_def(TENSOR)
    bbox_preds_1 = operand_def(TENSOR)
    bbox_preds_2 = operand_def(TENSOR)
    bbox_preds_3 = operand_def(TENSOR)
    bbox_preds_4 = operand_def(TENSOR)
    max_shape = operand_def(TENSOR)
    mlvl_anchors_0 = operand_def(TENSOR)
    mlvl_anchors_1 = operand_def(TENSOR)
    mlvl_anchors_2 = operand_def(TENSOR)
    mlvl_anchors_3 = operand_def(TENSOR)
    mlvl_anchors_4 = operand_def(TENSOR)
    result_list = result_def(TENSOR)
    delta2bbox_mean_0 = attr_def(F64)
    delta2bbox_mean_1 = attr_def(F64)
    delta2bbox_mean_2 = attr_def(F64)
    delta2bbox_mean_3 = attr_def(F64)
    delta2bbox_std_0 = attr_def(F64)
    delta2bbox_std_1 = attr_def(F64)
    delta2bbox_std_2 = attr_def(F64)
    delta2bbox_std_3 = attr_def(F64)
    delta2bbox_max_scalar_c = attr_def(F64)
    iou_threshold = attr_def(F64)
    conf_threshold = attr_def(F64)
    MAX_LENGTH_STATIC_STRECHED = attr_def(I64_INT)
    NUM_INDEXES = attr_def(I64_INT)
    NUM_CLASSES = attr_def(I64_INT)
    CHANNEL_RPN_BBOXES = attr_def(I64_INT)
    CHANNEL_RPN_SCORES = attr_def(I64_INT)
    NMS_PRE = attr_def(I64_INT)
    HARDWARE_FACTOR_TOPK = attr_def(I64_INT)
    NMS_MAX_LENGTH = attr_def(I64_INT)
    TOPK_ONNX_NMS = attr_def(I64_INT)
    H_RPN_DYN_MAX = attr_def(I64_INT)
    W_RPN_DYN_MAX = attr_def(I64_INT)
    MAX_PER_IMG = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskRCNN_BboxPoolerOp(NamedOp):
    """Features of each proposal, from the level of the pyramid that fits its size."""

    name = "top.MaskRCNN_BboxPooler"

    ptr_feat0 = operand_def(TENSOR)
    ptr_feat1 = operand_def(TENSOR)
    ptr_feat2 = operand_def(TENSOR)
    ptr_feat3 = operand_def(TENSOR)
    rois_multi_batch = operand_def(TENSOR)
    result_res = result_def(TENSOR)
    result_rois = result_def(TENSOR)
    ROI_NUM_LEVELS = attr_def(I64_INT)
    ROI_H = attr_def(I64_INT)
    ROI_W = attr_def(I64_INT)
    CHANNEL_ROI = attr_def(I64_INT)
    ROI_SLICE = attr_def(I64_INT)
    ROI_PH = attr_def(I64_INT)
    ROI_PW = attr_def(I64_INT)
    ROI_LEN = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskRCNN_GetBboxBOp(NamedOp):
    """Final boxes and labels from class scores and box offsets."""

    name = "top.MaskRCNN_GetBboxB"

    ptr_rois = operand_def(TENSOR)
    ptr_bbox = operand_def(TENSOR)
    ptr_score = operand_def(TENSOR)
    max_val = operand_def(TENSOR)
    scale_factor = operand_def(TENSOR)
    result_det_bboxes = result_def(TENSOR)
    result_det_labels = result_def(TENSOR)
    threshold_score_eq = attr_def(F64)
    wh_ratio_log = attr_def(F64)
    nms_iou_thr = attr_def(F64)
    delta2bbox_means = attr_def(F64)
    delta2bbox_stds_0 = attr_def(F64)
    delta2bbox_stds_1 = attr_def(F64)
    NUM_INDEXES = attr_def(I64_INT)
    NUM_CLASSES = attr_def(I64_INT)
    TOPK_ONNX_NMS = attr_def(I64_INT)
    NUM_CLASSES_getBboxB = attr_def(I64_INT)
    MAX_NMS_LENGTH_GetBboxB = attr_def(I64_INT)
    MAX_PER_IMG = attr_def(I64_INT)
    MAX_PER_IMG_GetBboxB = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskRCNN_MaskPoolerOp(NamedOp):
    """Features of each final box for the mask branch."""

    name = "top.MaskRCNN_MaskPooler"

    x_0 = operand_def(TENSOR)
    x_1 = operand_def(TENSOR)
    x_2 = operand_def(TENSOR)
    x_3 = operand_def(TENSOR)
    det_bboxes_multi_batch = operand_def(TENSOR)
    det_labels_multi_batch = operand_def(TENSOR)
    scale_factor = operand_def(TENSOR)
    result_res = result_def(TENSOR)
    ROI_NUM_LEVELS = attr_def(I64_INT)
    ROI_H = attr_def(I64_INT)
    ROI_W = attr_def(I64_INT)
    CHANNEL_ROI = attr_def(I64_INT)
    ROI_SLICE = attr_def(I64_INT)
    ROI_PH = attr_def(I64_INT)
    ROI_PW = attr_def(I64_INT)
    ROI_LEN = attr_def(I64_INT)

    traits = traits_def(Pure())
