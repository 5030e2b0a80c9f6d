"""Pooling over windows."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import LAYER_GROUP, POOL_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


@irdl_op_definition
class Pool1DOp(LocalOp):
    """1-D pooling (mode Avg/Max)."""

    name = "tpu.Pool1D"

    input = operand_def(RankedTensor)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    is_adaptive = default_attr_def(BOOL, False)
    count_include_pad = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    ceil_mode = opt_attr_def(BOOL)
    multiplier = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    scale = opt_attr_def(F64)
    offset = opt_attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    layer_group = opt_attr_def(LAYER_GROUP)
    fp8_out_scale = opt_attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    keepdims = default_attr_def(BOOL, True)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class Pool2DOp(LocalOp):
    """2-D pooling (mode Avg/Max)."""

    name = "tpu.Pool2D"

    input = operand_def(RankedTensor)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    is_adaptive = default_attr_def(BOOL, False)
    count_include_pad = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    ceil_mode = opt_attr_def(BOOL)
    multiplier = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    scale = opt_attr_def(F64)
    offset = opt_attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    layer_group = opt_attr_def(LAYER_GROUP)
    fp8_out_scale = opt_attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    keepdims = default_attr_def(BOOL, True)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class Pool3DOp(LocalOp):
    """3-D pooling (mode Avg/Max)."""

    name = "tpu.Pool3D"

    input = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    pool_mode = attr_def(POOL_MODE)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    scale = opt_attr_def(F64)
    offset = opt_attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    layer_group = opt_attr_def(LAYER_GROUP)
    fp8_out_scale = opt_attr_def(F64)
    keepdims = default_attr_def(BOOL, True)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MaxPoolWithMaskOp(LocalOp):
    """Max pooling with index mask."""

    name = "tpu.MaxPoolWithMask"

    input = operand_def(RankedTensor)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    layer_group = opt_attr_def(LAYER_GROUP)
    output = result_def(RankedTensor)
    mask = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MaxUnpoolOp(LocalOp):
    """Max unpooling."""

    name = "tpu.MaxUnpool"

    input = operand_def(RankedTensor)
    mask = operand_def(RankedTensor)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class PoolMaskOp(TpuOp):
    """Pool mask."""

    name = "tpu.PoolMask"

    input = operand_def(RankedTensor)
    scale = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
