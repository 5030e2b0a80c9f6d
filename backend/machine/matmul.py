"""sMM and sMM2: matrix products.

BM1684X instruction reference, sections 2 (matrix layouts), 5.5, 5.6 and 6.2.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine.elements import F32, I16, I32, Array, Element, element
from xdsl_tpu.backend.machine.rounding import shift
from xdsl_tpu.backend.machine.state import Executors, State, first_lane, require
from xdsl_tpu.backend.machine.sums import block_accumulate, parity_accumulate

_NT, _TT = 5, 6
_RELU = 3


def mm2(state: State, command: Command) -> None:
    """Matrices with one row per lane: left (M, K) x right (K, N), or (N, K) transposed.

    Function tt has the left matrix as (K, M) too. Unverified: no stream uses it.
    """
    require(not command["opd0_const"] | command["opd1_const"], "constant matrices not simulated")
    kind0 = element(command["opd0_prec"], command["opd0_sign"])
    kind1 = element(command["opd0_prec"], command["opd1_sign"])
    m, n = command["res0_c"], command["res0_w"]
    transposed = command.function in (_NT, _TT)
    k = command["opd1_w"] if transposed else command["opd1_c"]
    if command.function == _TT:
        left = _rows(state, command["opd0_addr"], (k, m), kind0).T
    else:
        left = _rows(state, command["opd0_addr"], (m, k), kind0)
    right = _rows(state, command["opd1_addr"], (n, k) if transposed else (k, n), kind1)
    if transposed:
        right = right.T
    if kind0.is_float:
        _mm2_float(state, command, kind0, left, right)
    else:
        _mm2_integer(state, command, left, right)


def _rows(state: State, address: int, shape: tuple[int, int], kind: Element) -> Array:
    rows, columns = shape
    placed = first_lane(state.eu_aligned(address, (1, rows, 1, columns), kind))
    return kind.load(placed.read()).reshape(shape)


def _mm2_float(state: State, command: Command, kind: Element, left: Array, right: Array) -> None:
    target = element(command["res0_prec"])
    require(kind is not F32, "sMM2 in f32 is not simulated: what the unit computes is unknown")
    require(target.is_float, "a product of floats has a float result")
    shape = (1, len(left), 1, right.shape[1])
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, target))
    start = np.zeros((1, 1), np.float32)
    if command["res_add"]:
        require(target is F32, "accumulating onto the result is simulated for f32 results only")
        start = result.read()[0, :, 0].copy()
    left, right = left.astype(np.float32), right.astype(np.float32)
    if state.exact:
        block = state.chip.cube_channels[kind.size]
        product = block_accumulate(start, left, right, block)
    else:
        product = left @ right
        if command["res_add"]:
            product += start
    result.write(target.store(product)[None, :, None])


def _mm2_integer(state: State, command: Command, left: Array, right: Array) -> None:
    """Exact; opd2 is the zero point of the right matrix."""
    require(left.dtype.itemsize == 1, "integer products are simulated for 8-bit operands")
    require(not command["res_add"], "accumulating integers is not simulated")
    zero_point = element(command["opd0_prec"], command["opd1_sign"]).immediate(command["opd2_addr"])
    require(bool(command["opd2_const"]), "the zero point (opd2) must be a constant")
    signed = command["opd0_sign"] | command["opd1_sign"]
    target = element(command["res0_prec"], signed)
    require(target.size == I32.size, "integer products have a 32-bit result")
    shape = (1, len(left), 1, right.shape[1])
    product = left.astype(np.float64) @ (right.astype(np.float64) - float(zero_point))
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, target))
    result.write(product.astype(target.storage)[None, :, None])


def mm(state: State, command: Command) -> None:
    """Matrices in column blocks spread over the lanes; f32 with bias, or 8-bit integers."""
    left, right, kind0 = _mm_operands(state, command)
    if kind0 is F32:
        _mm_float(state, command, left, right)
        return
    require(not command["opd3_addr"], "sMM with a right shift is not simulated")
    _write_blocks(state, command, _mm_integer(command, kind0, left, right).astype(np.int32), I32)


def _mm_integer(command: Command, kind: Element, left: Array, right: Array) -> Array:
    """Exact; f64 holds every partial sum of 8-bit products."""
    require(kind.size == 1, "sMM is simulated for f32 and 8-bit integers")
    require(not command["res_add"], "accumulating integers is not simulated")
    return left.astype(np.float64) @ right.astype(np.float64)


def mm_requantized(state: State, command: Command) -> None:
    """8-bit matrices: saturate(rshift(product + bias, opd3_addr)), with relu in function 3.

    Unverified: operands and shift as in the form's operand table. The bias is one i16 per
    column, in blocks like the right matrix; the rounding mode is in `opd2_n_str`.
    """
    left, right, kind = _mm_operands(state, command)
    total = _mm_integer(command, kind, left, right).astype(np.int64)
    blocks, width = command["res0_c"], command["res0_w"]
    if command["opd2_const"]:
        total += I16.immediate(command["opd2_addr"]).astype(np.int64)
    else:
        total += _blocks(state, command["opd2_addr"], (1, blocks, width), I16).astype(np.int64)
    signed = command["opd0_sign"] | command["opd1_sign"]
    target = element(command["res0_prec"], signed)
    require(not target.is_float, "a requantised product is an integer")
    amount = np.asarray(-(command["opd3_addr"] & 0xFF))
    limits = np.iinfo(target.storage)
    low = 0 if command.function == _RELU else int(limits.min)
    values = shift(total, amount, command["opd2_n_str"], low, int(limits.max))
    _write_blocks(state, command, target.store(values), target)


def _mm_operands(state: State, command: Command) -> tuple[Array, Array, Element]:
    """Left and right matrix, and the element type of the left one."""
    require(not command["opd0_const"], "a constant left matrix is not simulated")
    kind0 = element(command["opd0_prec"], command["opd0_sign"])
    kind1 = element(command["opd0_prec"], command["opd1_sign"])
    left = _blocks(state, command["opd0_addr"], _left_shape(command), kind0)
    columns = command["opd0_w"] * (command["opd0_c"] - 1) + command["opd1_w"]
    left = left[:, :columns]
    if command["left_tran"]:
        left = left.T
    blocks, width = command["res0_c"], command["res0_w"]
    right = _blocks(state, command["opd1_addr"], (left.shape[1], blocks, width), kind1)
    return left, right, kind0


def _left_shape(command: Command) -> tuple[int, int, int]:
    return command["opd0_n"], command["opd0_c"], command["opd0_w"]


def _blocks(state: State, address: int, shape: tuple[int, int, int], kind: Element) -> Array:
    """(rows, blocks, width) in local memory as a matrix (rows, blocks * width)."""
    rows, blocks, width = shape
    placed = first_lane(state.eu_aligned(address, (rows, blocks, 1, width), kind))
    return kind.load(placed.read()).reshape(rows, blocks * width)


def _write_blocks(state: State, command: Command, product: Array, kind: Element) -> None:
    shape = (len(product), command["res0_c"], 1, command["res0_w"])
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, kind))
    result.write(product.reshape(shape))


def _mm_float(state: State, command: Command, left: Array, right: Array) -> None:
    blocks, width = command["res0_c"], command["res0_w"]
    if command["opd2_const"]:
        first = [F32.immediate(command["opd2_addr"]).reshape(1, 1)]
    else:
        first = [_blocks(state, command["opd2_addr"], (1, blocks, width), F32)]
    if command["res_add"]:
        first.append(_blocks(state, command["res0_addr"], (len(left), blocks, width), F32))
    product = parity_accumulate(first, left, right) if state.exact else sum(first, left @ right)
    _write_blocks(state, command, product, F32)


EXECUTORS: Executors = {
    ("sMM", 1): mm,
    ("sMM", 2): mm_requantized,
    ("sMM", 3): mm_requantized,
    ("sMM2", 4): mm2,
    ("sMM2", 5): mm2,
    ("sMM2", 6): mm2,
}
