"""Same elements under another shape."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp


@irdl_op_definition
class ReshapeOp(LocalOp):
    """Change of shape, same data order."""

    name = "tpu.Reshape"

    input = operand_def(RankedTensor)
    buffer = opt_operand_def(TensorOrNone)
    shape = default_attr_def(I64_ARRAY, ())
    flatten_start_dim = default_attr_def(I64_INT, -1)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class SqueezeOp(LocalOp):
    """Remove size-1 dims."""

    name = "tpu.Squeeze"

    input = operand_def(RankedTensor)
    axes = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class UnsqueezeOp(TpuOp):
    """Insert size-1 dims."""

    name = "tpu.Unsqueeze"

    input = operand_def(RankedTensor)
    axes = attr_def(I64_ARRAY)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class IdentityOp(TpuOp):
    """Pass-through of values."""

    name = "tpu.Identity"

    input = var_operand_def(RankedTensor)
    output = var_result_def(RankedTensor)

    traits = traits_def(Pure())
