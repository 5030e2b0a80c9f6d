"""Recurrent networks."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.op import TpuOp


@irdl_op_definition
class GRUOp(TpuOp):
    """Gated recurrent unit."""

    name = "tpu.GRU"

    input = operand_def(RankedTensor)
    filter = operand_def(TensorOrNone)
    recurrence = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    initial_h = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    sigmoid_table = operand_def(TensorOrNone)
    sigmoid_slope_table = operand_def(TensorOrNone)
    tanh_table = operand_def(TensorOrNone)
    tanh_slope_table = operand_def(TensorOrNone)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    linear_before_reset = default_attr_def(BOOL, True)
    batch_first = default_attr_def(BOOL, False)
    Y = result_def(TensorOrNone)
    Y_h = result_def(TensorOrNone)

    traits = traits_def(Pure())


@irdl_op_definition
class LSTMOp(TpuOp):
    """Long short-term memory."""

    name = "tpu.LSTM"

    input = operand_def(RankedTensor)
    filter = operand_def(TensorOrNone)
    recurrence = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    initial_h = operand_def(TensorOrNone)
    initial_c = operand_def(TensorOrNone)
    cont = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    sigmoid_table = operand_def(TensorOrNone)
    sigmoid_slope_table = operand_def(TensorOrNone)
    tanh_table = operand_def(TensorOrNone)
    tanh_slope_table = operand_def(TensorOrNone)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    batch_first = default_attr_def(BOOL, False)
    Y = result_def(TensorOrNone)
    Y_h = result_def(TensorOrNone)
    Y_c = result_def(TensorOrNone)

    traits = traits_def(Pure())
