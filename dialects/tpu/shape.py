"""Same elements under another shape."""

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
    var_result_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import I64_ARRAY, I64_INT, default_attr_def, ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axes_of, reduced
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP
from xdsl_tpu.dialects.tpu.local import LocalReshape
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp, declared_shape


@irdl_op_definition
class ReshapeOp(LocalReshape, KeepsOrder, ShapeInference, LocalOp):
    """The same elements in the same order under another shape.

    The result type says which; `shape`, with 0 for "as in the input" and -1 for "what is left",
    is what the network asked for and may be empty. `buffer` is scratch memory for the moves a
    reshape needs when its input lies in local memory.
    """

    name = "tpu.Reshape"

    input = operand_def(RANKED)
    buffer = opt_operand_def(RANKED_OR_NONE)
    shape = default_attr_def(I64_ARRAY, ())
    flatten_start_dim = default_attr_def(I64_INT, -1)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        source, target = self.shape_of(self.input), declared_shape(self.output)
        if prod(source) != prod(target):
            raise ShapeError(f"cannot reshape {dims(source)} to {dims(target)}")
        return (target,)

    def local_support(self, kind: GroupType) -> str | None:
        source, target = self.shape_of(self.input), declared_shape(self.output)
        if (len(source) > 4) != (len(target) > 4):
            return f"{dims(source)} to {dims(target)} goes across the border of rank 4"
        return super().local_support(kind)


@irdl_op_definition
class SqueezeOp(LocalReshape, KeepsOrder, ShapeInference, LocalOp):
    """The input without the dimensions `axes`, all of size 1; without all such when it is empty."""

    name = "tpu.Squeeze"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
        axes = axes_of(ints(self.axes), len(shape)) or ones
        if any(shape[axis] != 1 for axis in axes):
            raise ShapeError(f"axes {list(axes)} of {dims(shape)} are not all of size 1")
        return (reduced(shape, axes, keepdims=False),)


@irdl_op_definition
class UnsqueezeOp(LocalReshape, KeepsOrder, ShapeInference, LocalOp):
    """The input with dimensions of size 1 put in, at the places `axes` of the result."""

    name = "tpu.Unsqueeze"

    input = operand_def(RANKED)
    axes = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        sizes = list(self.shape_of(self.input))
        for axis in axes_of(ints(self.axes), len(sizes) + len(self.axes)):
            sizes.insert(axis, 1)
        return (tuple(sizes),)


@irdl_op_definition
class IdentityOp(TpuOp):
    """Its operands, unchanged."""

    name = "tpu.Identity"

    input = var_operand_def(RANKED)
    output = var_result_def(RANKED)

    traits = traits_def(Pure())
