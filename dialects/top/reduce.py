"""Reductions and scans."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.enums import ARG_MODE, REDUCE_MODE
from xdsl_tpu.dialects.top.traits import InOutSameShape, ScalarProducer


@irdl_op_definition
class ReduceOp(NamedOp):
    """Reduction over axes with mode."""

    name = "top.Reduce"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axes = attr_def(I64_ARRAY)
    keepdims = attr_def(BOOL)
    mode = attr_def(REDUCE_MODE)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ScalarProducer())


@irdl_op_definition
class ArgOp(NamedOp):
    """Argmin/argmax along an axis, also able to return the values."""

    name = "top.Arg"

    input = operand_def(TENSOR)
    indices = result_def(TENSOR)
    values = result_def(TENSOR_OR_NONE)
    axis = attr_def(I64_INT)
    keepdims = attr_def(BOOL)
    mode = attr_def(ARG_MODE)
    select_last_index = default_attr_def(BOOL, True)

    traits = traits_def(Pure())


@irdl_op_definition
class CumSumOp(NamedOp):
    """Cumulative sum along an axis."""

    name = "top.CumSum"

    input = operand_def(TENSOR)
    dim = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class VarianceOp(NamedOp):
    """Variance over dims."""

    name = "top.Variance"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    reduce_list = attr_def(I64_ARRAY)
    correction = attr_def(F64)
    keep_dims = default_attr_def(BOOL, False)

    traits = traits_def(Pure())
