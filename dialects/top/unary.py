"""Element-by-element mathematics of one tensor."""

from xdsl.irdl import attr_def, irdl_op_definition, traits_def

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.top.abstract import UnaryOp
from xdsl_tpu.dialects.top.traits import (
    ScalarConsumer,
    ScalarProducer,
    SupportEarlyStride,
    SupportElementwise,
)


@irdl_op_definition
class AbsOp(UnaryOp):
    """y = |x|."""

    name = "top.Abs"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ArccosOp(UnaryOp):
    """y = arccos(x)."""

    name = "top.Arccos"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ArctanhOp(UnaryOp):
    """y = artanh(x)."""

    name = "top.Arctanh"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class CeilOp(UnaryOp):
    """y is the smallest integer not below x."""

    name = "top.Ceil"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class CosOp(UnaryOp):
    """y = cos(x)."""

    name = "top.Cos"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class CoshOp(UnaryOp):
    """y = cosh(x)."""

    name = "top.Cosh"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ErfOp(UnaryOp):
    """y = erf(x), the error function 2 / sqrt(pi) * integral of exp(-t * t) from 0 to x."""

    name = "top.Erf"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ExpOp(UnaryOp):
    """y = e ** x."""

    name = "top.Exp"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class FloorOp(UnaryOp):
    """y is the largest integer not above x."""

    name = "top.Floor"

    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(
        ScalarConsumer(), ScalarProducer(), SupportElementwise(), SupportEarlyStride()
    )


@irdl_op_definition
class LogOp(UnaryOp):
    """y = ln(x)."""

    name = "top.Log"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class LogBOp(UnaryOp):
    """y = log(x) to the base `base`."""

    name = "top.LogB"

    base = attr_def(I64_INT)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class RoundOp(UnaryOp):
    """y is the integer nearest to x, an even one when two are."""

    name = "top.Round"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """y = 1 / sqrt(x)."""

    name = "top.Rsqrt"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SignOp(UnaryOp):
    """y is -1, 0 or 1, as x is negative, 0 or positive."""

    name = "top.Sign"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SinOp(UnaryOp):
    """y = sin(x)."""

    name = "top.Sin"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SinhOp(UnaryOp):
    """y = sinh(x)."""

    name = "top.Sinh"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SqrtOp(UnaryOp):
    """y = sqrt(x)."""

    name = "top.Sqrt"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class TanOp(UnaryOp):
    """y = tan(x)."""

    name = "top.Tan"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())
