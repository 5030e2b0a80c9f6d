"""Ops that have kernels of their own for quantised integers."""

from xdsl_tpu.backend.local import conv, int8_conv, int8_matmul, matmul
from xdsl_tpu.backend.local.context import LocalContext, LocalKernel


def conv2d(context: LocalContext) -> None:
    """`tpu.Conv2D`."""
    _chosen(context, conv.conv2d, int8_conv.conv2d)


def product(context: LocalContext) -> None:
    """`tpu.MatMul`."""
    _chosen(context, matmul.matmul, int8_matmul.matmul)


def _chosen(context: LocalContext, floats: LocalKernel, integers: LocalKernel) -> None:
    """The kernel for the type of the first operand."""
    kernel = floats if context.operand(0).dtype.is_float else integers
    kernel(context)
