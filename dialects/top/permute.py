"""Moving data inside a tensor."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.traits import InOutSameShape


@irdl_op_definition
class PermuteOp(NamedOp):
    """Transpose of dims by order."""

    name = "top.Permute"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    order = attr_def(I64_ARRAY)

    traits = traits_def(Pure())


@irdl_op_definition
class TransposeOp(NamedOp):
    """Swap two dims (torch)."""

    name = "top.Transpose"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    dim0 = attr_def(SI32)
    dim1 = attr_def(SI32)

    traits = traits_def(Pure())


@irdl_op_definition
class ReverseOp(NamedOp):
    """Flip along one axis."""

    name = "top.Reverse"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class Depth2SpaceOp(NamedOp):
    """Depth-to-space / space-to-depth by block_h x block_w, CRD or DCR, NCHW or NHWC."""

    name = "top.Depth2Space"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    is_CRD = attr_def(BOOL)
    is_inversed = attr_def(BOOL)
    in_is_NCHW = default_attr_def(BOOL, True)
    out_is_NCHW = default_attr_def(BOOL, True)
    swap_cr = default_attr_def(BOOL, False)

    traits = traits_def(Pure())


@irdl_op_definition
class SwapDimInnerOp(NamedOp):
    """Rotate (cyclic shift) dims: concat(slice tail, slice head) at the given offsets."""

    name = "top.SwapDimInner"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    offset = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class SwapChannelOp(NamedOp):
    """Reorder channels by channel_order."""

    name = "top.SwapChannel"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    channel_order = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class ShuffleChannelOp(NamedOp):
    """Channel shuffle by groups."""

    name = "top.ShuffleChannel"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    group = attr_def(I64_INT)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class CopyOp(NamedOp):
    """Strided copy."""

    name = "top.Copy"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    shape = attr_def(I64_ARRAY)
    input_stride = attr_def(I64_ARRAY)
    output_stride = attr_def(I64_ARRAY)

    traits = traits_def(Pure())
