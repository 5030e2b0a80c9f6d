"""Ops whose meaning is given from outside."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    var_operand_def,
    var_result_def,
)

from xdsl_tpu.dialects.attrs import DICT_ARRAY, TEXT
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.kinds import DICT
from xdsl_tpu.dialects.tpu.local import GlobalOnly
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp


@irdl_op_definition
class CustomOp(GlobalOnly, LocalOp):
    """An op of the user's own, told apart by `name`."""

    name = "tpu.Custom"

    inputs = var_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    name_ = attr_def(TEXT, attr_name="name")
    params = attr_def(DICT_ARRAY)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class GenericCpuOp(TpuOp):
    """An op the host runs, told apart by `cpu_op_name`."""

    name = "tpu.GenericCpu"

    inputs = var_operand_def(RANKED_OR_NONE)
    cpu_op_name = attr_def(TEXT)
    param = opt_attr_def(DICT)
    outputs = var_result_def(RANKED_OR_NONE)
