"""Control flow, containers and user ops."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsTerminator, Pure

from xdsl_tpu.dialects.attrs import DICT_ARRAY, TEXT
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp


@irdl_op_definition
class IfOp(NamedOp):
    """Two-branch conditional with regions."""

    name = "top.If"

    cond = operand_def(TENSOR)
    output = var_result_def(TENSOR)
    then_branch = region_def()
    else_branch = region_def()


@irdl_op_definition
class LoopOp(NamedOp):
    """Loop with a body region."""

    name = "top.Loop"

    M = operand_def(TENSOR_OR_NONE)
    cond = operand_def(TENSOR_OR_NONE)
    v_initial = var_operand_def(TENSOR_OR_NONE)
    v_final_and_scan_outputs = var_result_def(TENSOR_OR_NONE)
    body = region_def()


@irdl_op_definition
class YieldOp(NamedOp):
    """Region terminator."""

    name = "top.Yield"

    arguments = var_operand_def(TENSOR)

    traits = traits_def(HasParent(IfOp, LoopOp), IsTerminator())


@irdl_op_definition
class TupleOp(NamedOp):
    """Tuple construction."""

    name = "top.Tuple"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class UnTupleOp(NamedOp):
    """Tuple destructuring."""

    name = "top.UnTuple"

    inputs = var_operand_def(TENSOR)
    outputs = var_result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class ListOp(NamedOp):
    """List construction (torch)."""

    name = "top.List"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class CustomOp(NamedOp):
    """User defined custom op with named parameters."""

    name = "top.Custom"

    inputs = var_operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    name_ = attr_def(TEXT, attr_name="name")
    params = attr_def(DICT_ARRAY)
