"""The order of a row's elements, and picking by it."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.tpu.op import SameShape, TpuOp


@irdl_op_definition
class RankOp(SameShape, TpuOp):
    """How many elements of its row come before each: the larger (or smaller) ones, and of equal
    ones those in front of it.

        Rank([[5, 7, 5]]) is [[1, 0, 2]]
    """

    name = "tpu.Rank"

    input = operand_def(RANKED)
    largest = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RankedOp(ShapeInference, TpuOp):
    """The elements of each row whose ranks are 0, 1, .. `count` - 1.

    Ranked([[a, b, c]], [[1, 0, 2]]) {count = 2} is [[b, a]]
    """

    name = "tpu.Ranked"

    input = operand_def(RANKED)
    ranks = operand_def(RANKED)
    count = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, ranks = self.shape_of(self.input, 2), self.shape_of(self.ranks, 2)
        count = self.count.value.data
        if shape != ranks or not 0 < count <= shape[1]:
            raise ShapeError(f"{count} of {dims(shape)} cannot be picked by {dims(ranks)} ranks")
        return ((shape[0], count),)
