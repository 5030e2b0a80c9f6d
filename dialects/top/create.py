"""Tensors made from parameters."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.traits import InOutSameShape, OwnResult


@irdl_op_definition
class ArangeOp(NamedOp):
    """1-D range start/end/step."""

    name = "top.Arange"

    start = operand_def(TENSOR_OR_NONE)
    end = operand_def(TENSOR)
    step = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class RangeOp(NamedOp):
    """1-D range with tensor start/limit/delta."""

    name = "top.Range"

    start = operand_def(TENSOR_OR_NONE)
    limit = operand_def(TENSOR)
    delta = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class ConstantFillOp(NamedOp):
    """Tensor of a given shape filled with one value."""

    name = "top.ConstantFill"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    value = attr_def(F64)

    traits = traits_def(Pure())


@irdl_op_definition
class RandnLikeOp(NamedOp):
    """Gaussian random tensor like the input."""

    name = "top.RandnLike"

    input = operand_def(TENSOR)
    randn_data = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(OwnResult(), InOutSameShape())


@irdl_op_definition
class TriluOp(NamedOp):
    """Upper/lower triangle."""

    name = "top.Trilu"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    upper = attr_def(SI32)
    diagonal = attr_def(SI32)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class MeshGridOp(NamedOp):
    """Meshgrid."""

    name = "top.MeshGrid"

    inputs = var_operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    is_reverse = attr_def(BOOL)

    traits = traits_def(Pure())
