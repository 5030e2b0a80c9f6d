"""Activation functions."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR
from xdsl_tpu.dialects.interfaces.channels import ChannelAlike
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.top.abstract import SameShapeOp, UnaryOp
from xdsl_tpu.dialects.top.enums import GELUMODE, ROUND_MODE
from xdsl_tpu.dialects.top.layout import AxisLayout, ChannelFirst
from xdsl_tpu.dialects.top.traits import (
    SupportEarlyStride,
    SupportElementwise,
    SupportPermuteMove,
)


@irdl_op_definition
class ReluOp(UnaryOp):
    """y = max(x, 0), and not above `relu_limit` unless that is negative."""

    name = "top.Relu"

    relu_limit = default_attr_def(F64, -1.0)

    traits = traits_def(SupportPermuteMove(), SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """y = x for positive x, alpha * x otherwise."""

    name = "top.LeakyRelu"

    alpha = attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class PReluOp(SameShapeOp):
    """y = x for positive x, slope * x otherwise; one slope a channel, or one for all."""

    name = "top.PRelu"

    input = operand_def(TENSOR)
    slope = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(SupportElementwise(), SupportEarlyStride(), ChannelFirst(), ChannelAlike())


@irdl_op_definition
class EluOp(UnaryOp):
    """y = x for positive x, alpha * (e ** x - 1) otherwise."""

    name = "top.Elu"

    alpha = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class GELUOp(UnaryOp):
    """y = x * Phi(x), Phi being the standard normal distribution function.

    `approx_mode` names the formula: normal is 0.5 * x * (1 + erf(x / sqrt(2))), tanh is
    0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))), sigm is
    x * sigmoid(1.702 * x) (Hendrycks and Gimpel, Gaussian Error Linear Units, 2016).
    """

    name = "top.GELU"

    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    approx_mode = default_attr_def(GELUMODE, "normal")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SiLUOp(UnaryOp):
    """y = x * sigmoid(x)."""

    name = "top.SiLU"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """y = scale / (1 + e ** -x) + bias; with `log` the logarithm of the sigmoid."""

    name = "top.Sigmoid"

    scale = default_attr_def(F64, 1.0)
    bias = default_attr_def(F64, 0.0)
    log = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportPermuteMove(), SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SwishOp(UnaryOp):
    """y = x * sigmoid(beta * x)."""

    name = "top.Swish"

    beta = attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class HardSigmoidOp(UnaryOp):
    """y = min(max(alpha * x + beta, 0), 1)."""

    name = "top.HardSigmoid"

    alpha = attr_def(F64)
    beta = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class HardSwishOp(UnaryOp):
    """y = x * min(max(x + 3, 0), 6) / 6."""

    name = "top.HardSwish"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class MishOp(UnaryOp):
    """y = x * tanh(ln(1 + e ** x))."""

    name = "top.Mish"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SoftplusOp(UnaryOp):
    """y = ln(1 + e ** x)."""

    name = "top.Softplus"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SoftsignOp(UnaryOp):
    """y = x / (1 + |x|)."""

    name = "top.Softsign"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class TanhOp(UnaryOp):
    """y = tanh(x)."""

    name = "top.Tanh"

    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SoftmaxOp(SameShapeOp):
    """y = e ** (beta * x) divided by its sum along `axis`; with `log` the logarithm of that."""

    name = "top.Softmax"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(SI32)
    log = default_attr_def(BOOL, False)
    beta = default_attr_def(F64, 1.0)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(AxisLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis_of(self.axis.value.data, len(shape))
        return (shape,)

    def resolve(self) -> None:
        """Count the axis from the front."""
        self.axis = SI32.encode(axis_of(self.axis.value.data, len(self.shape_of(self.input))))
