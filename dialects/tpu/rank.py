"""The order of a row's elements, and picking by it."""

from math import prod

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, row_shape
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.tpu.local import AlikeEverywhere, splits_beside
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp


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


@irdl_op_definition
class BestOp(AlikeEverywhere, LaneView, ShapeInference, LocalOp):
    """The `count` largest (or smallest) elements of each row in order and, behind them, their
    places; of equal ones the first comes first. One of the two with `values` or `places` false.

        Best([[5, 7, 5]]) {count = 2} is [[7, 5, 1, 0]]

    `numbers`, whole and not negative, are given in place of places; the least comes first then.
    """

    name = "tpu.Best"

    input = operand_def(RANKED)
    numbers = operand_def(RANKED_OR_NONE)
    count = attr_def(I64_INT)
    largest = default_attr_def(BOOL, True)
    values = default_attr_def(BOOL, True)
    places = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        *rows, size = shape = self.shape_of(self.input)
        count = self.count.value.data
        if not is_none(self.numbers) and self.shape_of(self.numbers) != shape:
            raise ShapeError(f"{dims(self.shape_of(self.numbers))} do not number {dims(shape)}")
        if not 0 < count <= size:
            raise ShapeError(f"{count} of rows of {size} elements cannot be chosen")
        parts = bool(self.values.value.data) + bool(self.places.value.data)
        if not parts:
            raise ShapeError("neither values nor places are wanted")
        return ((*rows, parts * count),)

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.shape_of(self.input))
        if rank in (3, 4):
            return None
        return f"its rows are of rank {rank}; only those of rank 3 and 4 are in one lane each"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        rank = len(self.shape_of(self.input))
        return splits_beside(axis, kind, rank - 1, rank - 1, rank)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        return (Lanes(1, prod(self.shape_of(self.input)[:-1])),)

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape, (result,) = self.shape_of(self.input), self.result_shapes()
        seen = row_shape(shape, lanes, shape[-1])
        if seen is None:
            return None
        numbers = None if is_none(self.numbers) else seen
        return Viewed((seen, numbers), (*seen[:-1], result[-1]))
