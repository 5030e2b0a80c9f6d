"""sCONV, sMM2, sMM, sPorD and sRQ_DQ where a command does more than its product: bias, relu, a new
scale, places of maxima (docs/hardware/bm1688.md).
"""

from dataclasses import replace

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, CONV, MM, MM2, RQ_DQ, VC, PorD, Precision
from xdsl_tpu.backend.machine import arith, matmul, pool, requant
from xdsl_tpu.backend.machine.conv import (
    channel_bias,
    float_sums,
    integer_sums,
    pad_value,
    parts_of,
    products,
    write_sums,
)
from xdsl_tpu.backend.machine.elements import (
    F32,
    I16,
    I32,
    Array,
    Element,
    element,
    element_or_int4,
)
from xdsl_tpu.backend.machine.requant import Parameters, byte_of, requantize_with, shifted
from xdsl_tpu.backend.machine.rounding import wrapped
from xdsl_tpu.backend.machine.state import Executor, Executors, State, require, result_shape

NOWHERE = 0xFFFF_FFFF
"""The address of places of maxima that nobody wants."""


def _plain(command: Command) -> None:
    """Refuse what no recording covers."""
    require(not command["rq"], "requantisation in such a command is not simulated")


def _activated(command: Command, values: Array) -> Array:
    """The sums before they are rounded, without what is negative if the command says so, or if they
    are integers and the result has no sign."""
    cut = not command["res0_sign"] and values.dtype.kind == "i"
    if not command["relu"] and not cut:
        return values
    return np.where(values > 0, values, np.zeros((), values.dtype))


def _zero_point(command: Command) -> Array:
    """That of opd1 of integers."""
    require(bool(command["opd4_const"]), "zero points (opd4) must be a constant")
    return I16.immediate(command["opd4_addr"])


def _scaled(state: State, command: Command, sums: Array) -> tuple[Element, Array]:
    """The type of the result and 32-bit sums (n, c, ..) under its scale.

    Factors are a table of two words a channel, as `_table` has them, or constants.
    """
    target = element(command["res0_prec"], command["res0_sign"])
    require(target.size == 1 and not command["res_add"], "a new scale gives 8-bit results")
    if command["opd5_const"]:
        factor = I32.immediate(command["opd5_addr"])
        packed = I32.immediate(command["opd5_zero"] << 16 | command["opd5_shift"] & 0xFF)
    else:
        shape = (1, sums.shape[1], 1, 2)
        words = state.compact(command["opd5_addr"], shape, I32).read()
        channels = (-1, *(1,) * (sums.ndim - 2))
        factor, packed = (words[0, :, 0, word].reshape(channels) for word in range(2))
    zero, wide = packed.astype(np.int64) >> 16, sums.astype(np.int64)
    values = shifted(
        (np.maximum(wide, 0) if command["relu"] else wide) * factor.astype(np.int64),
        byte_of(packed),
        command["opd2_n_str"],
    )
    limits = np.iinfo(target.storage)
    return target, np.clip(values + zero, int(limits.min), int(limits.max))


def conv(state: State, command: Command) -> None:
    """Convolution of floats (f32 bias) or integers (i32 bias), then relu if asked for, and of
    integers a new scale."""
    kind = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    dtype = np.dtype(np.float32 if kind.is_float else np.float64)
    zero_point = None if kind.is_float else _zero_point(command).astype(np.int32)
    parts = list(parts_of(state, command, kind, dtype, pad_value(command, kind), zero_point))
    if kind.is_float:
        _plain(command)
        target, sums = float_sums(state, command, kind, parts)
        write_sums(state, command, target, _activated(command, sums))
        return
    bias = channel_bias(state, command, command["res0_c"], I32).astype(np.int64)
    if not command["rq"]:
        target, sums = integer_sums(state, command, kind, parts, bias)
        write_sums(state, command, target, _activated(command, sums))
        return
    total = wrapped(products(parts).astype(np.int64) + bias)
    write_sums(state, command, *_scaled(state, command, total))


def mm2(state: State, command: Command) -> None:
    """Matrices with one row per lane, plus a bias, then relu if asked for, and of integers a new
    scale.

    The bias is one number (f32, of integers i32) for each column, which every lane has of its own;
    of a transposed product (function tt) one for each row.
    """
    kind, left, right = matmul.mm2_operands(state, command)
    if kind.is_float:
        _plain(command)
        bias = _row_bias(state, command, len(left), right.shape[1], F32)
        target, sums = matmul.mm2_floats(state, command, kind, (left, right), bias)
        matmul.mm2_write(state, command, target, _activated(command, sums))
        return
    bias = _row_bias(state, command, len(left), right.shape[1], I32)
    sums = matmul.mm2_integers(command, left, right, _zero_point(command))
    total = wrapped(sums.astype(np.int64) + bias.astype(np.int64))
    if command["rq"]:
        require(bool(command["opd5_const"]), "factors (opd5) of matrices must be constants")
        target, scaled = _scaled(state, command, total[None])
        matmul.mm2_store(state, command, target, scaled[0])
        return
    target = element(command["res0_prec"], command["opd0_sign"] | command["opd1_sign"])
    require(target.size == I32.size, "integer products have a 32-bit result")
    matmul.mm2_store(state, command, target, _activated(command, total))


