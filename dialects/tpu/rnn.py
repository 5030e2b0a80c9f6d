"""Recurrent networks."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, TpuOp


@irdl_op_definition
class GRUOp(TpuOp):
    """A layer of gated recurrent units."""

    name = "tpu.GRU"

    input = operand_def(RANKED)
    filter = operand_def(RANKED_OR_NONE)
    recurrence = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    initial_h = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    sigmoid_table = operand_def(RANKED_OR_NONE)
    sigmoid_slope_table = operand_def(RANKED_OR_NONE)
    tanh_table = operand_def(RANKED_OR_NONE)
    tanh_slope_table = operand_def(RANKED_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    linear_before_reset = default_attr_def(BOOL, True)
    batch_first = default_attr_def(BOOL, False)
    Y = result_def(RANKED_OR_NONE)
    Y_h = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class LSTMOp(TpuOp):
    """A layer of long short-term memory cells."""

    name = "tpu.LSTM"

    input = operand_def(RANKED)
    filter = operand_def(RANKED_OR_NONE)
    recurrence = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    initial_h = operand_def(RANKED_OR_NONE)
    initial_c = operand_def(RANKED_OR_NONE)
    cont = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    sigmoid_table = operand_def(RANKED_OR_NONE)
    sigmoid_slope_table = operand_def(RANKED_OR_NONE)
    tanh_table = operand_def(RANKED_OR_NONE)
    tanh_slope_table = operand_def(RANKED_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    batch_first = default_attr_def(BOOL, False)
    Y = result_def(RANKED_OR_NONE)
    Y_h = result_def(RANKED_OR_NONE)
    Y_c = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())
