"""Kinds of attributes only the `tpu` dialect has: enums, string choices, compiler annotations."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects.builtin import AffineMapAttr, Float32Type, FloatAttr, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute

from xdsl_tpu.dialects.attrs import ChoiceKind, DictKind, Kind
from xdsl_tpu.dialects.tpu.attributes import CompressAttr, LayerGroupAttr
from xdsl_tpu.dialects.tpu.enums import (
    ActiveModeAttr,
    BufferTypeAttr,
    CorePatternAttr,
    DequantModeAttr,
    DevPatternAttr,
    ImageOutFormatAttr,
    LutBF16ModeAttr,
    PaddingModeAttr,
    PoolModeAttr,
    RequantModeAttr,
    ResizeCoordModeAttr,
    ResizeModeAttr,
    RopeModeAttr,
    RoundModeAttr,
    RunModeAttr,
    Yuv2rgbFormulaAttr,
)

A = TypeVar("A", bound=Attribute)
E = TypeVar("E", bound=EnumAttribute[Any])


@dataclass(frozen=True)
class ClassKind(Kind[A], Generic[A]):
    """Any attribute of one class."""

    attr_class: type[A]

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, self.attr_class)

    def describe(self) -> str:
        return f"a #{self.attr_class.name} attribute"

    def convert(self, value: Any) -> A:
        raise TypeError(value)


@dataclass(frozen=True)
class EnumKind(Kind[E], Generic[E]):
    """One case of an enum; builders take the enum member or its name."""

    attr_class: type[E]

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, self.attr_class)

    def describe(self) -> str:
        return f"one of {', '.join(case.value for case in self.attr_class.enum_type)}"

    def convert(self, value: Any) -> E:
        return self.attr_class(self.attr_class.enum_type(value))


@dataclass(frozen=True)
class F32Kind(Kind[FloatAttr[Float32Type]]):
    """A 32-bit float."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, FloatAttr) and cast(FloatAttr[Float32Type], attr).type == f32

    def describe(self) -> str:
        return "an f32 number"

    def convert(self, value: Any) -> FloatAttr[Float32Type]:
        return FloatAttr(float(value), f32)


F32 = F32Kind()
DICT = DictKind()
AFFINE_MAP = ClassKind(AffineMapAttr)
LAYER_GROUP = ClassKind(LayerGroupAttr)
COMPRESS = ClassKind(CompressAttr)

ACTIVE_MODE = EnumKind(ActiveModeAttr)
BUFFER_TYPE = EnumKind(BufferTypeAttr)
CORE_PATTERN = EnumKind(CorePatternAttr)
DEQUANT_MODE = EnumKind(DequantModeAttr)
DEV_PATTERN = EnumKind(DevPatternAttr)
IMAGE_OUT_FORMAT = EnumKind(ImageOutFormatAttr)
LUT_BF16_MODE = EnumKind(LutBF16ModeAttr)
PADDING_MODE = EnumKind(PaddingModeAttr)
POOL_MODE = EnumKind(PoolModeAttr)
REQUANT_MODE = EnumKind(RequantModeAttr)
RESIZE_COORD_MODE = EnumKind(ResizeCoordModeAttr)
RESIZE_MODE = EnumKind(ResizeModeAttr)
ROPE_MODE = EnumKind(RopeModeAttr)
ROUND_MODE = EnumKind(RoundModeAttr)
RUN_MODE = EnumKind(RunModeAttr)
YUV2RGB_FORMULA = EnumKind(Yuv2rgbFormulaAttr)

ARG_MODE = ChoiceKind("ArgMin", "ArgMax")
BINARY_SHIFT = ChoiceKind("Add", "Sub", "Mul")
COMPARE_MODE = ChoiceKind(
    "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "NotEqual", "And", "Not", "Xor"
)
CODE_TYPE = ChoiceKind("CORNER", "CENTER_SIZE", "CORNER_SIZE")
DQ_TYPE = ChoiceKind("NONE", "F16", "BF16", "INT8", "INT4", "F8E4M3", "F4", "MXF4")
FATTENTION_MODE = ChoiceKind("Normal", "MaskInner", "MaskNone")
GRID_PADDING = ChoiceKind("zeros", "border", "reflection")
MATCH_MODE = ChoiceKind("TM_CCOEFF_NORMED", "TM_SQDIFF")
NONZERO_ORDER = ChoiceKind("ColMajor", "RowMajor")
REDUCE_MODE = ChoiceKind(
    "ReduceMin", "ReduceMax", "ReduceMean", "ReduceL2", "ReduceL1", "ReduceSum", "ReduceProd"
)
ROI_ALIGN_MODE = ChoiceKind("Avg", "Max")
YOLO_VERSION = ChoiceKind("yolov3", "yolov3_tiny", "yolov3_spp", "yolov4", "yolov5", "yolov8")
