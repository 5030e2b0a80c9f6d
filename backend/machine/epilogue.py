"""sCONV, sMM2, sMM, sPorD and sRQ_DQ where a command does more than its product: bias, relu, places
of maxima (docs/hardware/bm1688.md).
"""

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
    write_sums,
)
from xdsl_tpu.backend.machine.elements import (
    F32,
    I16,
    I32,
    Array,
    element,
    element_or_int4,
)
from xdsl_tpu.backend.machine.requant import Parameters, byte_of, requantize_with
from xdsl_tpu.backend.machine.state import Executor, Executors, State, require, result_shape

NOWHERE = 0xFFFF_FFFF
"""The address of places of maxima that nobody wants."""


def _plain(command: Command) -> None:
    """Refuse what no recording covers."""
    require(not command["rq"], "requantisation in the command of a product is not simulated")


def _activated(command: Command, values: Array) -> Array:
    """The sums before they are rounded, without what is negative if the command says so."""
    if not command["relu"]:
        return values
    return np.where(values > 0, values, np.zeros((), values.dtype))


def conv(state: State, command: Command) -> None:
    """Convolution of floats (f32 bias) or integers (i32 bias), then relu if asked for."""
    _plain(command)
    kind = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    dtype = np.dtype(np.float32 if kind.is_float else np.float64)
    parts = list(parts_of(state, command, kind, dtype, pad_value(command, kind)))
    if kind.is_float:
        target, sums = float_sums(state, command, kind, parts)
    else:
        bias = channel_bias(state, command, command["res0_c"], I32)
        target, sums = integer_sums(state, command, kind, parts, bias.astype(np.int64))
    write_sums(state, command, target, _activated(command, sums))


def mm2(state: State, command: Command) -> None:
    """Matrices of floats with one row per lane, plus a bias, then relu if asked for.

    The bias is one f32 for each column, which every lane has of its own; of a transposed product
    (function tt) one for each row.
    """
    _plain(command)
    kind, left, right = matmul.mm2_operands(state, command)
    require(kind.is_float, "products of integer matrices are not simulated")
    bias = _row_bias(state, command, len(left), right.shape[1])
    target, sums = matmul.mm2_floats(state, command, kind, (left, right), bias)
    matmul.mm2_write(state, command, target, _activated(command, sums))


def _row_bias(state: State, command: Command, rows: int, columns: int) -> Array:
    """Broadcastable to (rows, columns)."""
    if command["opd2_const"]:
        return state.constant(F32.immediate(command["opd2_addr"])).reshape(1, 1)
    if command.function == MM2.MM2_TT:
        return channel_bias(state, command, rows)
    offset = command["opd2_addr"] % state.chip.local_bytes
    stored = state.memory.local.rows(offset, columns, F32.storage)
    return state.load(F32, stored[np.arange(rows) % state.chip.lanes])


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
    """Depthwise convolutions and averages: of integers exact 32-bit sums only, as what makes fewer
    bits of them is in registers."""

    def run(state: State, command: Command) -> None:
        _plain(command)
        require(not command["relu"], "relu in a pool is not simulated")
        exact = element(command["opd0_prec"]).is_float or command["res0_prec"] == Precision.I32
        require(exact, "integer results of fewer than 32 bits are not simulated")
        executor(state, command)

    return run


def requantize(state: State, command: Command) -> None:
    """As `requant.requantize`, with tables of two words a channel: multiplier, then shift (a byte)
    and zero point (the upper half)."""
    require(not command["opd1_const"], "requantisation by constants is not simulated")
    requantize_with(state, command, _table)


def dequantize(state: State, command: Command) -> None:
    """As `requant.dequantize`, by constants."""
    require(bool(command["opd1_const"]), "dequantisation by a table is not simulated")
    requant.dequantize(state, command)


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
