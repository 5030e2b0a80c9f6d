"""Softmax in its variants."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class SoftmaxOp(LocalOp):
    """Softmax / log-softmax along an axis, with beta."""

    name = "tpu.Softmax"

    input = operand_def(RankedTensor)
    table = operand_def(TensorOrNone)
    slope_table = operand_def(TensorOrNone)
    reciprocal_table = operand_def(TensorOrNone)
    reciprocal_mantissa_table = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    axis = attr_def(SI32)
    log = default_attr_def(BOOL, False)
    beta = default_attr_def(F64, 1.0)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class SoftmaxCastOp(TpuOp):
    """Softmax fused with output cast."""

    name = "tpu.SoftmaxCast"

    input = operand_def(RankedTensor)
    table = operand_def(TensorOrNone)
    slope_table = operand_def(TensorOrNone)
    reciprocal_table = operand_def(TensorOrNone)
    reciprocal_mantissa_table = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    axis = attr_def(SI32)
    log = default_attr_def(BOOL, False)
    beta = default_attr_def(F64, 1.0)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
