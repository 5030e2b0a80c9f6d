"""A vector added along one dimension, alone and fused with what comes after."""

from abc import ABC

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.oneflow.base import F32, SI32, SI64, OneFlowOp, default_attr_def
from xdsl_tpu.dialects.oneflow.layout import ChannelAxisLayout
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


class _BiasOp(OneFlowOp, ABC):
    """`a` of any rank and `b`, one element for each index of dimension `axis` of `a`."""

    a = operand_def(RANKED)
    b = operand_def(RANKED)
    output = result_def(RANKED)
    axis = default_attr_def(SI32, 0)

    traits = traits_def(Pure(), ChannelAxisLayout())

    def _checked_shape(self, *alike: tuple[str, SSAValue | None]) -> tuple[Shape, ...]:
        shape, bias, axis = self.shape_of(self.a), self.shape_of(self.b), self.axis.value.data
        if not 0 <= axis < len(shape):
            raise ShapeError(f"axis {axis} is outside a = {dims(shape)}; it must be 0 or more")
        if bias != (shape[axis],):
            raise ShapeError(
                f"b = {dims(bias)} must be one-dimensional with the {shape[axis]} elements "
                f"of dimension {axis} of a = {dims(shape)}"
            )
        for what, value in alike:
            if value is not None and self.shape_of(value) != shape:
                raise ShapeError(f"{what} {dims(self.shape_of(value))} must be {dims(shape)}")
        return (shape,)

    def result_shapes(self) -> tuple[Shape, ...]:
        return self._checked_shape()


@oneflow_op
class BiasAddOp(_BiasOp):
    """out = a + b, b broadcast over all dimensions but `axis`."""

    name = "oneflow.bias_add"


@oneflow_op
class FusedBiasAddGeluOp(_BiasOp):
    """out = gelu(a + b)."""

    name = "oneflow.fused_bias_add_gelu"


@oneflow_op
class FusedBiasAddMaskScaleOp(_BiasOp):
    """out = (a + b) * mask * scale + _add_to_output, the last one if there.

    The mask holds zeros and ones. `seed` is OneFlow's and not used: the mask is made before.
    """

    name = "oneflow.fused_bias_add_mask_scale"

    # Operands come in the order a class names them, its own before those it inherits.
    a = operand_def(RANKED)
    b = operand_def(RANKED)
    mask = operand_def(RANKED)
    add_to_output = opt_operand_def(RANKED)
    scale = default_attr_def(F32, 1.0)
    seed = default_attr_def(SI64, 0)

    def result_shapes(self) -> tuple[Shape, ...]:
        return self._checked_shape(("mask", self.mask), ("_add_to_output", self.add_to_output))
