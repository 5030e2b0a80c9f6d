"""Pooling of 8-bit integers: one command, whatever the mode.

docs/hardware/instructions.md#spord.
"""

from collections.abc import Callable

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.int8.requant import clamp_low, rounding_of
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.tpu.enums import PoolMode

Pooling = Callable[[Emitter, LocalTensor, LocalTensor, Window], None]
"""(emitter, out, x, window)."""


def pooling(op: tpu.Pool1DOp | tpu.Pool2DOp) -> Pooling:
    """The command of a quantised pool, with its relu.

    Raises TpuError for means without a factor, and for those that leave out padding.
    """
    if bool(op.do_relu.value.data) and op.relu_limit.value.data >= 0:
        raise NoKernel(f"{where(op)}: a quantised relu with a limit has no kernel")
    relu = bool(op.do_relu.value.data)
    if op.pool_mode.data is PoolMode.Max:
        return lambda emitter, out, x, window: _largest(emitter, out, x, window, relu)
    if op.multiplier is None or op.rshift is None:
        raise NoKernel(f"{where(op)}: a quantised mean needs multiplier and rshift")
    if any(ints(op.pads)) and not bool(op.count_include_pad.value.data):
        raise NoKernel(f"{where(op)}: a quantised mean that leaves out its padding has no kernel")
    factor = op.multiplier.value.data, op.rshift.value.data
    if not 0 <= factor[0] <= 127 or factor[1] < 0:
        raise NoKernel(f"{where(op)}: a factor of {factor[0]} / 2^{factor[1]} has no kernel")
    rounding = rounding_of(op.round_mode)

    def mean(emitter: Emitter, out: LocalTensor, x: LocalTensor, window: Window) -> None:
        emitter.integer_average(out, x, window, factor, rounding)
        clamp_low(emitter, out, relu)

    return mean


def _largest(
    emitter: Emitter, out: LocalTensor, x: LocalTensor, window: Window, relu: bool
) -> None:
    emitter.max_pool(out, x, window)
    clamp_low(emitter, out, relu)
