"""What all functions of one element share."""

from abc import ABC

from xdsl.irdl import traits_def

from xdsl_tpu.dialects.oneflow.base import UnaryOp
from xdsl_tpu.dialects.oneflow.layout import UnaryLayout


class ElementwiseOp(UnaryOp, ABC):
    """A function of one element."""

    traits = traits_def(UnaryLayout())
