"""sCONV: convolution on the matrix unit.

docs/hardware/machine.md#placement and docs/hardware/instructions.md#sconv.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import CONV, Rounding
from xdsl_tpu.backend.machine.convert import convert
from xdsl_tpu.backend.machine.elements import (
    BF16,
    F16,
    F32,
    I32,
    Array,
    Element,
    element,
    element_or_int4,
    flushed,
)
from xdsl_tpu.backend.machine.rounding import shift, wrapped
from xdsl_tpu.backend.machine.state import (
    Executors,
    State,
    first_lane,
    laid_out,
    require,
    result_shape,
)
from xdsl_tpu.backend.machine.sums import block_accumulate, parity_accumulate
from xdsl_tpu.backend.machine.windows import window_of

_SHIFTS = 32


@dataclass(frozen=True)
class Part:
    """Input channels that share a block width, as matrices.

    `weights` is (oc, k), `columns` is (n, k, oh * ow); k runs over block, ky, kx, channel.
    """

    weights: Array
    columns: Array
    width: int


def conv(state: State, command: Command) -> None:
    """Convolution of floats (f32 accumulation, f32 bias) or integers (exact).

    Unverified: int4, and int16, whose filters lie in blocks of 32 channels like those of f16.
    """
    kind = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    write_sums(state, command, *convolved(state, command, kind, _zero_point(command, kind)))


def convolved(
    state: State, command: Command, kind: Element, zero_point: Array | None
) -> tuple[Element, Array]:
    """The type of the result, and the sums (n, oc, oh * ow); `zero_point` is that of filters."""
    dtype = np.dtype(np.float32 if kind.is_float else np.float64)
    fill = pad_value(command, kind)
    parts = list(parts_of(state, command, kind, dtype, fill, zero_point))
    sums_of = float_sums if kind.is_float else integer_sums
    return sums_of(state, command, kind, parts)


def write_sums(state: State, command: Command, target: Element, sums: Array) -> None:
    """Store sums, rounded to the type of the result."""
    if target in (F16, BF16):
        write_stored(state, command, target, convert(sums, F32, target, 0))
    else:
        write_stored(state, command, target, target.store(sums))


def conv_requantized(state: State, command: Command) -> None:
    """8-bit convolution: saturate(rshift(sum + bias, opd3_addr)), rounded half up.

    The bias is 16 bits per output channel, or one constant; padding is zero. Function 1 gives a
    signed result if any operand or the bias is signed, function 2 (relu) an unsigned one.
    Unverified: int4.
    """
    kind = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    require(kind.size == 1, "fused requantisation is for 4-bit and 8-bit operands")
    require(not command["res_add"], "accumulating and requantising at once is not simulated")
    _, oc, _, _ = result_shape(command)
    bias_kind = element(3, command["opd2_sign"])
    if command["opd2_const"]:
        bias = bias_kind.immediate(command["opd2_addr"]).reshape(1, 1)
    else:
        table = first_lane(state.compact(command["opd2_addr"], (1, oc, 1, 1), bias_kind))
        bias = table.read().reshape(oc, 1)
    parts = list(parts_of(state, command, kind, np.dtype(np.float64), np.zeros(())))
    total = products(parts).astype(np.int64) + bias
    signed = command["opd0_sign"] | command["opd1_sign"] | command["opd2_sign"]
    target = element(command["res0_prec"], 0 if command.function == CONV.CONV_WRQ_RELU else signed)
    require(not target.is_float, "a requantised convolution has an integer result")
    amount = command["opd3_addr"]
    require(amount < _SHIFTS, f"opd3_addr = {amount}: a right shift is simulated up to 31")
    limits = np.iinfo(target.storage)
    values = shift(total, np.asarray(-amount), Rounding.HALF_UP, int(limits.min), int(limits.max))
    write_stored(state, command, target, target.store(values))


def write_stored(state: State, command: Command, target: Element, stored: Array) -> None:
    shape = result_shape(command)
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, target))
    result.write(stored.reshape(shape))


def parts_of(
    state: State,
    command: Command,
    kind: Element,
    dtype: np.dtype,
    fill: Array,
    zero_point: Array | None = None,
) -> Iterator[Part]:
    """The full channel blocks, then the rest; filler channels of the weights are left out."""
    require(not command["opd1_const"], "a constant kernel is not simulated")
    n, oc, _, _ = result_shape(command)
    channels, cube = command["opd0_c"], state.chip.input_channels(command["opd0_prec"])
    window = window_of(command)
    shape = (n, channels, command["opd0_h"], command["opd0_w"])
    stored = first_lane(laid_out(state, command, "opd0", shape, kind)).read()
    inputs = state.load(kind, stored)
    windows = window.sliding(window.padded(np.ascontiguousarray(inputs, dtype), fill.astype(dtype)))
    blocks = -(-channels // cube)
    stored = _weights(state, command, (oc, blocks, window.taps, cube), kind)
    weights = (stored if zero_point is None else stored - zero_point).astype(dtype)
    if command["kernel_rotate"]:
        weights = weights[:, :, ::-1]
    full, rest = divmod(channels, cube)
    for first, count, width in ((0, full, cube), (full, 1, rest)):
        if count and width:
            cut = windows[:, first * cube : first * cube + count * width]
            yield Part(
                weights[:, first : first + count, :, :width].reshape(oc, -1),
                _columns(cut, count, width),
                width,
            )


def pad_value(command: Command, kind: Element) -> Array:
    require(bool(command["opd3_const"]), "the pad value (opd3) must be a constant")
    return flushed(kind.immediate(command["opd3_addr"]))


def _weights(
    state: State, command: Command, shape: tuple[int, int, int, int], kind: Element
) -> Array:
    """(oc, blocks, ky * kx, channel of block)."""
    oc, blocks, taps, cube = shape
    kind = kind if kind.is_float else element_or_int4(command["opd0_prec"], command["opd1_sign"])
    table = state.compact(command["opd1_addr"], (1, oc, 1, blocks * taps * cube), kind)
    return state.load(kind, first_lane(table).read()).reshape(shape)


def _zero_point(command: Command, kind: Element) -> Array | None:
    """That of the filters of integers, if it is a constant."""
    if kind.is_float or not command["opd2_const"]:
        return None
    point = element_or_int4(command["opd0_prec"], command["opd2_sign"])
    return point.immediate(command["opd2_addr"]).astype(np.int32)


def _columns(windows: Array, blocks: int, width: int) -> Array:
    """The inputs of every output position, (n, block * tap * channel, oh * ow)."""
    n, _, oh, ow, kh, kw = windows.shape
    taken = windows.reshape(n, blocks, width, oh, ow, kh, kw)
    return taken.transpose(0, 1, 5, 6, 2, 3, 4).reshape(n, blocks * kh * kw * width, oh * ow)


def float_sums(
    state: State, command: Command, kind: Element, parts: list[Part]
) -> tuple[Element, Array]:
    n, oc, oh, ow = result_shape(command)
    target = element(command["res0_prec"])
    require(target.is_float, "a float convolution has a float result")
    bias = channel_bias(state, command, oc)
    start: list[Array] = [bias]
    if command["res_add"]:
        require(target is F32, "accumulating onto the result is simulated for f32 results only")
        old = state.eu_aligned(command["res0_addr"], (n, oc, oh, ow), F32).read()
        start.append(state.load(F32, old).reshape(n, oc, oh * ow))
    if not state.exact:
        return target, sum(start, products(parts))
    if kind is F32:
        sums = [_sequence(image, start, parts) for image in range(n)]
    else:
        sums = [_blocks(image, start, parts) for image in range(n)]
    return target, np.stack(sums)


def products(parts: list[Part]) -> Array:
    """The sums over all input channels by BLAS, (n, oc, oh * ow)."""
    total = parts[0].weights @ parts[0].columns
    for part in parts[1:]:
        total += part.weights @ part.columns
    return total


def _blocks(image: int, start: list[Array], parts: list[Part]) -> Array:
    total = start[0] if len(start) == 1 else start[0] + start[1][image]
    for part in parts:
        total = block_accumulate(total, part.weights, part.columns[image], part.width)
    return total


def _sequence(image: int, start: list[Array], parts: list[Part]) -> Array:
    first = [start[0], *(old[image] for old in start[1:])]
    (part,) = parts  # one channel per block in f32: there is no rest
    return parity_accumulate(first, part.weights, part.columns[image], right_first=True)


def channel_bias(state: State, command: Command, oc: int, kind: Element = F32) -> Array:
    """Values per output channel, shape (oc, 1)."""
    if command["opd2_const"]:
        return state.constant(kind.immediate(command["opd2_addr"])).reshape(1, 1)
    bias = first_lane(state.compact(command["opd2_addr"], (1, oc, 1, 1), kind))
    return state.load(kind, bias.read()).reshape(oc, 1)


def integer_sums(
    state: State, command: Command, kind: Element, parts: list[Part], bias: Array | int = 0
) -> tuple[Element, Array]:
    """Exact sums; f64 holds every partial sum of 16-bit products exactly."""
    n, oc, oh, ow = result_shape(command)
    require(kind.size < I32.size, "32-bit integers cannot be convolved")
    signed = command["opd0_sign"] | command["opd1_sign"]
    target = element(command["res0_prec"], signed)
    require(not target.is_float, "an integer convolution has an integer result")
    sums = products(parts).astype(np.int64) + bias
    if command["res_add"]:
        require(target.size == I32.size, "accumulating needs a 32-bit result")
        old = state.eu_aligned(command["res0_addr"], (n, oc, oh, ow), target).read()
        sums = sums + old.reshape(n, oc, oh * ow)
    if target.size == I32.size:
        return target, wrapped(sums)
    limits = np.iinfo(target.storage)
    return target, np.clip(sums, int(limits.min), int(limits.max))


EXECUTORS: Executors = {
    ("sCONV", CONV.CONV_NORMAL): conv,
    ("sCONV", CONV.CONV_WRQ): conv_requantized,
    ("sCONV", CONV.CONV_WRQ_RELU): conv_requantized,
}
