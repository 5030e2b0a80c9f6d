"""Taking parts of tensors and putting parts together."""

from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def, ints
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
    Part,
    Range,
    axis_number,
    clipped,
)
from xdsl_tpu.dialects.interfaces.movement import (
    Along,
    Moved,
    Movement,
    Moves,
    padded_axis,
    rectangles,
)
from xdsl_tpu.dialects.interfaces.shape import (
    Shape,
    ShapeError,
    ShapeInference,
    UnknownShapeError,
    dims,
)
from xdsl_tpu.dialects.interfaces.shape_rules import Cut, cut
from xdsl_tpu.dialects.tpu.enums import PaddingMode
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP, PADDING_MODE
from xdsl_tpu.dialects.tpu.local import MAX_CHANNELS
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class SliceOp(Moves, ShapeInference, LocalOp):
    """Every `steps`-th element from `offset` up to but not including `ends`, as numpy slices.

    The lists have one value a dimension. Operands offsetT, endsT and stepsT stand for the lists
    where they are not none, and the shape is then not checked.

        Slice(1x3136x96) {offset = [0, 0, 0], ends = [1, 49, 96], steps = [1, 1, 1]} is 1x49x96
    """

    name = "tpu.Slice"

    input = operand_def(RANKED)
    offsetT = operand_def(RANKED_OR_NONE)
    endsT = operand_def(RANKED_OR_NONE)
    stepsT = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    offset = attr_def(I64_ARRAY)
    steps = attr_def(I64_ARRAY)
    ends = attr_def(I64_ARRAY)
    axes = default_attr_def(I64_ARRAY, (1,))
    hasparamConvert_axes = default_attr_def(I64_ARRAY, ())
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (tuple(part.count for part in self.cuts()),)

    def cuts(self) -> tuple[Cut, ...]:
        """First index, count and step in every dimension of the input; raises ShapeError."""
        if not all(map(is_none, (self.offsetT, self.endsT, self.stepsT))):
            raise UnknownShapeError("the slice is computed at run time")
        shape = self.shape_of(self.input)
        lists = {"offset": self.offset, "ends": self.ends, "steps": self.steps}
        for name, values in lists.items():
            if len(values) != len(shape):
                raise ShapeError(f"{name} has {len(values)} values for {dims(shape)}")
        return tuple(map(cut, shape, *map(ints, lists.values())))

    def movement(self) -> Movement | None:
        source, cuts = self.static_shape(0), self.cuts()
        target = [one.count for one in cuts]
        axes = [(Along(one.count, at=one.first, at_step=one.step),) for one in cuts]
        return Movement(prod(target), (Moved(0, rectangles(target, source, axes)),))

    def may_be_read_by_strides(self) -> bool:
        return all(map(is_none, (self.offsetT, self.endsT, self.stepsT)))

    def local_support(self, kind: GroupType) -> str | None:
        if not all(map(is_none, (self.offsetT, self.endsT, self.stepsT))):
            return "the slice is computed at run time"
        source, target = self.shape_of(self.input), self.result_shapes()[0]
        if len(source) > 5:
            return f"its rank is {len(source)}; only ranks up to 5 are local"
        if len(source) == 5 and _without(source, 2) != _without(target, 2):
            return f"more than dimension 2 (d) differs in rank 5: {dims(source)} to {dims(target)}"
        if len(source) > 1 and source[1] > MAX_CHANNELS:
            return f"dimension 1 of {dims(source)} is above {MAX_CHANNELS}"
        if len(source) > 1 and (step := ints(self.steps)[1]) != 1:
            return f"its step along dimension 1 is {step}; only 1 is local"
        return None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        if axis != "c":
            return True
        source, target = self.shape_of(self.input), self.result_shapes()[0]
        return source[1:2] == target[1:2]

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """Exactly what is taken; None along an axis that is turned round or was merged."""
        cuts, number = self.cuts(), axis_number(part.axis, part.kind)
        if number >= len(cuts) or size == part.whole:
            return super().backward(part, operand, size)
        chosen = cuts[number]
        merged = number == axis_number("w", part.kind) and len(cuts) > number + 1
        if chosen.step < 0 or merged:
            return None
        start = chosen.first + part.start * chosen.step
        return clipped(start, start + (part.length - 1) * chosen.step + 1, size)

    def takes_margins(self) -> bool:
        source, target = self.shape_of(self.input), self.result_shapes()[0]
        return _without(source, 1) == _without(target, 1)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