def _row_bias(state: State, command: Command, rows: int, columns: int, kind: Element) -> Array:
    """Broadcastable to (rows, columns)."""
    if command["opd2_const"]:
        return state.constant(kind.immediate(command["opd2_addr"])).reshape(1, 1)
    if command.function == MM2.MM2_TT:
        return channel_bias(state, command, rows, kind)
    offset = command["opd2_addr"] % state.chip.local_bytes
    stored = state.memory.local.rows(offset, columns, kind.storage)
    return state.load(kind, stored[np.arange(rows) % state.chip.lanes])


def mm(state: State, command: Command) -> None:
    """Matrices in column blocks, as without these fields."""
    _plain(command)
    require(not command["relu"], "relu in a product of column blocks is not simulated")
    matmul.mm(state, command)


def maximum(state: State, command: Command) -> None:
    """The largest element of each window and, if they are wanted, its places: taps counted row by
    row, of equal elements the first."""
    _plain(command)
    require(not command["relu"], "relu in a pool is not simulated")
    pool.maximum(state, command)
    if command["opd2_addr"] == NOWHERE:
        return
    _, windows = pool.maximum_windows(state, command)
    places = windows.reshape(*windows.shape[:4], -1).argmax(axis=4)
    result = state.eu_aligned(command["opd2_addr"], result_shape(command), I16)
    result.write(places.astype(np.int16))


def window_sums(executor: Executor) -> Executor:
    """Depthwise convolutions and averages; of integers the sums are exact or get a new scale."""

    def run(state: State, command: Command) -> None:
        if element(command["opd0_prec"]).is_float:
            _plain(command)
            require(not command["relu"], "relu in a pool is not simulated")
            executor(state, command)
            return
        total = pool.integer_total(state, command)
        if command["rq"]:
            target, values = _scaled(state, command, total)
        else:
            exact = command["res0_prec"] == Precision.I32
            require(exact, "integer results of fewer than 32 bits need a scale")
            target, values = I32, _activated(command, total)
        result = state.eu_aligned(command["res0_addr"], result_shape(command), target)
        result.write(target.store(values))

    return run


def requantize(state: State, command: Command) -> None:
    """As `requant.requantize`, with tables of two words a channel: multiplier, then shift (a byte)
    and zero point (the upper half)."""
    requantize_with(state, command, _table)


def dequantize(state: State, command: Command) -> None:
    """As `requant.dequantize`, by constants: the scale, then the zero point."""
    require(bool(command["opd1_const"]), "dequantisation by a table is not simulated")
    swapped = {"opd1_addr": command["opd2_addr"], "opd2_addr": command["opd1_addr"]}
    requant.dequantize(state, replace(command, fields={**command.fields, **swapped}))


def _shift_by_bytes(executor: Executor) -> Executor:
    """Shifts by tensors of 8 bits: how the C model reads wider amounts is not known."""

    def run(state: State, command: Command) -> None:
        wide = not command["opd1_const"] and command["opd1_prec"] != Precision.I8
        require(not wide, "shifts by amounts of more than 8 bits are not simulated")
        executor(state, command)

    return run


def _table(state: State, command: Command) -> Parameters:
    _, c, _, _ = result_shape(command)
    table = state.compact(command["opd1_addr"], (1, c, 1, 2), I32)
    zero_type = np.int16 if command["opd2_sign"] else np.uint16
    return [
        (
            view[..., 0:1].astype(np.int64),
            byte_of(view[..., 1:2]),
            (view[..., 1:2] >> 16).astype(zero_type).astype(np.int64),
        )
        for view in table.views
    ]


EXECUTORS: Executors = {
    ("sCONV", CONV.CONV_NORMAL): conv,
    ("sMM", MM.MM_NORMAL): mm,
    **{("sMM2", function): mm2 for function in MM2},
    ("sAR", AR.LOGIC_SHIFT): _shift_by_bytes(arith.EXECUTORS["sAR", AR.LOGIC_SHIFT]),
    ("sAR", AR.ARITH_SHIFT): _shift_by_bytes(arith.EXECUTORS["sAR", AR.ARITH_SHIFT]),
    ("sPorD", PorD.DEPTHWISE): window_sums(pool.depthwise),
    ("sPorD", PorD.AVG_POOL): window_sums(pool.average),
    ("sPorD", PorD.MAX_POOL): maximum,
    ("sRQ_DQ", RQ_DQ.RQ1): requantize,
    ("sRQ_DQ", RQ_DQ.DQ0): dequantize,
}

UNKNOWN = frozenset(
    (
        ("sAR", AR.ROTATE_SHIFT),
        ("sVC", VC.MUL_DHR),
        ("sRQ_DQ", RQ_DQ.DQ1),
    )
)
"""What the C model of the BM1688 does otherwise than that of the BM1684X, and nobody knows how."""
