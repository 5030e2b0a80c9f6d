"""Activation functions."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.abstract import UnaryOp
from xdsl_tpu.dialects.top.enums import GELUMODE, ROUND_MODE
from xdsl_tpu.dialects.top.traits import (
    InOutSameShape,
    SupportEarlyStride,
    SupportElementwise,
    SupportPermuteMove,
)


@irdl_op_definition
class ReluOp(UnaryOp):
    """Max(x,0) with an optional upper limit."""

    name = "top.Relu"

    relu_limit = default_attr_def(F64, -1.0)

    traits = traits_def(SupportPermuteMove(), SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """Leaky relu."""

    name = "top.LeakyRelu"

    alpha = attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class PReluOp(NamedOp):
    """Parametric relu with slope tensor."""

    name = "top.PRelu"

    input = operand_def(TENSOR)
    slope = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), SupportElementwise(), SupportEarlyStride(), InOutSameShape())


@irdl_op_definition
class EluOp(UnaryOp):
    """ELU activation."""

    name = "top.Elu"

    alpha = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class GELUOp(UnaryOp):
    """GELU activation (normal/tanh/sigmoid approximations)."""

    name = "top.GELU"

    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    approx_mode = default_attr_def(GELUMODE, "normal")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SiLUOp(UnaryOp):
    """X*sigmoid(x)."""

    name = "top.SiLU"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """Sigmoid, optionally affine scale/bias, or log-sigmoid."""

    name = "top.Sigmoid"

    scale = default_attr_def(F64, 1.0)
    bias = default_attr_def(F64, 0.0)
    log = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportPermuteMove(), SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SwishOp(UnaryOp):
    """X*sigmoid(beta*x)."""

    name = "top.Swish"

    beta = attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class HardSigmoidOp(UnaryOp):
    """Clip(alpha*x+beta,0,1)."""

    name = "top.HardSigmoid"

    alpha = attr_def(F64)
    beta = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class HardSwishOp(UnaryOp):
    """X*hard-sigmoid(x)."""

    name = "top.HardSwish"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class MishOp(UnaryOp):
    """Mish activation."""

    name = "top.Mish"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SoftplusOp(UnaryOp):
    """Softplus."""

    name = "top.Softplus"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SoftsignOp(UnaryOp):
    """Softsign."""

    name = "top.Softsign"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class TanhOp(UnaryOp):
    """Elementwise tanh."""

    name = "top.Tanh"

    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SoftmaxOp(UnaryOp):
    """Softmax / log-softmax along an axis, with beta."""

    name = "top.Softmax"

    axis = attr_def(SI32)
    log = default_attr_def(BOOL, False)
    beta = default_attr_def(F64, 1.0)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
