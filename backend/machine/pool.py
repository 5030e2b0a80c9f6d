"""sPorD: depthwise convolution, average and maximum pooling.

docs/hardware/instructions.md#spord.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import PorD, Rounding
from xdsl_tpu.backend.machine.elements import BF16, F32, Array, Element, element
from xdsl_tpu.backend.machine.memory import Placed, Quad
from xdsl_tpu.backend.machine.rounding import shift, wrapped
from xdsl_tpu.backend.machine.state import (
    Executors,
    State,
    on_result_lane,
    require,
    result_shape,
)
from xdsl_tpu.backend.machine.windows import window_of


def _windows(state: State, command: Command, kind: Element, fill: Array) -> Array:
    """The inputs of every result, (n, c, oh, ow, kh, kw), in the operand's computing type."""
    on_result_lane(state, command, "opd0")
    n, c, _, _ = result_shape(command)
    shape: Quad = (n, c, command["opd0_h"], command["opd0_w"])
    inputs = state.eu_aligned(command["opd0_addr"], shape, kind).read()
    inputs = kind.load(inputs) if command.function == PorD.MAX_POOL else state.load(kind, inputs)
    window = window_of(command)
    return window.sliding(window.padded(np.ascontiguousarray(inputs), fill))


def _pad(command: Command, kind: Element) -> Array:
    require(bool(command["opd3_const"]), "the pad value (opd3) must be a constant")
    return kind.immediate(command["opd3_addr"])


def _result(state: State, command: Command, kind: Element) -> Placed:
    return state.eu_aligned(command["res0_addr"], result_shape(command), kind)


def _kind(command: Command) -> Element:
    return element(command["opd0_prec"], command["opd0_sign"])


def depthwise(state: State, command: Command) -> None:
    """A kernel per channel; floats in the operand type, 8-bit integers exactly.

    Integer sums are shifted right by bits 8..15 of `res1_addr`, rounded by `opd2_n_str`.
    Function 2 is named depthwise_relu: it makes integer results unsigned, but leaves negative
    floats as they are (measured).
    """
    kind = _kind(command)
    windows = _windows(state, command, kind, _pad(command, kind))
    kernel = _kernel(state, command, kind)
    if kind.is_float:
        require(command["res0_prec"] == command["opd0_prec"], "the result has the operand type")
        sums = _float_sums(state, kind, (windows, kernel, _bias(state, command, kind)))
        target = kind
    else:
        target, sums = _integer_sums(state, command, windows, kernel)
    _result(state, command, target).write(target.store(sums))


def _kernel(state: State, command: Command, kind: Element) -> Array:
    """(1, c, kh, kw) in the operand's size, with the sign of opd1."""
    require(not command["opd1_const"], "a constant depthwise kernel is not simulated")
    require(not command["kernel_rotate"], "rotating a depthwise kernel is not simulated")
    on_result_lane(state, command, "opd1")
    kind = element(command["opd0_prec"], command["opd1_sign"])
    _, c, _, _ = result_shape(command)
    shape: Quad = (1, c, command["opd1_h"], command["opd1_w"])
    return state.load(kind, state.compact(command["opd1_addr"], shape, kind).read())


def _bias(state: State, command: Command, kind: Element) -> Array:
    """Values per channel, shape (1, c, 1, 1), or a constant."""
    if command["opd2_const"]:
        return state.constant(kind.immediate(command["opd2_addr"])).reshape(1, 1, 1, 1)
    on_result_lane(state, command, "opd2")
    _, c, _, _ = result_shape(command)
    return state.load(kind, state.compact(command["opd2_addr"], (1, c, 1, 1), kind).read())


def _float_sums(state: State, kind: Element, operands: tuple[Array, Array, Array | None]) -> Array:
    """Bias and products in two accumulators by position; every operation rounded to `kind`.

    `operands` are windows, kernel and bias. An accumulator starts as -0, which changes nothing.
    """
    windows, kernel, bias = operands
    *shape, kh, kw = windows.shape
    next_sum, other = (np.full(shape, -0.0, windows.dtype) for _ in range(2))
    if bias is not None:
        other += bias
    for tap in range(kh * kw):
        y, x = divmod(tap, kw)
        value, factor = windows[..., y, x], kernel[:, :, y, x, None, None]
        product = _rounded(kind, state.computed(np.multiply, value, factor))
        total = state.settled(next_sum + product, next_sum, product)
        next_sum, other = other, _rounded(kind, total)
    return _rounded(kind, state.settled(next_sum + other, next_sum, other))


def _rounded(kind: Element, values: Array) -> Array:
    """What the operand type keeps of a result computed in f16 or f32."""
    return kind.load(kind.store(values)) if kind is BF16 else values


