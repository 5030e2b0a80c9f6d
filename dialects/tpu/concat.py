"""Tensors one behind the other."""

from functools import lru_cache
from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of, row_shape
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, axis_number
from xdsl_tpu.dialects.interfaces.movement import Along, Moved, Movement, Moves, rectangles
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.tpu.local import TakesMargins, as_it_stands
from xdsl_tpu.dialects.tpu.op import LocalOp


@irdl_op_definition
class ConcatOp(Moves, TakesMargins, LaneView, ShapeInference, LocalOp):
    """The inputs one behind the other along `axis`; all other sizes are equal. Then the ReLU.

    With `only_merge` the inputs already lie in their places in the result and nothing moves.
    Quantised, each input is scaled by its own element of `multipliers` and `rshifts`.
    """

    name = "tpu.Concat"

    inputs = var_operand_def(RANKED)
    axis = attr_def(SI32)
    only_merge = default_attr_def(BOOL, False)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shapes = [self.shape_of(operand) for operand in self.inputs]
        if len({len(shape) for shape in shapes}) != 1:
            raise ShapeError(f"inputs {', '.join(map(dims, shapes))} must be of one rank")
        axis = axis_of(self.axis.value.data, len(shapes[0]))
        around = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
        if len(around) != 1:
            raise ShapeError(
                f"inputs {', '.join(map(dims, shapes))} differ elsewhere than in axis {axis}"
            )
        total = sum(shape[axis] for shape in shapes)
        return ((*shapes[0][:axis], total, *shapes[0][axis + 1 :]),)

    def movement(self) -> Movement | None:
        shapes = tuple(self.static_shape(number) for number in range(len(self.inputs)))
        return _joined(shapes, self._position())

    def local_support(self, kind: GroupType) -> str | None:
        axis, rank = self._position(), len(self.shape_of(self.inputs[0]))
        if axis == 0 and (rank > 4 or kind is not GroupType.NORMAL):
            return f"it is along axis 0 of rank {rank}; only up to rank 4 is local, whole images"
        return None if axis <= 3 else f"it is along axis {axis}; only axes 0 to 3 are local"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis_number(axis, kind) != self._position()

    def split_weights(self) -> tuple[int, ...]:
        return tuple(range(len(self.inputs)))

    def _position(self) -> int:
        return axis_of(self.axis.value.data, len(self.shape_of(self.inputs[0])))

    def can_be_seen(self) -> bool:
        rank = len(self.shape_of(self.inputs[0]))
        return (rank > 1 and self._position() == rank - 1) or self._joins_rows()

    def _joins_rows(self) -> bool:
        """Whether it puts rows of matrices together that lie in no lanes of their own."""
        return self._position() == 2 and len(self.shape_of(self.inputs[0])) == 4

    def followed(self) -> tuple[int, ...]:
        return () if self._joins_rows() else tuple(range(len(self.inputs)))

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        if not self._joins_rows():
            return ()
        n, c, rows, _ = self.result_shapes()[0]
        return (Lanes(n * c, rows),)

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shapes = [self.shape_of(operand) for operand in self.inputs]
        (result,) = self.result_shapes()
        if lanes == lanes_of(result) == lanes_of(shapes[0]) and len(result) > 2:
            return as_it_stands(self)
        if not self.can_be_seen():
            return None
        seen: list[Shape] = []
        if self._joins_rows():
            if lanes not in self.lanes_wanted():
                return None
            seen = [(lanes.images, *shape[2:]) for shape in (*shapes, result)]
            return Viewed(tuple(seen[:-1]), seen[-1], {"axis": SI32.convert(1)})
        for shape in (*shapes, result):
            if (rows := row_shape(shape, lanes, prod(shape[-1:]))) is None:
                return None
            seen.append(rows)
        last = SI32.convert(len(seen[-1]) - 1)
        return Viewed(tuple(seen[:-1]), seen[-1], {"axis": last})


@lru_cache(maxsize=1 << 8)
def _joined(shapes: tuple[Shape, ...], axis: int) -> Movement:
    """Values of some shapes one behind the other along an axis."""
    target, start, parts = list(shapes[0]), 0, list[Moved]()
    target[axis] = sum(shape[axis] for shape in shapes)
    for number, shape in enumerate(shapes):
        axes = [(Along(n, to=start if a == axis else 0),) for a, n in enumerate(shape)]
        parts.append(Moved(number, rectangles(target, shape, axes)))
        start += shape[axis]
    return Movement(prod(target), tuple(parts))
