"""The parts of Mask R-CNN."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import F64, I64_INT
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, TpuOp


@irdl_op_definition
class MaskRCNN_BboxPoolerOp(TpuOp):
    """The regions of Mask R-CNN's box head, from four feature maps."""

    name = "tpu.MaskRCNN_BboxPooler"

    ptr_feat0 = operand_def(RANKED)
    ptr_feat1 = operand_def(RANKED)
    ptr_feat2 = operand_def(RANKED)
    ptr_feat3 = operand_def(RANKED)
    rois_multi_batch = operand_def(RANKED)
    ptr_tmp_res = operand_def(RANKED_OR_NONE)
    ptr_rois_tmp = operand_def(RANKED_OR_NONE)
    ROI_NUM_LEVELS = attr_def(I64_INT)
    ROI_H = attr_def(I64_INT)
    ROI_W = attr_def(I64_INT)
    CHANNEL_ROI = attr_def(I64_INT)
    ROI_SLICE = attr_def(I64_INT)
    ROI_PH = attr_def(I64_INT)
    ROI_PW = attr_def(I64_INT)
    ROI_LEN = attr_def(I64_INT)
    result_res = result_def(RANKED)
    result_rois = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskRCNN_GetBboxBOp(TpuOp):
    """Mask R-CNN's boxes, refined, scored and thinned out."""

    name = "tpu.MaskRCNN_GetBboxB"

    ptr_rois = operand_def(RANKED)
    ptr_bbox = operand_def(RANKED)
    ptr_score = operand_def(RANKED)
    max_val = operand_def(RANKED)
    scale_factor = operand_def(RANKED)
    means = operand_def(RANKED_OR_NONE)
    stds = operand_def(RANKED_OR_NONE)
    res_bbox = operand_def(RANKED_OR_NONE)
    res_bbox1 = operand_def(RANKED_OR_NONE)
    res_bbox0 = operand_def(RANKED_OR_NONE)
    res_score0 = operand_def(RANKED_OR_NONE)
    res_score1 = operand_def(RANKED_OR_NONE)
    res_score2 = operand_def(RANKED_OR_NONE)
    res_score3 = operand_def(RANKED_OR_NONE)
    res_label2 = operand_def(RANKED_OR_NONE)
    result_list = operand_def(RANKED_OR_NONE)
    keep_3nch = operand_def(RANKED_OR_NONE)
    keep_u32_1h = operand_def(RANKED_OR_NONE)
    glb_buffer_boxes = operand_def(RANKED_OR_NONE)
    glb_buffer_scores = operand_def(RANKED_OR_NONE)
    glb_buffer_nms = operand_def(RANKED_OR_NONE)
    glb_buffer_nonzero = operand_def(RANKED_OR_NONE)
    result_valid_ind = operand_def(RANKED_OR_NONE)
    glb_lables = operand_def(RANKED_OR_NONE)
    glb_lables_expand = operand_def(RANKED_OR_NONE)
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
    result_det_bboxes = result_def(RANKED)
    result_det_labels = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskRCNN_MaskPoolerOp(TpuOp):
    """The regions of Mask R-CNN's mask head, from four feature maps."""

    name = "tpu.MaskRCNN_MaskPooler"

    x_0 = operand_def(RANKED)
    x_1 = operand_def(RANKED)
    x_2 = operand_def(RANKED)
    x_3 = operand_def(RANKED)
    det_bboxes_multi_batch = operand_def(RANKED)
    det_labels_multi_batch = operand_def(RANKED)
    scale_factor = operand_def(RANKED)
    ptr_rois_buff = operand_def(RANKED_OR_NONE)
    result_filled_det_bboxes = operand_def(RANKED_OR_NONE)
    result_filled_det_labels = operand_def(RANKED_OR_NONE)
    ptr_tmp_res = operand_def(RANKED_OR_NONE)
    ptr_rois_tmp = operand_def(RANKED_OR_NONE)
    ROI_NUM_LEVELS = attr_def(I64_INT)
    ROI_H = attr_def(I64_INT)
    ROI_W = attr_def(I64_INT)
    CHANNEL_ROI = attr_def(I64_INT)
    ROI_SLICE = attr_def(I64_INT)
    ROI_PH = attr_def(I64_INT)
    ROI_PW = attr_def(I64_INT)
    ROI_LEN = attr_def(I64_INT)
    result_res = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskRCNN_RPNGetBboxesOp(TpuOp):
    """Mask R-CNN's proposals, from five levels of anchors."""

    name = "tpu.MaskRCNN_RPNGetBboxes"

    cls_scores_0 = operand_def(RANKED)
    cls_scores_1 = operand_def(RANKED)
    cls_scores_2 = operand_def(RANKED)
    cls_scores_3 = operand_def(RANKED)
    cls_scores_4 = operand_def(RANKED)
    bbox_preds_0 = operand_def(RANKED)
    bbox_preds_1 = operand_def(RANKED)
    bbox_preds_2 = operand_def(RANKED)
    bbox_preds_3 = operand_def(RANKED)
    bbox_preds_4 = operand_def(RANKED)
    max_shape = operand_def(RANKED)
    mlvl_anchors_0 = operand_def(RANKED)
    mlvl_anchors_1 = operand_def(RANKED)
    mlvl_anchors_2 = operand_def(RANKED)
    mlvl_anchors_3 = operand_def(RANKED)
    mlvl_anchors_4 = operand_def(RANKED)
    batch_mlvl_scores = operand_def(RANKED_OR_NONE)
    batch_mlvl_anchors = operand_def(RANKED_OR_NONE)
    batch_mlvl_rpn_bbox_pred = operand_def(RANKED_OR_NONE)
    batch_mlvl_proposals = operand_def(RANKED_OR_NONE)
    batch_mlvl_ids = operand_def(RANKED_OR_NONE)
    glb_buffer_tmp_scores_stretched = operand_def(RANKED_OR_NONE)
    glb_buffer_ranked_scores = operand_def(RANKED_OR_NONE)
    glb_buffer_rank_inds_int32 = operand_def(RANKED_OR_NONE)
    glb_buffer_rank_inds_u32 = operand_def(RANKED_OR_NONE)
    glb_topk_inds = operand_def(RANKED_OR_NONE)
    glb_buffer_gather_1 = operand_def(RANKED_OR_NONE)
    glb_buffer_gather_2 = operand_def(RANKED_OR_NONE)
    glb_buffer_rpn_bbox_permuted = operand_def(RANKED_OR_NONE)
    glb_buffer_nonzero = operand_def(RANKED_OR_NONE)
    result_valid_ind = operand_def(RANKED_OR_NONE)
    glb_buffer_gather_boxes = operand_def(RANKED_OR_NONE)
    glb_buffer_gather_scores = operand_def(RANKED_OR_NONE)
    keep_3nch = operand_def(RANKED_OR_NONE)
    keep_u32_1h = operand_def(RANKED_OR_NONE)
    glb_buffer_boxes = operand_def(RANKED_OR_NONE)
    glb_buffer_scores = operand_def(RANKED_OR_NONE)
    glb_buffer_nms = operand_def(RANKED_OR_NONE)
    gather_mlvl_proposals = operand_def(RANKED_OR_NONE)
    gather_mlvl_scores = operand_def(RANKED_OR_NONE)
    gather_mlvl_ids = operand_def(RANKED_OR_NONE)
    glb_buffer_result_list = operand_def(RANKED_OR_NONE)
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
    result_list = result_def(RANKED)

    traits = traits_def(Pure())
