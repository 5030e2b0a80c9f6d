"""Ops whose meaning is not in their name: attributes, or somebody outside, say what they do."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import BOOL, DICT_ARRAY, F64, I64_ARRAY, TEXT, ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import lane_way, rows_of
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, Part, Range, same_range
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement, Moves, in_bounds
from xdsl_tpu.dialects.tpu.kinds import DICT
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp


@irdl_op_definition
class CustomOp(LocalOp):
    """An op of the user's own, told apart by `name`."""

    name = "tpu.Custom"

    inputs = var_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    name_ = attr_def(TEXT, attr_name="name")
    params = attr_def(DICT_ARRAY)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class GenericCpuOp(TpuOp):
    """An op the host runs, told apart by `cpu_op_name`."""

    name = "tpu.GenericCpu"

    inputs = var_operand_def(RANKED_OR_NONE)
    cpu_op_name = attr_def(TEXT)
    param = opt_attr_def(DICT)
    outputs = var_result_def(RANKED_OR_NONE)


@irdl_op_definition
class RearrangeOp(Moves, LocalOp):
    """Elements of the inputs in any other order: what a chain of movement ops does, in one step.

    Elements are counted row-major. `boxes` lists, one box behind the other, the number of the
    input, the box's first element in the result and in the input, the number of its loops, and
    for each loop how often it goes round and the distance of two rounds in the result and in the
    input. What no box gives is `border`.

        Rearrange(2x3) {boxes = [0, 0, 0, 2, 3, 2, 1, 2, 1, 3]} is 3x2: the transpose

    One that may be made `in_lanes` can be in a layer group, with other ops around it, where its
    input is in local memory already: as a whole, or image by image where each comes from the one in
    the same place of as many.
    """

    name = "tpu.Rearrange"

    inputs = var_operand_def(RANKED)
    boxes = attr_def(I64_ARRAY)
    border = opt_attr_def(F64)
    in_lanes = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def local_support(self, kind: GroupType) -> str | None:
        if self.in_lanes is None or not self.in_lanes.value.data:
            return f"{self.name} has no local form"
        shapes = self.static_shape(0), self.made_shape()
        if len(self.inputs) != 1 or max(map(len, shapes)) > 4 or min(map(len, shapes)) < 2:
            return "it has several inputs, or shapes of other than 2 to 4 dimensions"
        movement = self.movement()
        assert movement is not None
        is_whole = movement.border is None and len(movement.parts) == 1
        way = lane_way(movement.parts[0].map, *map(rows_of, shapes)) if is_whole else None
        return "elements leave their lanes in no way that has a kernel" if way is None else None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis == "n" and self._keeps_images()

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        if part.length == part.whole:
            return 0, size
        return same_range(part, size) if self.may_split(part.axis, GroupType.NORMAL) else None

    def _keeps_images(self) -> bool:
        """Whether images are moved one by one, and there are several."""
        (images, *read), (made_images, *made) = self.static_shape(0), self.made_shape()
        if images == 1 or images != made_images or len(self.inputs) > 1 or self.border is not None:
            return False
        movement = self.movement()
        assert movement is not None
        return movement.parts[0].map.keeps_images(images, prod(made), prod(read))

    @staticmethod
    def listed(movement: Movement) -> list[int]:
        """The attribute `boxes` for a movement."""
        numbers: list[int] = []
        for part in movement.parts:
            for box in part.map.boxes:
                numbers += (part.operand, box.to, box.at, len(box.digits))
                numbers += (n for d in box.digits for n in (d.extent, d.to, d.at))
        return numbers

    def movement(self) -> Movement | None:
        parts: dict[int, list[Box]] = {}
        for number, box in _read(ints(self.boxes)):
            parts.setdefault(number, []).append(box)
        moved = (Moved(number, IndexMap(tuple(boxes))) for number, boxes in sorted(parts.items()))
        border = None if self.border is None else self.border.value.data
        return Movement(prod(self.made_shape()), tuple(moved), border)

    def is_read_by_strides(self) -> bool:
        return len(self.inputs) == 1 and self.border is None

    def verify_(self) -> None:
        super().verify_()
        movement = self.movement()
        assert movement is not None
        if any(not 0 <= part.operand < len(self.inputs) for part in movement.parts):
            raise VerifyException("a box names an input that is not there")
        sizes = [prod(self.static_shape(number)) for number in range(len(self.inputs))]
        if not in_bounds(movement, sizes):
            raise VerifyException("a box leaves its input or the result")
        given = sum(box.size for part in movement.parts for box in part.map.boxes)
        if self.border is None and given != movement.size:
            raise VerifyException(f"{given} of {movement.size} elements are given, and no border")


def _read(numbers: Sequence[int]) -> Iterator[tuple[int, Box]]:
    """Boxes and the numbers of their inputs, of a list as `RearrangeOp.listed` makes it."""
    left = list(numbers)
    while left:
        if len(left) < 4 or not 0 <= left[3] <= (len(left) - 4) // 3:
            raise VerifyException(f"boxes end within one: {left}")
        (number, to, at, loops), left = left[:4], left[4:]
        triples, left = left[: 3 * loops], left[3 * loops :]
        digits = zip(triples[::3], triples[1::3], triples[2::3], strict=True)
        yield number, Box(to, at, tuple(Digit(*digit) for digit in digits))
