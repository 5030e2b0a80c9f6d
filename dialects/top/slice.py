"""Cutting, joining and padding."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.enums import PADDING_MODE, ROUND_MODE


@irdl_op_definition
class SliceOp(NamedOp):
    """Strided slice with static offset/steps/ends and optional tensor versions."""

    name = "top.Slice"

    input = operand_def(TENSOR)
    offsetT = operand_def(TENSOR_OR_NONE)
    endsT = operand_def(TENSOR_OR_NONE)
    stepsT = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    offset = attr_def(I64_ARRAY)
    steps = attr_def(I64_ARRAY)
    ends = attr_def(I64_ARRAY)
    axes = default_attr_def(I64_ARRAY, [])
    hasparamConvert_axes = default_attr_def(I64_ARRAY, [])

    traits = traits_def(Pure())


@irdl_op_definition
class SliceAxisOp(NamedOp):
    """Slice along one axis with tensor parameters."""

    name = "top.SliceAxis"

    input = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    start = operand_def(TENSOR)
    step = operand_def(TENSOR_OR_NONE)
    end = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class StridedSliceOp(NamedOp):
    """TF-style strided slice."""

    name = "top.StridedSlice"

    input = operand_def(TENSOR)
    starts = operand_def(TENSOR)
    ends = operand_def(TENSOR)
    strides = operand_def(TENSOR)
    output = result_def(TENSOR)
    begin_mask = attr_def(I64_INT)
    end_mask = attr_def(I64_INT)
    ellipsis_mask = attr_def(I64_INT)
    new_axis_mask = attr_def(I64_INT)
    shrink_axis_mask = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class SplitOp(NamedOp):
    """Split along an axis into num parts or split_size list."""

    name = "top.Split"

    input = operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    axis = attr_def(SI32)
    num = attr_def(I64_INT)
    split_size = opt_attr_def(I64_ARRAY)

    traits = traits_def(Pure())


@irdl_op_definition
class UnpackOp(NamedOp):
    """Unstack along an axis."""

    name = "top.Unpack"

    input = operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    axis = attr_def(SI32)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatOp(FusedReluOp):
    """Concatenate along an axis, optional fused relu."""

    name = "top.Concat"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = default_attr_def(SI32, 1)
    only_merge = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure())


@irdl_op_definition
class PackOp(NamedOp):
    """Stack along a new axis."""

    name = "top.Pack"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(SI32)
    values_count = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class PadOp(NamedOp):
    """Pad with constant/reflect/symmetric/edge."""

    name = "top.Pad"

    input = operand_def(TENSOR)
    paddingsT = opt_operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    paddings = attr_def(I64_ARRAY)
    val = default_attr_def(F64, 0.0)
    mode = attr_def(PADDING_MODE)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatSliceOp(NamedOp):
    """Concatenate then slice along an axis (KV-cache style)."""

    name = "top.ConcatSlice"

    in0 = operand_def(TENSOR)
    in1 = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class InsertOp(NamedOp):
    """Insert one tensor inside another along an axis at an offset."""

    name = "top.Insert"

    input = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)
    offset = attr_def(I64_INT)

    traits = traits_def(Pure())