@irdl_op_definition
class StridedSliceOp(TpuOp):
    """A slice with bounds from operands and masks, as TensorFlow defines it."""

    name = "tpu.StridedSlice"

    input = operand_def(RANKED)
    starts = operand_def(RANKED)
    ends = operand_def(RANKED)
    strides = operand_def(RANKED)
    begin_mask = attr_def(I64_INT)
    end_mask = attr_def(I64_INT)
    ellipsis_mask = attr_def(I64_INT)
    new_axis_mask = attr_def(I64_INT)
    shrink_axis_mask = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatSliceOp(TpuOp):
    """Two tensors joined along `axis`, then cut to the size of the first: a sliding cache."""

    name = "tpu.ConcatSlice"

    in0 = operand_def(RANKED)
    in1 = operand_def(RANKED)
    axis = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class ConcatVolumeOp(TpuOp):
    """Left and right features paired at every disparity up to `max_disp` (stereo)."""

    name = "tpu.ConcatVolume"

    inputs = var_operand_def(RANKED)
    max_disp = default_attr_def(I64_INT, 0)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class InsertOp(SameShape, TpuOp):
    """The input with `rhs` written over it from `offset` on along `axis`."""

    name = "tpu.Insert"

    input = operand_def(RANKED)
    rhs = operand_def(RANKED)
    axis = attr_def(I64_INT)
    offset = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class TileOp(Moves, LocalOp):
    """The input repeated `tile[i]` times along dimension i."""

    name = "tpu.Tile"

    input = operand_def(RANKED)
    tileT = opt_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    tile = default_attr_def(I64_ARRAY, ())
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def movement(self) -> Movement | None:
        if self.tileT is not None and not is_none(self.tileT):
            return None
        shape, counts = self.static_shape(0), ints(self.tile)
        pairs = list(zip(counts, shape, strict=True))
        target, source = ([n for pair in pairs for n in pair], [n for k in shape for n in (1, k)])
        axes = [
            (Along(n, at_step=number % 2),) for number, n in enumerate(target)
        ]  # counts and sizes take turns
        return Movement(prod(target), (Moved(0, rectangles(target, source, axes)),))


BORDERS = ("constant", "edge", "reflect")
"""Modes of padding that move elements."""


@irdl_op_definition
class PadOp(Moves, LocalOp):
    """The input with `paddings` around it: a number, a reflection or copies of the edge."""

    name = "tpu.Pad"

    input = operand_def(RANKED)
    paddingsT = opt_operand_def(RANKED_OR_NONE)
    left_select = operand_def(RANKED_OR_NONE)
    right_select = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    paddings = attr_def(I64_ARRAY)
    val = default_attr_def(F64, 0.0)
    mode = default_attr_def(PADDING_MODE, PaddingMode.constant)
    with_insert_zero = default_attr_def(BOOL, False)
    insert_zeros = opt_attr_def(I64_ARRAY)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def movement(self) -> Movement | None:
        mode = self.mode.data.value
        at_run_time = self.paddingsT is not None and not is_none(self.paddingsT)
        if at_run_time or bool(self.with_insert_zero) or mode not in BORDERS:
            return None
        source, target, paddings = self.static_shape(0), self.made_shape(), ints(self.paddings)
        if len(paddings) != 2 * len(source):
            return None
        ends = zip(source, paddings[: len(source)], paddings[len(source) :], strict=True)
        axes = [padded_axis(*one, mode) for one in ends]
        border = self.val.value.data if mode == "constant" else None
        return Movement(prod(target), (Moved(0, rectangles(target, source, axes)),), border)

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.static_shape(0))
        if rank not in (3, 4):
            return f"its rank is {rank}; only ranks 3 and 4 are local"
        paddings = ints(self.paddings)
        if self.movement() is None or any((paddings[1], paddings[rank + 1])):
            return "it does not only put known sizes around images, rows and columns"
        return None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis in ("n", "h", "w")

    def takes_margins(self) -> bool:
        return True

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        if operand > 0:
            return 0, size
        if part.axis not in ("n", "h", "w"):
            return super().backward(part, operand, size)
        read = [one for one in self.sources(part.axis, part.start, part.length) if one is not None]
        if not read and part.axis == "n":
            # Of images there may be as many slices: one that needs nothing is given its neighbour.
            return (0, 1) if part.start < size else (size - 1, 1)
        return (min(read), max(read) - min(read) + 1) if read else None

    def sources(self, axis: Axis, start: int, length: int) -> list[int | None]:
        """Which images, rows or columns of the operand so many of the result from `start` on are;
        None for a constant."""
        place = {"n": 0, "h": 2, "w": 3}[axis]
        shape, paddings = self.static_shape(0), ints(self.paddings)
        ends = paddings[place], paddings[len(shape) + place]
        found: list[int | None] = [None] * (shape[place] + sum(ends))
        for run in padded_axis(shape[place], *ends, self.mode.data.value):
            for step in range(run.count):
                found[run.to + step * run.to_step] = run.at + step * run.at_step
        return found[start : start + length]


@irdl_op_definition
class TriluOp(LocalOp):
    """The upper (or lower) triangle of the last two dimensions, zeros elsewhere."""

    name = "tpu.Trilu"

    input = operand_def(RANKED)
    upper = attr_def(SI32)
    diagonal = attr_def(SI32)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class CopyOp(LocalOp):
    """Elements moved from one set of strides to another."""

    name = "tpu.Copy"

    input = operand_def(RANKED)
    shape = attr_def(I64_ARRAY)
    input_stride = attr_def(I64_ARRAY)
    output_stride = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())
