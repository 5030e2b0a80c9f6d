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
    """Elementwise absolute value."""

    name = "top.Abs"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ArccosOp(UnaryOp):
    """Elementwise acos."""

    name = "top.Arccos"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ArctanhOp(UnaryOp):
    """Elementwise atanh."""

    name = "top.Arctanh"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class CeilOp(UnaryOp):
    """Elementwise ceil."""

    name = "top.Ceil"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class CosOp(UnaryOp):
    """Elementwise cos."""

    name = "top.Cos"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class CoshOp(UnaryOp):
    """Elementwise cosh."""

    name = "top.Cosh"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ErfOp(UnaryOp):
    """Elementwise erf."""

    name = "top.Erf"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ExpOp(UnaryOp):
    """Elementwise exp."""

    name = "top.Exp"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class FloorOp(UnaryOp):
    """Elementwise floor."""

    name = "top.Floor"

    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(
        ScalarConsumer(), ScalarProducer(), SupportElementwise(), SupportEarlyStride()
    )


@irdl_op_definition
class LogOp(UnaryOp):
    """Natural log."""

    name = "top.Log"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class LogBOp(UnaryOp):
    """Log in a given base."""

    name = "top.LogB"

    base = attr_def(I64_INT)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class RoundOp(UnaryOp):
    """Elementwise round."""

    name = "top.Round"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """1/sqrt(x)."""

    name = "top.Rsqrt"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SignOp(UnaryOp):
    """Elementwise sign."""

    name = "top.Sign"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SinOp(UnaryOp):
    """Elementwise sin."""

    name = "top.Sin"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SinhOp(UnaryOp):
    """Elementwise sinh."""

    name = "top.Sinh"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class SqrtOp(UnaryOp):
    """Square root."""

    name = "top.Sqrt"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class TanOp(UnaryOp):
    """Elementwise tan."""

    name = "top.Tan"

    traits = traits_def(SupportElementwise(), SupportEarlyStride())
