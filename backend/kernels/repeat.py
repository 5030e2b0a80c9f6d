"""Tile: a tensor repeated along its dimensions."""

from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Work, element_wise
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import NoKernel


def tile(context: KernelContext, op: Operation) -> None:
    """tpu.Tile with constant counts, as a broadcast copy.

    Each dimension of n elements repeated t times is two of the result, t and n, of which the
    operand has 1 and n.
    """
    assert isinstance(op, tpu.TileOp)
    if op.tileT is not None and not is_none(op.tileT):
        raise NoKernel(f"{where(op)}: counts that are not constant have no kernel")
    out, x = context.value(op.output), context.value(op.input)
    spread: list[int] = []
    once: list[int] = []
    for count, size in zip(ints(op.tile), x.shape, strict=True):
        spread += [count, size]
        once += [1, size]
    element_wise(context, replace(out, shape=tuple(spread)), [replace(x, shape=tuple(once))], _COPY)


def _copy(emitter: Emitter, work: Work) -> None:
    emitter.copy(work.out, work.operands[0])


_COPY = ElementWise(_copy)
