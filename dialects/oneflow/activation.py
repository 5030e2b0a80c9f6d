"""Functions of one element."""

from xdsl.irdl import opt_attr_def

from xdsl_tpu.dialects.oneflow.base import (
    BOOL,
    DATA_TYPE,
    F32,
    F64,
    default_attr_def,
)
from xdsl_tpu.dialects.oneflow.elementwise import ElementwiseOp
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


@oneflow_op
class ReluOp(ElementwiseOp):
    """max(x, 0)."""

    name = "oneflow.relu"


@oneflow_op
class LeakyReluOp(ElementwiseOp):
    """x for positive x, alpha * x otherwise."""

    name = "oneflow.leaky_relu"

    alpha = default_attr_def(F32, 0.0)


@oneflow_op
class EluOp(ElementwiseOp):
    """x for positive x, alpha * (exp(x) - 1) otherwise."""

    name = "oneflow.elu"

    alpha = default_attr_def(F64, 0.0)


@oneflow_op
class HardtanhOp(ElementwiseOp):
    """x, not below min_val and not above max_val."""

    name = "oneflow.hardtanh"

    min_val = default_attr_def(F64, 0.0)
    max_val = default_attr_def(F64, 0.0)


@oneflow_op
class SiluOp(ElementwiseOp):
    """x * sigmoid(x)."""

    name = "oneflow.silu"


@oneflow_op
class GeluOp(ElementwiseOp):
    """x * Phi(x), Phi being the standard normal distribution function."""

    name = "oneflow.gelu"


@oneflow_op
class FastGeluOp(ElementwiseOp):
    """0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))."""

    name = "oneflow.fast_gelu"


@oneflow_op
class QuickGeluOp(ElementwiseOp):
    """x * sigmoid(1.702 * x)."""

    name = "oneflow.quick_gelu"


@oneflow_op
class MishOp(ElementwiseOp):
    """x * tanh(log(1 + exp(x)))."""

    name = "oneflow.mish"


@oneflow_op
class HardswishOp(ElementwiseOp):
    """x * min(max(x + 3, 0), 6) / 6."""

    name = "oneflow.hardswish"


@oneflow_op
class HardsigmoidOp(ElementwiseOp):
    """min(max(x + 3, 0), 6) / 6."""

    name = "oneflow.hardsigmoid"


@oneflow_op
class SigmoidOp(ElementwiseOp):
    """1 / (1 + exp(-x))."""

    name = "oneflow.sigmoid"


@oneflow_op
class TanhOp(ElementwiseOp):
    """The hyperbolic tangent."""

    name = "oneflow.tanh"


@oneflow_op
class ExpOp(ElementwiseOp):
    """The exponential."""

    name = "oneflow.exp"


@oneflow_op
class LogOp(ElementwiseOp):
    """The natural logarithm."""

    name = "oneflow.log"


@oneflow_op
class ErfOp(ElementwiseOp):
    """The error function."""

    name = "oneflow.erf"


@oneflow_op
class SqrtOp(ElementwiseOp):
    """The square root."""

    name = "oneflow.sqrt"


@oneflow_op
class RsqrtOp(ElementwiseOp):
    """1 over the square root."""

    name = "oneflow.rsqrt"


@oneflow_op
class AbsOp(ElementwiseOp):
    """The absolute value."""

    name = "oneflow.abs"


@oneflow_op
class SquareOp(ElementwiseOp):
    """x * x."""

    name = "oneflow.square"


@oneflow_op
class NegativeOp(ElementwiseOp):
    """-x."""

    name = "oneflow.negative"


@oneflow_op
class ReciprocalOp(ElementwiseOp):
    """1 / x."""

    name = "oneflow.reciprocal"


@oneflow_op
class IdentityOp(ElementwiseOp):
    """x."""

    name = "oneflow.identity"


@oneflow_op
class CastOp(ElementwiseOp):
    """x as elements of the result's type, of which `dtype` is OneFlow's number."""

    name = "oneflow.cast"

    dtype = opt_attr_def(DATA_TYPE)
    pin_memory = default_attr_def(BOOL, False)
