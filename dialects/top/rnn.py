"""Recurrent networks."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp


@irdl_op_definition
class LSTMOp(NamedOp):
    """Long short-term memory."""

    name = "top.LSTM"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    recurrence = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    initial_h = operand_def(TENSOR_OR_NONE)
    initial_c = operand_def(TENSOR_OR_NONE)
    cont = operand_def(TENSOR_OR_NONE)
    Y = result_def(TENSOR_OR_NONE)
    Y_h = result_def(TENSOR_OR_NONE)
    Y_c = result_def(TENSOR_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    batch_first = default_attr_def(BOOL, False)

    traits = traits_def(Pure())


@irdl_op_definition
class GRUOp(NamedOp):
    """Gated recurrent unit."""

    name = "top.GRU"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    recurrence = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    initial_h = operand_def(TENSOR_OR_NONE)
    Y = result_def(TENSOR_OR_NONE)
    Y_h = result_def(TENSOR_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    linear_before_reset = default_attr_def(BOOL, True)
    batch_first = default_attr_def(BOOL, False)

    traits = traits_def(Pure())


@irdl_op_definition
class SelectiveScanOp(NamedOp):
    """Mamba selective scan."""

    name = "top.SelectiveScan"

    Cs = operand_def(TENSOR)
    deltaA = operand_def(TENSOR)
    deltaB_u = operand_def(TENSOR)
    us = operand_def(TENSOR)
    Ds = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())
