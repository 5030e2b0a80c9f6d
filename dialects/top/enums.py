"""The string enumerations of `top` attributes."""

from xdsl_tpu.dialects.attrs import ChoiceKind

ARG_MODE = ChoiceKind("ArgMin", "ArgMax")
AUTO_PAD_MODE = ChoiceKind("SAME_UPPER", "SAME_LOWER", "NOTSET", "VALID")
BINARY_SHIFT = ChoiceKind("Add", "Sub", "Mul")
CHANNEL_FORMAT = ChoiceKind("nhwc", "nchw")
COMPARE_MODE = ChoiceKind(
    "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "NotEqual", "And", "Not", "Xor"
)
DEQUANT_MODE = ChoiceKind("Normal", "TFLite")
DETECTION_OUTPUT_CODE_TYPE = ChoiceKind("CORNER", "CENTER_SIZE", "CORNER_SIZE")
DQ_TYPE = ChoiceKind("NONE", "F16", "BF16", "INT8", "INT4", "F8E4M3", "F4", "MXF4")
GELUMODE = ChoiceKind("normal", "tanh", "sigm")
IMAGE_OUT_FORMAT = ChoiceKind("FLOAT32", "UINT8")
INTERP_COORD_MODE = ChoiceKind("align_corners", "half_pixel", "pytorch_half_pixel", "asymmetric")
INTERP_MODE = ChoiceKind("nearest", "linear")
MATCH_TEMPLATE_MODE = ChoiceKind("TM_CCOEFF_NORMED", "TM_SQDIFF")
NON_ZERO_ORDER = ChoiceKind("ColMajor", "RowMajor")
PAD_MODE = ChoiceKind("normal", "center")
PADDING_MODE = ChoiceKind("constant", "reflect", "symmetric", "edge")
PIXEL_FORMAT = ChoiceKind("rgb", "bgr", "gray", "rgba", "gbrg", "grbg", "bggr", "rggb")
PLACE_HOLDER = ChoiceKind("Auto", "F32", "None")
REDUCE_MODE = ChoiceKind(
    "ReduceMin", "ReduceMax", "ReduceMean", "ReduceL2", "ReduceL1", "ReduceSum", "ReduceProd"
)
REQUANT_MODE = ChoiceKind(
    "TFLite_LShift", "TFLite", "MultiplierShift", "OnlyShift", "QDM", "OnlyScale"
)
ROI_ALIGN_MODE = ChoiceKind("Avg", "Max")
ROPE_MODE = ChoiceKind("interleaved_pairs", "contiguous_halves")
ROUND_MODE = ChoiceKind(
    "HalfAwayFromZero",
    "HalfUp",
    "HalfDown",
    "HalfToEven",
    "HalfToOdd",
    "HalfTowardsZero",
    "TowardsZero",
    "Up",
    "Down",
)
STORE_MODE = ChoiceKind("1N", "2N", "4N")
YOLO_VERSION = ChoiceKind(
    "yolov3", "yolov3_tiny", "yolov3_spp", "yolov4", "yolov5", "yolov8", "yolov11", "yolov26"
)
YUV_FORMULA = ChoiceKind("_601_limited", "_601_full")
