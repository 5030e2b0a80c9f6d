"""sRQ_DQ: requantisation to 8 bits and dequantisation to f32, i16 and i32.

docs/hardware/instructions.md#srq_dq.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import RQ_DQ, Precision
from xdsl_tpu.backend.machine.elements import F32, I8, I32, Array, Element, element, flushed
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.rounding import shift_right
from xdsl_tpu.backend.machine.state import Executors, State, require, result_shape, same_spans

_SHIFT_BITS = 0x3F


def _source(state: State, command: Command, signed: int) -> tuple[Element, Placed]:
    kind = element(command["opd0_prec"], signed)
    require(not kind.is_float, "the operand is an integer tensor")
    return kind, state.eu_aligned(command["opd0_addr"], result_shape(command), kind)


def _result(state: State, command: Command, kind: Element, like: Placed) -> Placed:
    result = state.eu_aligned(command["res0_addr"], result_shape(command), kind)
    same_spans(result, like)
    return result


def byte_of(value: Array) -> Array:
    """The low byte as a signed number."""
    return value.astype(np.uint32).astype(np.uint8).view(np.int8).astype(np.int64)


Parameters: TypeAlias = Sequence[tuple[Array, Array, Array]]
"""Multiplier, shift and zero point for each span of the result, broadcastable to it."""


def requantize(state: State, command: Command) -> None:
    """i32 -> 8 bits: saturate(shift(x * multiplier, amount) + zero point).

    The operand is signed whatever `opd0_sign` says. Parameters (multiplier, amount, zero point)
    are constants, the zero point in the high half of the second one, or one i32 triple per channel.
    """
    requantize_with(state, command, _table)


def requantize_with(
    state: State, command: Command, table: Callable[[State, Command], Parameters]
) -> None:
    """The same with the parameters of channels as `table` reads them."""
    kind, source = _source(state, command, 1)
    require(kind.size > 1, "the operand has 16 or 32 bits")
    target = element(command["res0_prec"], command["opd2_sign"])
    require(target.size == 1, "requantisation gives 8-bit results")
    result = _result(state, command, target, source)
    constant = bool(command["opd1_const"])
    parameters = _constants(command, len(result.views)) if constant else table(state, command)
    limits, mode = np.iinfo(target.storage), command["opd2_n_str"]
    for view, stored, (factor, amount, zero) in zip(
        result.views, source.views, parameters, strict=True
    ):
        scaled = shifted(stored.astype(np.int64) * factor, amount, mode)
        view[...] = np.clip(scaled + zero, limits.min, limits.max)


def shifted(values: Array, amount: Array, mode: int) -> Array:
    """Right shifts round; left ones take the low six bits of the amount and keep 64 bits."""
    right = shift_right(values, np.maximum(-amount, 0), mode)
    return right << np.where(amount > 0, amount & _SHIFT_BITS, 0)


def _constants(command: Command, count: int) -> Parameters:
    packed = command["opd2_addr"]
    factor = I32.immediate(command["opd1_addr"]).astype(np.int64)
    zero = element(3, command["opd2_sign"]).immediate(packed >> 16).astype(np.int64)
    return [(factor, byte_of(np.asarray(packed & 0xFF)), zero)] * count


def _table(state: State, command: Command) -> Parameters:
    _, c, _, _ = result_shape(command)
    table = state.eu_aligned(command["opd1_addr"], (1, c, 1, 3), I32)
    zero_type = np.int16 if command["opd2_sign"] else np.uint16
    return [
        (
            view[..., 0:1].astype(np.int64),
            byte_of(view[..., 1:2]),
            view[..., 2:3].astype(zero_type).astype(np.int64),
        )
        for view in table.views
    ]


def dequantize_integer(state: State, command: Command) -> None:
    """8 or 16 bits -> i16 or i32: saturate(shift((x - zero point) * multiplier, amount)).

    The zero point has 16 bits and the operand's sign. Parameters are one triple of i32 per
    channel (zero point, multiplier, amount), or two constants: the zero point with the amount
    above it, and the multiplier. Left shifts take the low six bits of the amount and keep 64
    bits. The C model takes a constant amount as unsigned, so it never shifts right. The result is
    signed if the operand is or `opd2_sign` says so.
    """
    kind, source = _source(state, command, command["opd0_sign"])
    require(kind.size < I32.size, "the operand has 8 or 16 bits")
    target = element(command["res0_prec"], command["opd0_sign"] | command["opd2_sign"])
    require(not target.is_float and target.size > 1, "the result is i16 or i32")
    result = _result(state, command, target, source)
    limits, mode = np.iinfo(target.storage), command["opd2_n_str"]
    parameters = _integer_parameters(state, command, len(result.views))
    for view, stored, (zero, factor, amount) in zip(
        result.views, source.views, parameters, strict=True
    ):
        product = (stored.astype(np.int64) - zero) * factor
        view[...] = np.clip(shifted(product, amount, mode), limits.min, limits.max)


def _integer_parameters(
    state: State, command: Command, count: int
) -> list[tuple[Array, Array, Array]]:
    """Zero point, multiplier and shift for each span of the result, broadcastable to it."""
    zero_type = np.int16 if command["opd0_sign"] else np.uint16
    if command["opd1_const"]:
        packed = command["opd1_addr"]
        zero = np.asarray(packed & 0xFFFF).astype(np.uint16).view(zero_type).astype(np.int64)
        factor = I32.immediate(command["opd2_addr"]).astype(np.int64)
        return [(zero, factor, np.asarray(packed >> 16 & 0xFF))] * count
    _, c, _, _ = result_shape(command)
    table = state.eu_aligned(command["opd1_addr"], (1, c, 1, 3), I32)
    return [
        (
            view[..., 0:1].astype(zero_type).astype(np.int64),
            view[..., 1:2].astype(np.int64),
            byte_of(view[..., 2:3]),
        )
        for view in table.views
    ]


def _scales(
    state: State, command: Command, count: int, first: Element
) -> list[tuple[Array, Array]]:
    """Two parameters for each span of the result: of type `first`, and an f32.

    Constants, or one pair of words per channel, EU-aligned.
    """
    if command["opd1_const"]:
        pair = first.immediate(command["opd1_addr"]), F32.immediate(command["opd2_addr"])
        return [pair] * count
    _, c, _, _ = result_shape(command)
    table = state.eu_aligned(command["opd1_addr"], (1, c, 1, 2), F32)
    return [
        (np.ascontiguousarray(view[..., 0:1]).view(first.storage), view[..., 1:2])
        for view in table.views
    ]


def requantize_float(state: State, command: Command) -> None:
    """i32 -> 8 bits: saturate(f32(f32(x) * scale) + offset), ties to even whatever the mode says.

    Parameters (scale, offset) are constants or a pair of f32 per channel.
    """
    kind, source = _source(state, command, 1)
    require(kind.size > 1, "the operand has 16 or 32 bits")
    target = element(command["res0_prec"], command["opd2_sign"])
    require(not target.is_float and target.size < I32.size, "the result has 8 or 16 bits")
    result = _result(state, command, target, source)
    limits = np.iinfo(target.storage)
    pairs = _scales(state, command, len(result.views), F32)
    for view, stored, (scale, offset) in zip(result.views, source.views, pairs, strict=True):
        whole = np.rint(stored.astype(np.float32) * scale + offset)
        view[...] = np.clip(whole, float(limits.min), float(limits.max))


def dequantize(state: State, command: Command) -> None:
    """8 bits -> f32: (x - zero point) * scale.

    Parameters are constants or a pair (i32, f32) per channel. Of the zero point the low 16 bits
    count, with the operand's sign.
    """
    require(command["res0_prec"] == Precision.F32, "dequantisation gives f32 results")
    kind, source = _source(state, command, command["opd0_sign"])
    require(kind.size == I8.size, "dequantisation takes 8-bit operands")
    result = _result(state, command, F32, source)
    zero_kind = element(3, command["opd0_sign"])
    pairs = _scales(state, command, len(result.views), I32)
    for view, stored, (zero, scale) in zip(result.views, source.views, pairs, strict=True):
        shifted = stored.astype(np.int32) - zero.astype(zero_kind.storage).astype(np.int32)
        view[...] = flushed(shifted.astype(np.float32) * scale)


EXECUTORS: Executors = {
    ("sRQ_DQ", RQ_DQ.RQ0): requantize_float,
    ("sRQ_DQ", RQ_DQ.RQ1): requantize,
    ("sRQ_DQ", RQ_DQ.DQ0): dequantize,
    ("sRQ_DQ", RQ_DQ.DQ1): dequantize_integer,
}