def _integer_sums(
    state: State, command: Command, windows: Array, kernel: Array
) -> tuple[Element, Array]:
    signed = command["opd0_sign"] | command["opd1_sign"]
    target = element(command["res0_prec"], 0 if command.function == PorD.DEPTHWISE_RELU else signed)
    require(not target.is_float, "an integer depthwise convolution has an integer result")
    total = _depthwise_total(state, command, windows, kernel)
    limits = np.iinfo(target.storage)
    amount = np.asarray(-(command["res1_addr"] >> 8 & 0xFF))
    low, high = int(limits.min), int(limits.max)
    return target, shift(total, amount, command["opd2_n_str"], low, high)


def _depthwise_total(state: State, command: Command, windows: Array, kernel: Array) -> Array:
    total = np.zeros(windows.shape[:4], np.int64)
    *_, kh, kw = windows.shape
    for tap in range(kh * kw):
        y, x = divmod(tap, kw)
        total += windows[..., y, x].astype(np.int64) * kernel[:, :, y, x, None, None]
    return wrapped(total + _bias(state, command, element(4, 1))).astype(np.int64)


def integer_total(state: State, command: Command) -> Array:
    """The sums of integers over windows (n, c, oh, ow) before they are scaled: of products with
    the kernel, with bias, or of elements times a constant."""
    kind = _kind(command)
    windows = _windows(state, command, kind, _pad(command, kind))
    if command.function == PorD.DEPTHWISE:
        return _depthwise_total(state, command, windows, _kernel(state, command, kind))
    return wrapped(_scaled_total(command, windows)).astype(np.int64)


def _scaled_total(command: Command, windows: Array) -> Array:
    factor = element(0, 1).immediate(command["opd1_addr"])
    return windows.sum(axis=(4, 5), dtype=np.int64) * int(factor)


def average(state: State, command: Command) -> None:
    """The scaled sum of a window; of 8-bit integers shifted right by opd2, rounded half up.

    The rounding mode in `opd2_n_str` is not read.
    """
    kind = _kind(command)
    require(bool(command["opd1_const"]), "the scale (opd1) must be a constant")
    windows = _windows(state, command, kind, _pad(command, kind))
    scale = state.constant(kind.immediate(command["opd1_addr"]))
    if not kind.is_float:
        _integer_average(state, command, windows)
        return
    require(command["res0_prec"] == command["opd0_prec"], "the result has the operand type")
    kernel = np.broadcast_to(scale, (1, 1, *windows.shape[4:]))
    sums = _float_sums(state, kind, (windows, kernel, None))
    _result(state, command, kind).write(kind.store(sums))


def _integer_average(state: State, command: Command, windows: Array) -> None:
    target = element(command["res0_prec"], command["opd0_sign"])
    total = _scaled_total(command, windows)
    limits = np.iinfo(target.storage)
    amount = np.asarray(-(command["opd2_addr"] & 0xFF))
    low, high = int(limits.min), int(limits.max)
    values = shift(total, amount, Rounding.HALF_UP, low, high)
    _result(state, command, target).write(target.store(values))


def maximum(state: State, command: Command) -> None:
    """The largest element of a window; the pad value takes part.

    Floats start from the lowest finite number, and of two that are equal or not ordered the later
    one stays. Fast numerics care only where there is a NaN.
    """
    kind, windows = maximum_windows(state, command)
    best = None if kind.is_float and state.exact else _plain_maximum(windows)
    # A NaN in a window is one in its plain maximum, of which there are fewer.
    if best is None or (kind.is_float and np.isnan(best).any()):
        best = _ordered_maximum(state, kind, windows)
    _result(state, command, kind).write(kind.pack(best))


def maximum_windows(state: State, command: Command) -> tuple[Element, Array]:
    """The type of operand and result, and the elements of every window."""
    kind = _kind(command)
    require(command["res0_prec"] == command["opd0_prec"], "the result has the operand type")
    return kind, _windows(state, command, kind, _pad(command, kind))


def _plain_maximum(windows: Array) -> Array:
    *_, oh, ow, kh, kw = windows.shape
    if kh * kw > oh * ow:
        return windows.max(axis=(4, 5))
    best = windows[..., 0, 0].copy()
    for tap in range(1, kh * kw):
        np.maximum(best, windows[..., tap // kw, tap % kw], out=best)
    return best


def _ordered_maximum(state: State, kind: Element, windows: Array) -> Array:
    *shape, kh, kw = windows.shape
    best = np.full(shape, kind.lowest)
    for y, x in np.ndindex(kh, kw):
        value = windows[..., y, x]
        value = state.constant(value) if kind is F32 else value
        best = np.where(state.constant(best) > state.constant(value), best, value)
    return best


EXECUTORS: Executors = {
    ("sPorD", PorD.DEPTHWISE): depthwise,
    ("sPorD", PorD.AVG_POOL): average,
    ("sPorD", PorD.DEPTHWISE_RELU): depthwise,
    ("sPorD", PorD.MAX_POOL): maximum,
}
