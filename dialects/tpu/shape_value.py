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
    """The sizes of the input as numbers."""

    name = "tpu.Shape"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeProducer())


@irdl_op_definition
class ShapeArithOp(TpuOp):
    """Arithmetic on two shapes; `type` names the operation."""

    name = "tpu.ShapeArith"

    inputs = var_operand_def(RANKED)
    type = attr_def(TEXT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeAssignOp(TpuOp):
    """The input under the shape that the second operand holds."""

    name = "tpu.ShapeAssign"

    input = operand_def(RANKED)
    shape = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class ShapeCastOp(TpuOp):
    """A shape in another integer or float type."""

    name = "tpu.ShapeCast"

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeClipOp(TpuOp):
    """A shape limited to the range from `min` to `max`."""

    name = "tpu.ShapeClip"

    input = operand_def(RANKED)
    min = attr_def(F32)
    max = attr_def(F32)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapePackOp(TpuOp):
    """Several shapes joined along `axis`."""

    name = "tpu.ShapePack"

    inputs = var_operand_def(RANKED)
    axis = attr_def(SI32)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapePowOp(TpuOp):
    """A shape to the power `exponent`."""

    name = "tpu.ShapePow"

    input = operand_def(RANKED)
    exponent = attr_def(F32)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeReduceOp(TpuOp):
    """A shape reduced over `axes`, for instance to the number of elements."""

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
    """A tensor of sizes under another shape."""

    name = "tpu.ShapeReshape"

    input = operand_def(RANKED)
    shape = default_attr_def(I64_ARRAY, ())
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeReverseOp(TpuOp):
    """A shape backwards."""

    name = "tpu.ShapeReverse"

    input = operand_def(RANKED)
    axis = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeScatterElementsOp(TpuOp):
    """A shape with some sizes replaced."""

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
    """Some of the sizes of a shape."""

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
    """A tensor of sizes without dimensions of size 1."""

    name = "tpu.ShapeSqueeze"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeTileOp(TpuOp):
    """A shape repeated."""

    name = "tpu.ShapeTile"

    input = operand_def(RANKED)
    tileT = opt_operand_def(RANKED)
    tile = default_attr_def(I64_ARRAY, ())
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeTransposeOp(TpuOp):
    """A tensor of sizes with its dimensions in another order."""

    name = "tpu.ShapeTranspose"

    input = operand_def(RANKED)
    order = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ShapeUnsqueezeOp(TpuOp):
    """A tensor of sizes with new dimensions of size 1."""

    name = "tpu.ShapeUnsqueeze"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer(), ShapeProducer())


@irdl_op_definition
class ConstantFillOp(TpuOp):
    """A tensor of the shape the operand holds, every element `value`."""

    name = "tpu.ConstantFill"

    input = operand_def(RANKED)
    value = attr_def(F64)
    output = result_def(RANKED)

    traits = traits_def(Pure(), ShapeConsumer())


@irdl_op_definition
class RangeOp(TpuOp):
    """start, start + delta, .. up to but not including limit."""

    name = "tpu.Range"

    start = operand_def(RANKED)
    limit = operand_def(RANKED)
    delta = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RandnLikeOp(TpuOp):
    """Normally distributed random numbers in the shape of the input."""

    name = "tpu.RandnLike"

    input = operand_def(RANKED)
    randn_data = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(OwnResult())
