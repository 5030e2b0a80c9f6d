"""The dialect `extras`."""

from xdsl.ir import Dialect
from xdsl.irdl import attr_def, irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import F64
from xdsl_tpu.dialects.top.abstract import UnaryOp


@irdl_op_definition
class SoftShrinkOp(UnaryOp):
    """y = x - min(max(x, -bound), bound): towards zero by `bound`, or to zero."""

    name = "extras.SoftShrink"

    bound = attr_def(F64)

    def verify_(self) -> None:
        if self.bound.value.data < 0:
            raise VerifyException(f"bound is {self.bound.value.data}; it must not be negative")


Extras = Dialect("extras", [SoftShrinkOp])
