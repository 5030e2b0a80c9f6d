"""Reading and writing by index."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I32_INT, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.op import TpuOp


@irdl_op_definition
class GatherOp(TpuOp):
    """Gather slices along an axis by indices."""

    name = "tpu.Gather"

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    axis = default_attr_def(SI32, 0)
    if_neg_index = default_attr_def(BOOL, True)
    is_lora = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class GatherElementsOp(TpuOp):
    """Elementwise gather along an axis."""

    name = "tpu.GatherElements"

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    indices_coeff = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    axis = default_attr_def(I64_INT, 2)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class GatherNDOp(TpuOp):
    """N-d gather."""

    name = "tpu.GatherND"

    input_data = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    indice_dims = opt_attr_def(I64_INT)
    batch_dims = default_attr_def(I64_INT, 0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class IndexPutOp(TpuOp):
    """Write values at indices."""

    name = "tpu.IndexPut"

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    values = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    accumulate = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterElementsOp(TpuOp):
    """Elementwise scatter with optional reduction."""

    name = "tpu.ScatterElements"

    input = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    updates = operand_def(RankedTensor)
    indices_coeff = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    axis = attr_def(I64_INT)
    reduction = default_attr_def(I64_INT, 0)
    nc_can_split = default_attr_def(BOOL, False)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterNDOp(TpuOp):
    """N-d scatter with optional reduction."""

    name = "tpu.ScatterND"

    input_data = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    updates = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    reduction = default_attr_def(I32_INT, 0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class A16GatherOp(TpuOp):
    """Embedding lookup on a quantised (int4/int8/fp8 packed) table with per-group scale, output
    in 16-bit float.
    """

    name = "tpu.A16Gather"

    weight = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    scale = operand_def(TensorOrNone)
    zp = operand_def(TensorOrNone)
    axis = default_attr_def(SI32, 0)
    keepdims = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 32)
    weight_bits = default_attr_def(I64_INT, 8)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
