"""Elements in another order."""

from collections.abc import Mapping
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of, row_shape
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
)
from xdsl_tpu.dialects.interfaces.movement import Along, Moved, Movement, Moves, rectangles
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP
from xdsl_tpu.dialects.tpu.local import (
    AlikeEverywhere,
    LocalReshape,
    as_it_stands,
    stored_type,
)
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape

_LONG_RUN_BITS = 2048
"""Neighbours in a lane come from DDR at full rate."""

_TO_THE_END: dict[int, tuple[int, ...]] = {3: (0, 2, 1), 4: (0, 2, 3, 1)}
_TO_THE_FRONT: dict[int, tuple[int, ...]] = {3: (0, 2, 1), 4: (0, 3, 1, 2)}
"""For each rank the order that makes channels of an image the last dimension, and that back."""

_OF_MATRICES = (0, 1, 3, 2)
"""The order that turns each matrix of several images: what `_TO_THE_END` does of one rank less."""

_EXCHANGED = (0, 3, 2, 1)
"""The order in which channels and columns change places; lines stay."""


@irdl_op_definition
class PermuteOp(AlikeEverywhere, Moves, LaneView, ShapeInference, LocalOp):
    """Dimension i of the result is dimension `order[i]` of the input.

    `buffer` is scratch memory for orders that take two moves.

        Permute(1x56x56x96) {order = [0, 3, 1, 2]} is 1x96x56x56

    Rows of pixels whose channels become those of an image, or come from one, can be seen as lying
    over the lanes in any number of neighbours: [0, 2, 1] is [0, 2, 3, 1] and [0, 3, 1, 2], too.
    [0, 1, 3, 2], matrices of several images, is [0, 2, 1] of all of them.
    [0, 3, 2, 1] leaves lines where they are, so that these can be cut.
    """

    name = "tpu.Permute"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    order = attr_def(I64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, order = self.shape_of(self.input), ints(self.order)
        if sorted(order) != list(range(len(shape))):
            raise ShapeError(f"order {list(order)} is no permutation of {dims(shape)}")
        return (tuple(shape[axis] for axis in order),)

    def movement(self) -> Movement | None:
        shape = self.static_shape(0)
        return Movement(prod(shape), (Moved(0, IndexMap.permuted(shape, ints(self.order))),))

    def is_read_by_strides(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        order = ints(self.order)
        if len(order) == 3 and self._is_part_of_a_move():
            return "with the Permute beside it, it is one move between global tensors"
        if self._turns_channels() or order == _EXCHANGED:
            return None
        if order[:2] == (0, 1):
            return f"it turns order {list(order)} with the DMA, between global tensors"
        return f"order {list(order)} moves data across lanes"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis == "n" or (axis == "h" and ints(self.order) == _EXCHANGED)

    def can_be_seen(self) -> bool:
        turns = self._turns_channels() or ints(self.order) == _OF_MATRICES
        return turns and not self._is_part_of_a_move()

    def followed(self) -> tuple[int, ...]:
        return ()

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        shape = self._image()
        return () if shape is None else self._neighbours(shape[0], prod(shape[2:]), shape[1])

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape = self._image()
        if shape is None:
            return as_it_stands(self) if lanes == lanes_of(self.result_shapes()[0]) else None
        seen = row_shape((shape[0], prod(shape[2:]), shape[1]), lanes, shape[1])
        if lanes.images != shape[0] or seen is None:
            return None
        return _seen((*shape[:2], *seen[1:-1]), _TO_THE_END[len(seen)])

    def lanes_taken(self, index: int) -> tuple[Lanes, ...]:
        shape = self._pixels()
        return () if shape is None else self._neighbours(shape[0], prod(shape[1:-1]), shape[-1])

    def taken(self, index: int, lanes: Lanes) -> Viewed | None:
        shape = self._pixels()
        if shape is None or lanes.images != shape[0]:
            return None
        seen = row_shape(shape, lanes, shape[-1])
        return None if seen is None else _seen(seen, _TO_THE_FRONT[len(seen)])

    def _turns_channels(self) -> bool:
        order = ints(self.order)
        return order in (_TO_THE_END.get(len(order)), _TO_THE_FRONT.get(len(order)))

    def _is_part_of_a_move(self) -> bool:
        """Whether a Permute without a local form stands in front of it or behind it, with at most
        views between."""
        before: object = self.input.owner
        while isinstance(before, LocalReshape):
            before = before.operands[0].owner
        after = self.output.get_user_of_unique_use()
        while isinstance(after, LocalReshape):
            after = after.results[0].get_user_of_unique_use()
        moves = (op for op in (before, after) if isinstance(op, PermuteOp))
        return any(not op._turns_channels() for op in moves)

    def _image(self) -> Shape | None:
        """The shape of the operand when its channels become the last dimension."""
        return self._shape_if(_TO_THE_END)

    def _pixels(self) -> Shape | None:
        """The shape of the operand when its last dimension becomes channels."""
        return self._shape_if(_TO_THE_FRONT)

    def _shape_if(self, orders: Mapping[int, tuple[int, ...]]) -> Shape | None:
        """The operand's shape where it is one of the orders, with the images of several matrices
        as one dimension."""
        shape, order = self.shape_of(self.input), ints(self.order)
        if order == _OF_MATRICES:
            images, channels, *matrix = shape
            return (images * channels, *matrix)
        return shape if order == orders.get(len(shape)) else None

    def _neighbours(self, batch: int, pixels: int, channels: int) -> tuple[Lanes, ...]:
        """Pixels over the lanes, as many neighbours in each as make a long run, and one."""
        element = stored_type(self.input)
        assert isinstance(element, FixedBitwidthType)
        wanted = -(-_LONG_RUN_BITS // (channels * element.bitwidth))
        run = max(n for n in range(1, wanted + 1) if pixels % n == 0)
        return tuple(Lanes(batch, pixels // n) for n in dict.fromkeys((run, 1)))


def _seen(shape: Shape, order: tuple[int, ...]) -> Viewed:
    result = tuple(shape[axis] for axis in order)
    return Viewed((shape, None), result, {"order": I64_ARRAY.convert(order)})


@irdl_op_definition
class ShuffleChannelOp(AlikeEverywhere, Moves, LocalOp):
    """Channels seen as `group` rows and read column by column (ShuffleNet)."""

    name = "tpu.ShuffleChannel"

    input = operand_def(RANKED)
    group = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def movement(self) -> Movement | None:
        n, c, *image = self.static_shape(0)
        group, size = self.group.value.data, prod(image)
        moves = IndexMap.permuted((n, group, c // group, size), (0, 2, 1, 3))
        return Movement(n * c * size, (Moved(0, moves),))

    def is_read_by_strides(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.static_shape(0))
        if rank != 4:
            return f"its rank is {rank}; only rank 4 is local"
        return None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis != "c"


@irdl_op_definition
class SwapChannelOp(SameShape, LocalOp):
    """Channel i of the result is channel `channel_order[i]` of the input."""

    WHY_GLOBAL: ClassVar[str] = "it moves data across lanes"
    name = "tpu.SwapChannel"

    input = operand_def(RANKED)
    channel_order = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class SwapDimInnerOp(Moves, SameShape, LocalOp):
    """Rotation of dimensions: element `offset[i]` of dimension i becomes the first one.

    y[.., j, ..] = x[.., (j + offset) mod size, ..]
    """

    name = "tpu.SwapDimInner"

    input = operand_def(RANKED)
    offset = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())

    def result_shapes(self) -> tuple[Shape, ...]:
        (shape,) = super().result_shapes()
        offsets = ints(self.offset)
        if len(offsets) != len(shape):
            raise ShapeError(f"offset has {len(offsets)} values for {dims(shape)}")
        if not all(0 <= offset < size for offset, size in zip(offsets, shape, strict=True)):
            raise ShapeError(f"offset {list(offsets)} lies outside {dims(shape)}")
        return (shape,)

    def movement(self) -> Movement | None:
        shape = self.static_shape(0)
        return Movement(prod(shape), (Moved(0, IndexMap.rolled(shape, ints(self.offset))),))

    def is_read_by_strides(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.shape_of(self.input))
        return None if rank == 4 else f"its rank is {rank}; only rank 4 is local"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis == "n" and ints(self.offset)[0] == 0


@irdl_op_definition
class ReverseOp(Moves, SameShape, TpuOp):
    """The input backwards along `axis`."""

    name = "tpu.Reverse"

    input = operand_def(RANKED)
    axis = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())

    def movement(self) -> Movement | None:
        shape = self.static_shape(0)
        turned = self.axis.value.data % len(shape)
        axes = [
            (Along(size, at=size - 1, at_step=-1) if axis == turned else Along(size),)
            for axis, size in enumerate(shape)
        ]
        return Movement(prod(shape), (Moved(0, rectangles(shape, shape, axes)),))
