"""Elements in another order."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class PermuteOp(LocalOp):
    """Transpose of dims by order."""

    name = "tpu.Permute"

    input = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    order = attr_def(I64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class Depth2SpaceOp(TpuOp):
    """Depth-to-space / space-to-depth by block_h x block_w, CRD or DCR, NCHW or NHWC."""

    name = "tpu.Depth2Space"

    input = operand_def(RankedTensor)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    is_CRD = attr_def(BOOL)
    is_inversed = attr_def(BOOL)
    in_is_NCHW = default_attr_def(BOOL, True)
    out_is_NCHW = default_attr_def(BOOL, True)
    swap_cr = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class ShuffleChannelOp(LocalOp):
    """Channel shuffle by groups."""

    name = "tpu.ShuffleChannel"

    input = operand_def(RankedTensor)
    group = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class SwapChannelOp(LocalOp):
    """Reorder channels by channel_order."""

    name = "tpu.SwapChannel"

    input = operand_def(RankedTensor)
    channel_order = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class SwapDimInnerOp(LocalOp):
    """Rotate (cyclic shift) dims: concat(slice tail, slice head) at the given offsets."""

    name = "tpu.SwapDimInner"

    input = operand_def(RankedTensor)
    offset = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class ReverseOp(TpuOp):
    """Flip along one axis."""

    name = "tpu.Reverse"

    input = operand_def(RankedTensor)
    axis = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class Batch2SpaceOp(TpuOp):
    """Batch to space (used around dilated conv on some processors)."""

    name = "tpu.Batch2Space"

    input = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    crops = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class Space2BatchOp(TpuOp):
    """Space to batch."""

    name = "tpu.Space2Batch"

    input = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    pads = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
