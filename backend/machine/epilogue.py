"""sCONV, sMM2, sMM, sPorD and sRQ_DQ where a command does more than its product: bias, relu, places
of maxima (docs/hardware/bm1688.md).
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import CONV, MM, MM2, RQ_DQ, PorD
from xdsl_tpu.backend.machine import matmul, pool
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


def _refusing(executor: Executor) -> Executor:
    def run(state: State, command: Command) -> None:
        _plain(command)
        require(not command["relu"], "relu in a pool is not simulated")
        executor(state, command)

    return run


def requantize(state: State, command: Command) -> None:
    """As `requant.requantize`, with tables of two words a channel: multiplier, then shift (a byte)
    and zero point (the upper half)."""
    requantize_with(state, command, _table)


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
    ("sPorD", PorD.DEPTHWISE): _refusing(pool.depthwise),
    ("sPorD", PorD.AVG_POOL): _refusing(pool.average),
    ("sPorD", PorD.MAX_POOL): maximum,
    ("sRQ_DQ", RQ_DQ.RQ1): requantize,
}
