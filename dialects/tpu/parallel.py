"""Work shared by cores and devices."""

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
from xdsl.traits import Pure, RecursiveMemoryEffect

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.kinds import CORE_PATTERN, DEV_PATTERN
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, TpuOp


@irdl_op_definition
class CoreBeginOp(TpuOp):
    """Opens a stretch of ops that several cores share."""

    name = "tpu.CoreBegin"

    inputs = var_operand_def(RANKED)
    pattern = attr_def(CORE_PATTERN)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class CoreEndOp(TpuOp):
    """Closes what CoreBegin opened."""

    name = "tpu.CoreEnd"

    inputs = var_operand_def(RANKED)
    pattern = attr_def(CORE_PATTERN)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class CoreJoinOp(TpuOp):
    """The parts of the cores as one tensor."""

    name = "tpu.CoreJoin"

    inputs = var_operand_def(RANKED)
    axis = attr_def(SI32)
    multicore = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class CoreParallelOp(TpuOp):
    """A region that every core runs on its own part of the inputs."""

    name = "tpu.CoreParallel"

    inputs = var_operand_def(RANKED_OR_NONE)
    offset = attr_def(I64_INT)
    size = attr_def(I64_INT)
    body = region_def("single_block")
    outputs = var_result_def(RANKED)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class CoreSplitOp(TpuOp):
    """A tensor in parts, one for each core."""

    name = "tpu.CoreSplit"

    input = operand_def(RANKED)
    axis = attr_def(SI32)
    multicore = default_attr_def(BOOL, True)
    outputs = var_result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class DevBeginOp(TpuOp):
    """Opens a stretch of ops that several devices share."""

    name = "tpu.DevBegin"

    inputs = var_operand_def(RANKED)
    pattern = attr_def(DEV_PATTERN)
    begin_methods = attr_def(I64_ARRAY)
    num_head = default_attr_def(I64_INT, 0)
    done = default_attr_def(BOOL, False)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class DevEndOp(TpuOp):
    """Closes what DevBegin opened."""

    name = "tpu.DevEnd"

    inputs = var_operand_def(RANKED)
    pattern = attr_def(DEV_PATTERN)
    end_methods = attr_def(I64_ARRAY)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class C2CAllReduceOp(TpuOp):
    """Every chip gets the reduction of what all chips hold."""

    name = "tpu.C2CAllReduce"

    send = operand_def(RANKED)
    recv = operand_def(RANKED)
    reduce_method = attr_def(I64_INT)
    nranks = attr_def(I64_INT)
    rank = attr_def(I64_INT)
    sccl_algo = attr_def(I64_INT)
    chip_map = attr_def(I64_ARRAY)
    output = result_def(RANKED)


@irdl_op_definition
class C2CBroadcastOp(TpuOp):
    """Every chip gets what one chip holds."""

    name = "tpu.C2CBroadcast"

    input = operand_def()
    root = attr_def(I64_INT)
    nranks = attr_def(I64_INT)
    rank = attr_def(I64_INT)
    sccl_algo = attr_def(I64_INT)
    chip_map = attr_def(I64_ARRAY)
    output = result_def(RANKED)
