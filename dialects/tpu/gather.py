"""Reading and writing by index."""

from math import prod

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I32_INT, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, Part, Range, same_range
from xdsl_tpu.dialects.interfaces.movement import PicksRows, Rows
from xdsl_tpu.dialects.interfaces.shape import (
    Shape,
    ShapeInference,
    UnknownShapeError,
    dims,
    known_shape,
)
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of, scalar_as_one
from xdsl_tpu.dialects.tpu.local import AlikeEverywhere, as_it_stands, stored_type
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp, declared_shape

PLACES = tuple(IntegerType(bits, Signedness.UNSIGNED) for bits in (8, 16))
"""The types of indices that pick elements of rows."""


@irdl_op_definition
class GatherOp(PicksRows, ShapeInference, TpuOp):
    """The slices of the input at `indices` along `axis`, whose place their dimensions take.

    Negative indices count from the end when `if_neg_index`.
    """

    name = "tpu.Gather"

    input = operand_def(RANKED)
    indices = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    axis = default_attr_def(SI32, 0)
    if_neg_index = default_attr_def(BOOL, True)
    is_lora = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, indices = self.shape_of(self.input), self.shape_of(self.indices)
        axis = axis_of(self.axis.value.data, len(shape))
        full = (*shape[:axis], *indices, *shape[axis + 1 :])
        if prod(indices) == 1 and len(declared_shape(self.output)) < len(full):
            return (scalar_as_one((*shape[:axis], *shape[axis + 1 :])),)
        return (full,)

    def rows(self) -> Rows | None:
        try:
            shape = self.shape_of(self.input)
        except UnknownShapeError:
            return None
        axis = axis_of(self.axis.value.data, len(shape))
        return Rows(self.input, self.indices) if prod(shape[:axis]) == 1 else None


@irdl_op_definition
class GatherElementsOp(AlikeEverywhere, LaneView, LocalOp):
    """For each index, the input element with that coordinate along `axis`.

    Of rows in the lanes (images, channels, elements) they are picked by constants of unsigned 8 or
    16 bits, for each image or one for all: 1x256x128 of these make 12x256x128 of 12x256x512.
    """

    name = "tpu.GatherElements"

    input = operand_def(RANKED)
    indices = operand_def(RANKED)
    indices_coeff = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    axis = default_attr_def(I64_INT, 2)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def local_support(self, kind: GroupType) -> str | None:
        shape, which, result = self._shapes()
        is_last = axis_of(self.axis.value.data, len(shape)) == len(shape) - 1
        if not len(shape) == len(which) == 3 or not is_last:
            return f"it picks from {dims(shape)}; only elements of the rows of rank 3 are in lanes"
        if stored_type(self.indices) not in PLACES:
            return "its indices are no constants of unsigned 8 or 16 bits"
        if which[0] in (1, shape[0]) and which[1] == shape[1] == result[1]:
            return None
        return f"indices {dims(which)} are not one for each row of {dims(shape)}"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis in ("n", "c")

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        return same_range(part, size) if part.axis in ("n", "c") else (0, size)

    def split_weights(self) -> tuple[int, ...]:
        return (1,)

    def can_be_seen(self) -> bool:
        return self.local_support(GroupType.NORMAL) is None

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        shape, which, _ = self._shapes()
        return (Lanes(1, prod(shape[:-1])),) if which[0] == shape[0] else (lanes_of(shape),)

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape, which, result = self._shapes()
        if lanes == lanes_of(shape):
            return as_it_stands(self)
        if which[0] != shape[0] or lanes.rows != prod(shape[:-1]):
            return None
        seen, picked = (*lanes, shape[-1]), (*lanes, result[-1])
        return Viewed((seen, picked, None, None), picked)

    def _shapes(self) -> tuple[Shape, Shape, Shape]:
        shapes = [known_shape(v.type) for v in (self.input, self.indices, self.output)]
        data, which, result = (() if shape is None else shape for shape in shapes)
        return data, which, result


@irdl_op_definition
class GatherNDOp(TpuOp):
    """Slices of the input whose leading coordinates are the rows of `indices`."""

    name = "tpu.GatherND"

    input_data = operand_def(RANKED)
    indices = operand_def(RANKED)
    indice_dims = opt_attr_def(I64_INT)
    batch_dims = default_attr_def(I64_INT, 0)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class IndexPutOp(TpuOp):
    """The input with `values` written, or added, at the coordinates in `indices`."""

    name = "tpu.IndexPut"

    input = operand_def(RANKED)
    indices = operand_def(RANKED)
    values = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    accumulate = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterElementsOp(TpuOp):
    """The input with each update at the coordinate its index gives along `axis`."""

    name = "tpu.ScatterElements"

    input = operand_def(RANKED)
    indices = operand_def(RANKED)
    updates = operand_def(RANKED)
    indices_coeff = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    axis = attr_def(I64_INT)
    reduction = default_attr_def(I64_INT, 0)
    nc_can_split = default_attr_def(BOOL, False)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterNDOp(TpuOp):
    """The input with updates at the coordinates in the rows of `indices`."""

    name = "tpu.ScatterND"

    input_data = operand_def(RANKED)
    indices = operand_def(RANKED)
    updates = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    reduction = default_attr_def(I32_INT, 0)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class A16GatherOp(TpuOp):
    """Rows of an embedding table packed in few bits, unpacked to 16-bit floats."""

    name = "tpu.A16Gather"

    weight = operand_def(RANKED)
    indices = operand_def(RANKED)
    scale = operand_def(RANKED_OR_NONE)
    zp = operand_def(RANKED_OR_NONE)
    axis = default_attr_def(SI32, 0)
    keepdims = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 32)
    weight_bits = default_attr_def(I64_INT, 8)
    output = result_def(RANKED)

    traits = traits_def(Pure())
