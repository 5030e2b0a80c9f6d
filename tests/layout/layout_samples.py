"""Small networks of `top` ops for the layout tests."""

from collections.abc import Callable

from tests.passes.semantics import Net
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)

Make = Callable[[Net, SSAValue], SSAValue]
"""Adds an op that reads a value and gives its result."""


def permute(net: Net, name: str, x: SSAValue, order: tuple[int, ...]) -> SSAValue:
    """A transposition."""
    return net.op(top.PermuteOp, name, (x,), order=order)


def conv(net: Net, name: str, x: SSAValue, channels: int, out: int) -> SSAValue:
    """A 1x1 convolution."""
    weight = net.weight(f"{name}_w", out, channels, 1, 1)
    operands = (x, weight, net.none)
    return net.op(
        top.ConvOp, name, operands, kernel_shape=[1, 1], strides=[1, 1], pads=[0, 0, 0, 0]
    )
