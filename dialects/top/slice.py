"""Cutting, joining and padding."""

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Attribute
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

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    I64_ARRAY,
    I64_INT,
    SI32,
    I64Array,
    default_attr_def,
    ints,
)
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp, is_none
from xdsl_tpu.dialects.interfaces.channels import AlongChannels
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import Cut, axis_of, cut
from xdsl_tpu.dialects.top.abstract import FusedReluOp, ShapedOp
from xdsl_tpu.dialects.top.enums import PADDING_MODE, ROUND_MODE
from xdsl_tpu.dialects.top.layout import AxisLayout, PadLayout, SliceLayout

WHOLE = 2**63 - 1
"""The end of a slice that takes a dimension to its end."""


@irdl_op_definition
class SliceOp(AlongChannels, ShapedOp):
    """Every `steps`-th element from `offset` up to but not including `ends`, as in numpy.

    The lists hold one value for each of `axes`, or without axes one for every dimension.
    Negative bounds count from the end, bounds outside are moved to the edge. The operands
    offsetT, endsT and stepsT are none, or constants that take the lists' place.

        Slice(x) {axes = [1], offset = [3], ends = [9223372036854775807], steps = [1]}
        is x[:, 3:]

    Once shapes are known the lists have full rank and `hasparamConvert_axes` keeps the axes.
    """

    name = "top.Slice"

    input = operand_def(TENSOR)
    offsetT = operand_def(TENSOR_OR_NONE)
    endsT = operand_def(TENSOR_OR_NONE)
    stepsT = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    offset = attr_def(I64_ARRAY)
    steps = attr_def(I64_ARRAY)
    ends = attr_def(I64_ARRAY)
    axes = default_attr_def(I64_ARRAY, [])
    hasparamConvert_axes = default_attr_def(I64_ARRAY, [])

    traits = traits_def(Pure(), SliceLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (tuple(part.count for part in self.cuts()),)

    def cuts(self) -> tuple[Cut, ...]:
        """First index, count and step for every dimension of the input; raises ShapeError."""
        shape = self.shape_of(self.input)
        offset, ends, steps = self._full_rank()
        return tuple(map(cut, shape, offset, ends, steps))

    def multiplied(self, times: int, taken: Shape) -> Mapping[str, Attribute] | None:
        shape, cuts = self.shape_of(self.input), self.cuts()
        others = [part.count == size for part, size in zip(cuts, shape, strict=True)]
        computed = not all(map(is_none, (self.offsetT, self.endsT, self.stepsT)))
        if computed or not all((*others[:1], *others[2:])) or any(part.step != 1 for part in cuts):
            return None
        first, end = cuts[1].first * times, (cuts[1].first + cuts[1].count) * times
        lists = {
            "offset": (0, first, *(0 for _ in taken[2:])),
            "ends": (taken[0], end, *taken[2:]),
            "steps": (1,) * len(taken),
            "axes": (),
        }
        return {name: I64_ARRAY.encode(values) for name, values in lists.items()}

    def resolve(self) -> None:
        """Spread the lists over all dimensions: the others are taken whole."""
        if not self.axes.data or not is_none(self.offsetT):
            return
        offset, ends, steps = self._full_rank()
        self.hasparamConvert_axes = self.axes
        self.axes = I64_ARRAY.encode([])
        self.offset, self.ends, self.steps = map(I64_ARRAY.encode, (offset, ends, steps))

    def _full_rank(self) -> tuple[list[int], list[int], list[int]]:
        shape = self.shape_of(self.input)
        given = [self._parameter(index) for index in (1, 2, 3)]
        steps = given[2] or (1,) * len(given[0])
        axes = [axis_of(axis, len(shape)) for axis in ints(self.axes)] or range(len(given[0]))
        if not len(given[0]) == len(given[1]) == len(steps) == len(axes) <= len(shape):
            raise ShapeError(
                f"{len(given[0])} offsets, {len(given[1])} ends and {len(steps)} steps "
                f"for {len(axes)} axes of {dims(shape)}"
            )
        full = ([0] * len(shape), list(shape), [1] * len(shape))
        for axis, *values in zip(axes, *given[:2], steps, strict=True):
            for target, value in zip(full, values, strict=True):
                target[axis] = value
        return full

    def _parameter(self, index: int) -> tuple[int, ...]:
        """The constant operand `index` if there is one, the attribute otherwise."""
        if not is_none(self.operands[index]):
            return tuple(int(value) for value in self.constant_operand(index))
        return ints((self.offset, self.ends, self.steps)[index - 1])


@irdl_op_definition
class SliceAxisOp(ShapedOp):
    """Slice along one axis; axis, start, end and step are constant operands."""

    name = "top.SliceAxis"

    input = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    start = operand_def(TENSOR)
    step = operand_def(TENSOR_OR_NONE)
    end = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis, start, end = (int(self.constant_scalar(index)) for index in (1, 2, 4))
        step = 1 if is_none(self.step) else int(self.constant_scalar(3))
        axis = axis_of(axis, len(shape))
        return (_resized(shape, axis, cut(shape[axis], start, end, step).count),)


@irdl_op_definition
class StridedSliceOp(NamedOp):
    """TensorFlow's strided slice, with its masks of ignored, inserted and dropped dimensions."""

    name = "top.StridedSlice"

    input = operand_def(TENSOR)
    starts = operand_def(TENSOR)
    ends = operand_def(TENSOR)
    strides = operand_def(TENSOR)
    output = result_def(TENSOR)
    begin_mask = attr_def(I64_INT)
    end_mask = attr_def(I64_INT)
    ellipsis_mask = attr_def(I64_INT)
    new_axis_mask = attr_def(I64_INT)
    shrink_axis_mask = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class SplitOp(AlongChannels, ShapedOp):
    """Cut the input along `axis` into `num` parts of the sizes `split_size`, or of equal size.

    When the size is not a multiple of `num` the last of the equal parts is the smaller one.
    """

    name = "top.Split"

    input = operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    axis = attr_def(SI32)
    num = attr_def(I64_INT)
    split_size = opt_attr_def(I64_ARRAY)

    traits = traits_def(Pure(), AxisLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis = axis_of(self.axis.value.data, len(shape))
        return tuple(_resized(shape, axis, size) for size in self.sizes())

    def multiplied(self, times: int, taken: Shape) -> Mapping[str, Attribute] | None:
        if axis_of(self.axis.value.data, len(taken)) != 1:
            return None
        return {"split_size": I64_ARRAY.encode([size * times for size in self.sizes()])}

    def sizes(self) -> tuple[int, ...]:
        """The size of each part along the axis; raises ShapeError."""
        shape, count = self.shape_of(self.input), self.num.value.data
        whole = shape[axis_of(self.axis.value.data, len(shape))]
        chunk = -(-whole // count) if count > 0 else 0
        equal = (*(chunk,) * (count - 1), whole - chunk * (count - 1))
        sizes = ints(self.split_size or ()) or equal
        if len(sizes) != count:
            raise ShapeError(f"split_size has {len(sizes)} values for num {count}")
        if sum(sizes) != whole or min(sizes, default=0) < 0:
            raise ShapeError(f"sizes {list(sizes)} do not add up to {whole} of {dims(shape)}")
        return sizes

    def resolve(self) -> None:
        """Count the axis from the front and write the sizes out."""
        rank = len(self.shape_of(self.input))
        self.split_size = I64_ARRAY.encode(self.sizes())
        self.axis = SI32.encode(axis_of(self.axis.value.data, rank))


@irdl_op_definition
class UnpackOp(ShapedOp):
    """One result for every index of `axis`, without that dimension."""

    name = "top.Unpack"

    input = operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    axis = attr_def(SI32)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis = axis_of(self.axis.value.data, len(shape))
        return ((*shape[:axis], *shape[axis + 1 :]) or (1,),) * shape[axis]


@irdl_op_definition
class ConcatOp(AlongChannels, ShapedOp, FusedReluOp):
    """The inputs one behind the other along `axis`; all other sizes are equal."""

    name = "top.Concat"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = default_attr_def(SI32, 1)
    only_merge = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure(), AxisLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shapes = [self.shape_of(operand) for operand in self.inputs]
        axis = axis_of(self.axis.value.data, _common_rank(shapes))
        if len({_resized(shape, axis, 0) for shape in shapes}) != 1:
            raise ShapeError(
                f"inputs {', '.join(map(dims, shapes))} differ elsewhere than in axis {axis}"
            )
        return (_resized(shapes[0], axis, sum(shape[axis] for shape in shapes)),)

    def multiplied(self, times: int, taken: Shape) -> Mapping[str, Attribute] | None:
        return {} if axis_of(self.axis.value.data, len(taken)) == 1 else None

    def resolve(self) -> None:
        """Count the axis from the front."""
        rank = len(self.shape_of(self.inputs[0]))
        self.axis = SI32.encode(axis_of(self.axis.value.data, rank))


@irdl_op_definition
class PackOp(ShapedOp):
    """The inputs, all of one shape, stacked along a new dimension `axis` of the result."""

    name = "top.Pack"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(SI32)
    values_count = attr_def(I64_INT)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shapes = [self.shape_of(operand) for operand in self.inputs]
        if len(set(shapes)) != 1 or len(shapes) != self.values_count.value.data:
            raise ShapeError(
                f"values_count is {self.values_count.value.data} and the inputs are "
                f"{', '.join(map(dims, shapes))}"
            )
        axis = axis_of(self.axis.value.data, len(shapes[0]) + 1)
        return ((*shapes[0][:axis], len(shapes), *shapes[0][axis:]),)


@irdl_op_definition
class PadOp(ShapedOp):
    """Padding before and after each dimension: a constant `val`, or copies of the input.

    `paddings`, or the constant operand `paddingsT`, holds the counts before every dimension
    and then those after (ONNX operators, Pad); negative counts crop.
    """

    name = "top.Pad"

    input = operand_def(TENSOR)
    paddingsT = opt_operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    paddings = attr_def(I64_ARRAY)
    val = default_attr_def(F64, 0.0)
    mode = attr_def(PADDING_MODE)

    traits = traits_def(Pure(), PadLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        counts = self._counts(self.paddings)
        if len(counts) != 2 * len(shape):
            raise ShapeError(f"{len(counts)} paddings for {dims(shape)}, two a dimension needed")
        sides = zip(counts[: len(shape)], counts[len(shape) :], strict=True)
        sizes = tuple(size + sum(pads) for size, pads in zip(shape, sides, strict=True))
        return (sizes,)

    def _counts(self, attribute: I64Array) -> tuple[int, ...]:
        if self.paddingsT is None or is_none(self.paddingsT):
            return ints(attribute)
        return tuple(int(value) for value in self.constant_operand(1))


@irdl_op_definition
class ConcatSliceOp(NamedOp):
    """Append one tensor to another along `axis` and keep the newest part (a KV cache)."""

    name = "top.ConcatSlice"

    in0 = operand_def(TENSOR)
    in1 = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class InsertOp(NamedOp):
    """Put one tensor into another along `axis`, from index `offset` on."""

    name = "top.Insert"

    input = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)
    offset = attr_def(I64_INT)

    traits = traits_def(Pure())


def _resized(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _common_rank(shapes: Sequence[Shape]) -> int:
    ranks: Iterable[int] = {len(shape) for shape in shapes}
    if len(set(ranks)) != 1:
        raise ShapeError(f"inputs {', '.join(map(dims, shapes))} differ in rank")
    return len(shapes[0])
