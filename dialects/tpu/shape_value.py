"""Arithmetic on shapes, done by the host."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, TEXT, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.kinds import F32, REDUCE_MODE
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, TpuOp
from xdsl_tpu.dialects.traits import OwnResult, ShapeConsumer, ShapeProducer


@irdl_op_definition
class ShapeOp(TpuOp):
    """Shape of the input as a tensor."""

    name = "tpu.Shape"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeProducer())


@irdl_op_definition
class ShapeArithOp(TpuOp):
    """Shape arithmetic on host."""

    name = "tpu.ShapeArith"

    inputs = var_operand_def(RANKED)
    type = attr_def(TEXT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeAssignOp(TpuOp):
    """Shape assignment on host."""

    name = "tpu.ShapeAssign"

    input = operand_def(RANKED)
    shape = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class ShapeCastOp(TpuOp):
    """Shape value cast."""

    name = "tpu.ShapeCast"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeClipOp(TpuOp):
    """Shape value clamp."""

    name = "tpu.ShapeClip"

    input = operand_def(RANKED)
    min = attr_def(F32)
    max = attr_def(F32)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapePackOp(TpuOp):
    """Stack shape values."""

    name = "tpu.ShapePack"

    inputs = var_operand_def(RANKED)
    axis = attr_def(SI32)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapePowOp(TpuOp):
    """Power of shape values."""

    name = "tpu.ShapePow"

    input = operand_def(RANKED)
    exponent = attr_def(F32)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeReduceOp(TpuOp):
    """Reduce of shape values."""

    name = "tpu.ShapeReduce"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    keepdims = attr_def(BOOL)
    mode = attr_def(REDUCE_MODE)
    scale = default_attr_def(F64, 1.0)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeReshapeOp(TpuOp):
    """Reshape of a shape tensor."""

    name = "tpu.ShapeReshape"

    input = operand_def(RANKED)
    shape = default_attr_def(I64_ARRAY, ())
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeReverseOp(TpuOp):
    """Reverse of a shape tensor."""

    name = "tpu.ShapeReverse"

    input = operand_def(RANKED)
    axis = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeScatterElementsOp(TpuOp):
    """Scatter of shape values."""

    name = "tpu.ShapeScatterElements"

    input = operand_def(RANKED)
    indices = operand_def(RANKED)
    updates = operand_def(RANKED)
    axis = attr_def(I64_INT)
    reduction = default_attr_def(I64_INT, 0)
    nc_can_split = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeSliceOp(TpuOp):
    """Slice of a shape tensor."""

    name = "tpu.ShapeSlice"

    input = operand_def(RANKED)
    offsetT = operand_def(RANKED_OR_NONE)
    endsT = operand_def(RANKED_OR_NONE)
    stepsT = operand_def(RANKED_OR_NONE)
    offset = attr_def(I64_ARRAY)
    steps = attr_def(I64_ARRAY)
    ends = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeSqueezeOp(TpuOp):
    """Squeeze of a shape tensor."""

    name = "tpu.ShapeSqueeze"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeTileOp(TpuOp):
    """Tile of a shape tensor."""

    name = "tpu.ShapeTile"

    input = operand_def(RANKED)
    tileT = opt_operand_def(RANKED)
    tile = default_attr_def(I64_ARRAY, ())
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeTransposeOp(TpuOp):
    """Permute of a shape tensor."""

    name = "tpu.ShapeTranspose"

    input = operand_def(RANKED)
    order = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeUnsqueezeOp(TpuOp):
    """Unsqueeze of a shape tensor."""

    name = "tpu.ShapeUnsqueeze"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ConstantFillOp(TpuOp):
    """Tensor of a given shape filled with one value."""

    name = "tpu.ConstantFill"

    input = operand_def(RANKED)
    value = attr_def(F64)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer())


@irdl_op_definition
class RangeOp(TpuOp):
    """1-D range with tensor start/limit/delta."""

    name = "tpu.Range"

    start = operand_def(RANKED)
    limit = operand_def(RANKED)
    delta = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RandnLikeOp(TpuOp):
    """Gaussian random tensor like the input."""

    name = "tpu.RandnLike"

    input = operand_def(RANKED)
    randn_data = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(OwnResult())
