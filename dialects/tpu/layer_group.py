"""Groups of ops that run from local memory."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, TEXT, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP, COMPRESS
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class GroupOp(TpuOp):
    """Layer group region: ops executed from local memory with slicing and software pipelining."""

    name = "tpu.Group"

    inputs = var_operand_def(RankedTensor)
    nsecs = attr_def(I64_INT)
    hsecs = attr_def(I64_INT)
    dsecs = attr_def(I64_INT)
    wsecs = attr_def(I64_INT)
    csecs = attr_def(I64_INT)
    swpipl_stage_num = attr_def(I64_INT)
    group_type = attr_def(I64_INT)
    flow = default_attr_def(I64_ARRAY, (0,))
    self_up_overlap_op = default_attr_def(I64_ARRAY, ())
    self_down_overlap_op = default_attr_def(I64_ARRAY, ())
    other_up_overlap_op = default_attr_def(I64_ARRAY, ())
    other_down_overlap_op = default_attr_def(I64_ARRAY, ())
    support_compress = default_attr_def(BOOL, True)
    run_core_id = default_attr_def(I64_ARRAY, ())
    core_slice_ncdhw = default_attr_def(I64_ARRAY, ())
    body = region_def("single_block")
    outputs = var_result_def(RankedTensor)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class GroupParallelOp(TpuOp):
    """Region of several groups run in parallel on cores."""

    name = "tpu.GroupParallel"

    inputs = var_operand_def(RankedTensor)
    parallel = region_def("single_block")
    outputs = var_result_def(RankedTensor)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class LoadOp(LocalOp):
    """Copy (a slice of) a global tensor into local memory."""

    name = "tpu.Load"

    input = operand_def(RankedTensor)
    do_bcast = default_attr_def(BOOL, False)
    use_3ic_optimize = default_attr_def(I64_INT, 0)
    lmem_type = default_attr_def(I64_INT, 0)
    support_compress = default_attr_def(BOOL, True)
    is_idx_weight = default_attr_def(BOOL, False)
    compress_info = opt_attr_def(COMPRESS)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class StoreOp(LocalOp):
    """Copy (a slice of) a local tensor to global memory."""

    name = "tpu.Store"

    input = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    support_compress = default_attr_def(BOOL, True)
    compress_info = opt_attr_def(COMPRESS)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    paddings = opt_attr_def(I64_ARRAY)
    pad_const_val = opt_attr_def(F64)
    output = result_def(RankedTensor)

    traits = traits_def(InOutSameShape())


@irdl_op_definition
class LoadToL2MOp(LocalOp):
    """Copy a global tensor to L2 memory."""

    name = "tpu.LoadToL2M"

    input = operand_def(RankedTensor)
    buffer = operand_def(RankedTensor)
    id = attr_def(I64_INT)
    output = result_def(RankedTensor)

    traits = traits_def(InOutSameShape())


@irdl_op_definition
class MoveOp(TpuOp):
    """Move tensors between addresses in local memory."""

    name = "tpu.Move"

    inputs = var_operand_def(RankedTensor)
    name_ = attr_def(TEXT, attr_name="name")
    move_src_add = attr_def(I64_ARRAY)
    move_dest_add = attr_def(I64_ARRAY)
    move_size = attr_def(I64_ARRAY)
    ts_id = attr_def(I64_INT)
    outputs = var_result_def(RankedTensor)


@irdl_op_definition
class SliceMergeOp(TpuOp):
    """Merge slices produced inside a multi-core group."""

    name = "tpu.SliceMerge"

    inputs = var_operand_def(RankedTensor)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
