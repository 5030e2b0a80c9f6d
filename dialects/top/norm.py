"""Normalisations."""

from math import prod

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def, ints
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, is_none
from xdsl_tpu.dialects.interfaces.channels import ChannelAlike
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.top.abstract import FusedReluOp, SameShapeOp
from xdsl_tpu.dialects.top.layout import ChannelFirst, LayerNormLayout
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


class ChannelParameters(SameShapeOp):
    """An op on N, C, .. whose further operands, unless absent, have one element a channel."""

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.operands[0])
        if len(shape) < 2:
            raise ShapeError(f"input {dims(shape)} has no channel dimension")
        for index, operand in enumerate(self.operands[1:], start=1):
            if not is_none(operand) and prod(self.shape_of(operand)) != shape[1]:
                raise ShapeError(
                    f"operand {index} is {dims(self.shape_of(operand))}, "
                    f"but input {dims(shape)} has {shape[1]} channels"
                )
        return (shape,)


@irdl_op_definition
class BatchNormOp(ChannelParameters, FusedReluOp):
    """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, a channel at a time.

    x is N, C, ..; the four parameters have C elements, absent gamma is 1 and absent beta is 0.
    """

    name = "top.BatchNorm"

    input = operand_def(TENSOR)
    mean = operand_def(TENSOR)
    variance = operand_def(TENSOR)
    gamma = operand_def(TENSOR_OR_NONE)
    beta = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    epsilon = default_attr_def(F64, 1e-05)

    traits = traits_def(SupportFuseRelu(), ChannelFirst(), ChannelAlike())


@irdl_op_definition
class ScaleOp(ChannelParameters, FusedReluOp):
    """y = x * scale + bias, a channel at a time; x is N, C, .., scale and bias have C elements."""

    name = "top.Scale"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(SupportFuseRelu(), ChannelFirst(), ChannelAlike())


@irdl_op_definition
class LayerNormOp(SameShapeOp):
    """y = (x - mean) / sqrt(variance + eps) * weight + bias over the dimensions from `axis` on.

    Mean and (biased) variance are those of x[i.., :, ..] for every index i.. before `axis`.
    Weight and bias have the elements of these dimensions, `normalized_shape`, which is empty
    until shapes are known; they are none when they would be all ones and all zeros.
    """

    name = "top.LayerNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)
    eps = attr_def(F64)

    traits = traits_def(LayerNormLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, normalized = self.shape_of(self.input), self._normalized()
        if (declared := ints(self.normalized_shape)) not in ((), normalized):
            raise ShapeError(f"normalized_shape is {dims(declared)}, input {dims(shape)}")
        for name, operand in (("weight", self.weight), ("bias", self.bias)):
            if not is_none(operand) and prod(self.shape_of(operand)) != prod(normalized):
                raise ShapeError(
                    f"{name} {dims(self.shape_of(operand))} does not fit "
                    f"the normalised {dims(normalized)}"
                )
        return (shape,)

    def resolve(self) -> None:
        """Count the axis from the front and write the normalised dimensions out."""
        self.normalized_shape = I64_ARRAY.encode(self._normalized())
        self.axis = SI32.encode(axis_of(self.axis.value.data, len(self.shape_of(self.input))))

    def _normalized(self) -> Shape:
        shape = self.shape_of(self.input)
        return shape[axis_of(self.axis.value.data, len(shape)) :]


@irdl_op_definition
class GroupNormOp(SameShapeOp):
    """Normalisation of N, C, .. over groups of C / num_groups channels and all positions.

    Then y = normalised * weight + bias with C elements each, or none.
    """

    name = "top.GroupNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    num_groups = attr_def(I64_INT)
    eps = attr_def(F64)

    traits = traits_def(ChannelFirst(), ChannelAlike())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, groups = self.shape_of(self.input), self.num_groups.value.data
        if len(shape) < 2 or groups < 1 or shape[1] % groups:
            raise ShapeError(f"the channels of {dims(shape)} do not make {groups} groups")
        for name, operand in (("weight", self.weight), ("bias", self.bias)):
            if not is_none(operand) and prod(self.shape_of(operand)) != shape[1]:
                raise ShapeError(f"{name} {dims(self.shape_of(operand))} needs {shape[1]} elements")
        return (shape,)


@irdl_op_definition
class InstanceNormOp(ChannelParameters):
    """Normalisation of N, C, .. over the positions of each channel, then weight and bias."""

    name = "top.InstanceNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    eps = attr_def(F64)

    traits = traits_def(ChannelFirst())


@irdl_op_definition
class PixelNormOp(ChannelParameters):
    """Layer normalisation of N, C, .. over the channels of each position."""

    name = "top.PixelNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    eps = attr_def(F64)

    traits = traits_def(ChannelFirst())


@irdl_op_definition
class RMSNormOp(SameShapeOp):
    """y = x / sqrt(mean(x * x) + eps) * gamma over the last dimension."""

    name = "top.RMSNorm"

    input = operand_def(TENSOR)
    gamma = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    eps = attr_def(F64)
    weight_keep_f32 = default_attr_def(BOOL, False)


@irdl_op_definition
class LRNOp(SameShapeOp):
    """Local response normalisation: x / (bias + alpha / size * sum of squares) ** beta.

    The sum runs over `size` neighbouring channels (ONNX operators, LRN).
    """

    name = "top.LRN"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    size = attr_def(I64_INT)
    alpha = default_attr_def(F64, 0.0001)
    beta = default_attr_def(F64, 0.75)
    bias = default_attr_def(F64, 1.0)

    traits = traits_def(ChannelFirst())


@irdl_op_definition
class NormalizeOp(SameShapeOp):
    """Division by the L2 norm over channels, then a scale (SSD detectors).

    With `across_spatial` the norm is taken over positions too; `channel_shared` is one scale
    for all channels.
    """

    name = "top.Normalize"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    output = result_def(TENSOR)
    across_spatial = default_attr_def(BOOL, False)
    channel_shared = default_attr_def(BOOL, True)

    traits = traits_def(ChannelFirst())
