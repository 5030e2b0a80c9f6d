"""Changes of shape that keep the order of the data, and repetition."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.traits import ScalarConsumer, ScalarProducer, ShapeProducer


@irdl_op_definition
class ReshapeOp(NamedOp):
    """Change of shape, same data order."""

    name = "top.Reshape"

    input = operand_def(TENSOR)
    shapeT = opt_operand_def(TENSOR)
    output = result_def(TENSOR)
    shape = opt_attr_def(I64_ARRAY)
    flatten_start_dim = default_attr_def(I64_INT, -1)

    traits = traits_def(Pure())


@irdl_op_definition
class ViewOp(NamedOp):
    """Torch view."""

    name = "top.View"

    input = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class FlattenOp(NamedOp):
    """Flatten dims start..end."""

    name = "top.Flatten"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    start_dim = default_attr_def(I64_INT, 0)
    end_dim = default_attr_def(I64_INT, -1)

    traits = traits_def(Pure())


@irdl_op_definition
class SqueezeOp(NamedOp):
    """Remove size-1 dims."""

    name = "top.Squeeze"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axes = attr_def(I64_ARRAY)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ScalarProducer())


@irdl_op_definition
class UnsqueezeOp(NamedOp):
    """Insert size-1 dims."""

    name = "top.Unsqueeze"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axes = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), ScalarConsumer())


@irdl_op_definition
class ExpandOp(NamedOp):
    """Broadcast to shape."""

    name = "top.Expand"

    input = operand_def(TENSOR)
    shapeT = opt_operand_def(TENSOR)
    output = result_def(TENSOR)
    shape = default_attr_def(I64_ARRAY, [])

    traits = traits_def(Pure())


@irdl_op_definition
class TileOp(NamedOp):
    """Repeat whole dims."""

    name = "top.Tile"

    input = operand_def(TENSOR)
    tileT = opt_operand_def(TENSOR)
    output = result_def(TENSOR)
    tile = opt_attr_def(I64_ARRAY)

    traits = traits_def(Pure())


@irdl_op_definition
class RepeatOp(NamedOp):
    """Repeat elements."""

    name = "top.Repeat"

    input = operand_def(TENSOR)
    repeats = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class ShapeOp(NamedOp):
    """Shape of the input as a tensor."""

    name = "top.Shape"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    start = opt_attr_def(I64_INT)
    end = opt_attr_def(I64_INT)
    step = opt_attr_def(I64_INT)

    traits = traits_def(Pure(), ShapeProducer())


@irdl_op_definition
class SizeOp(NamedOp):
    """Number of elements."""

    name = "top.Size"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = opt_attr_def(SI32)

    traits = traits_def(Pure(), ShapeProducer())
