"""Taking parts of tensors and putting parts together."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import PaddingMode
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP, PADDING_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class SliceOp(LocalOp):
    """Strided slice with static offset/steps/ends and optional tensor versions."""

    name = "tpu.Slice"

    input = operand_def(RankedTensor)
    offsetT = operand_def(TensorOrNone)
    endsT = operand_def(TensorOrNone)
    stepsT = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    offset = attr_def(I64_ARRAY)
    steps = attr_def(I64_ARRAY)
    ends = attr_def(I64_ARRAY)
    axes = default_attr_def(I64_ARRAY, (1,))
    hasparamConvert_axes = default_attr_def(I64_ARRAY, ())
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class StridedSliceOp(TpuOp):
    """TF-style strided slice."""

    name = "tpu.StridedSlice"

    input = operand_def(RankedTensor)
    starts = operand_def(RankedTensor)
    ends = operand_def(RankedTensor)
    strides = operand_def(RankedTensor)
    begin_mask = attr_def(I64_INT)
    end_mask = attr_def(I64_INT)
    ellipsis_mask = attr_def(I64_INT)
    new_axis_mask = attr_def(I64_INT)
    shrink_axis_mask = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatOp(LocalOp):
    """Concatenate along an axis, optional fused relu."""

    name = "tpu.Concat"

    inputs = var_operand_def(RankedTensor)
    axis = attr_def(SI32)
    only_merge = default_attr_def(BOOL, False)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatSliceOp(TpuOp):
    """Concatenate then slice along an axis (KV-cache style)."""

    name = "tpu.ConcatSlice"

    in0 = operand_def(RankedTensor)
    in1 = operand_def(RankedTensor)
    axis = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatVolumeOp(TpuOp):
    """Stereo-matching concatenation cost volume."""

    name = "tpu.ConcatVolume"

    inputs = var_operand_def(RankedTensor)
    max_disp = default_attr_def(I64_INT, 0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class InsertOp(TpuOp):
    """Insert one tensor inside another along an axis at an offset."""

    name = "tpu.Insert"

    input = operand_def(RankedTensor)
    rhs = operand_def(RankedTensor)
    axis = attr_def(I64_INT)
    offset = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class TileOp(LocalOp):
    """Repeat whole dims."""

    name = "tpu.Tile"

    input = operand_def(RankedTensor)
    tileT = opt_operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    tile = default_attr_def(I64_ARRAY, ())
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class PadOp(LocalOp):
    """Pad with constant/reflect/symmetric/edge."""

    name = "tpu.Pad"

    input = operand_def(RankedTensor)
    paddingsT = opt_operand_def(TensorOrNone)
    left_select = operand_def(TensorOrNone)
    right_select = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    paddings = attr_def(I64_ARRAY)
    val = default_attr_def(F64, 0.0)
    mode = default_attr_def(PADDING_MODE, PaddingMode.constant)
    with_insert_zero = default_attr_def(BOOL, False)
    insert_zeros = opt_attr_def(I64_ARRAY)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class TriluOp(LocalOp):
    """Upper/lower triangle."""

    name = "tpu.Trilu"

    input = operand_def(RankedTensor)
    upper = attr_def(SI32)
    diagonal = attr_def(SI32)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class CopyOp(LocalOp):
    """Strided copy."""

    name = "tpu.Copy"

    input = operand_def(RankedTensor)
    shape = attr_def(I64_ARRAY)
    input_stride = attr_def(I64_ARRAY)
    output_stride = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
