"""Control flow, and the end of every region."""

from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect

from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.layer_group import GroupOp, GroupParallelOp
from xdsl_tpu.dialects.tpu.op import TpuOp
from xdsl_tpu.dialects.tpu.parallel import CoreParallelOp


@irdl_op_definition
class IfOp(TpuOp):
    """Two-branch conditional with regions."""

    name = "tpu.If"

    cond = operand_def(RankedTensor)
    then_branch = region_def("single_block")
    else_branch = region_def("single_block")
    output = var_result_def(RankedTensor)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class LoopOp(TpuOp):
    """Loop with a body region."""

    name = "tpu.Loop"

    M = operand_def(TensorOrNone)
    cond = operand_def(TensorOrNone)
    v_initial = var_operand_def(TensorOrNone)
    body = region_def("single_block")
    v_final_and_scan_outputs = var_result_def(TensorOrNone)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class YieldOp(TpuOp):
    """Region terminator."""

    name = "tpu.Yield"

    values = var_operand_def(RankedTensor)

    traits = traits_def(
        IsTerminator(), Pure(), HasParent(GroupOp, GroupParallelOp, CoreParallelOp, IfOp, LoopOp)
    )
