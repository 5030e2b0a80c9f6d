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
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.layer_group import GroupOp, GroupParallelOp
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, TpuOp
from xdsl_tpu.dialects.tpu.parallel import CoreParallelOp


@irdl_op_definition
class IfOp(TpuOp):
    """The results of `then_branch` when the element of `cond` is not 0, else of `else_branch`."""

    name = "tpu.If"

    cond = operand_def(RANKED)
    then_branch = region_def("single_block")
    else_branch = region_def("single_block")
    output = var_result_def(RANKED)

    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        for region in (self.then_branch, self.else_branch):
            last = region.block.last_op
            count = len(last.operands) if last is not None else 0
            if count != len(self.results):
                raise VerifyException(
                    f"a branch yields {count} values for {len(self.results)} results"
                )


@irdl_op_definition
class LoopOp(TpuOp):
    """Runs its body at most M times, as long as the condition holds (ONNX operators, Loop)."""

    name = "tpu.Loop"

    M = operand_def(RANKED_OR_NONE)
    cond = operand_def(RANKED_OR_NONE)
    v_initial = var_operand_def(RANKED_OR_NONE)
    body = region_def("single_block")
    v_final_and_scan_outputs = var_result_def(RANKED_OR_NONE)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class YieldOp(TpuOp):
    """The end of a region: hands its operands out as the results of the op around it."""

    name = "tpu.Yield"

    values = var_operand_def(RANKED)

    traits = traits_def(
        IsTerminator(), Pure(), HasParent(GroupOp, GroupParallelOp, CoreParallelOp, IfOp, LoopOp)
    )
