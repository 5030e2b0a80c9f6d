"""Ops that have kernels of their own for quantised integers."""

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels import conv
from xdsl_tpu.backend.kernels.int8 import conv as int8_conv
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.dialects import tpu


def conv2d(context: KernelContext, op: Operation) -> None:
    """`tpu.Conv2D` by the type of its operand."""
    assert isinstance(op, tpu.Conv2DOp)
    is_float = context.value(op.input).dtype.is_float
    kernel = conv.conv2d if is_float else int8_conv.conv2d
    kernel(context, op)
