"""sMM and sMM2: matrix products.

docs/hardware/machine.md#matrices, docs/hardware/instructions.md#smm,
docs/hardware/instructions.md#smm2.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import MM, MM2, Precision, Rounding
from xdsl_tpu.backend.machine.convert import convert
from xdsl_tpu.backend.machine.elements import (
    BF16,
    F32,
    I16,
    I32,
    Array,
    Element,
    element,
    element_or_int4,
    flushed,
    widened,
)
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.rounding import shift
from xdsl_tpu.backend.machine.state import Executors, State, first_lane, require
from xdsl_tpu.backend.machine.sums import block_accumulate, parity_accumulate


def mm2(state: State, command: Command) -> None:
    """Matrices with one row per lane: opd0 (M, K) x opd1 (K, N), or (N, K) transposed.

    Function tt transposes both and the result, which is opd1 (M, K) x opd0 (K, N). The bits of
    int16 matrices are taken for bf16. Unverified: int4.
    """
    kind, left, right = mm2_operands(state, command)
    if kind.is_float:
        target, sums = mm2_floats(state, command, kind, (left, right))
        mm2_write(state, command, target, sums)
    else:
        _mm2_integer(state, command, left, right)


def mm2_operands(state: State, command: Command) -> tuple[Element, Array, Array]:
    """The type of opd0, and the matrices in the order in which they are multiplied."""
    require(not command["opd0_const"] | command["opd1_const"], "constant matrices not simulated")
    kind0 = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    kind1 = element_or_int4(command["opd0_prec"], command["opd1_sign"])
    if command["opd0_prec"] == Precision.I16:
        kind0 = kind1 = BF16
    m, n = command["res0_c"], command["res0_w"]
    k = command["opd1_c"] if command.function == MM2.MM2_NN else command["opd1_w"]
    shapes: dict[int, tuple[tuple[int, int], tuple[int, int]]] = {
        MM2.MM2_NN: ((m, k), (k, n)),
        MM2.MM2_NT: ((m, k), (n, k)),
        MM2.MM2_TT: ((k, n), (m, k)),
    }
    shape0, shape1 = shapes[command.function]
    left = _rows(state, command["opd0_addr"], shape0, kind0)
    right = _rows(state, command["opd1_addr"], shape1, kind1)
    if kind0 is F32:
        left, right = _half_bits(left), _half_bits(right)
    if command.function == MM2.MM2_NT:
        right = right.T
    if command.function == MM2.MM2_TT:
        left, right = right, left
    return kind0, left, right


def _rows(state: State, address: int, shape: tuple[int, int], kind: Element) -> Array:
    rows, columns = shape
    stored = first_lane(state.eu_aligned(address, (1, rows, 1, columns), kind)).read()
    values = stored if kind is F32 else state.load(kind, stored)  # what is misread is bits
    return values.reshape(shape)


def mm2_floats(
    state: State,
    command: Command,
    kind: Element,
    matrices: tuple[Array, Array],
    bias: Array | None = None,
) -> tuple[Element, Array]:
    """The type of the result, and the sums in f32."""
    left, right = (widened(matrix).astype(np.float32, copy=False) for matrix in matrices)
    target = element(command["res0_prec"])
    if command["opd0_prec"] == Precision.I16:
        require(target is I16, "a product of int16 matrices has an int16 result")
        target = BF16
    require(target.is_float, "a product of floats has a float result")
    start = np.zeros((1, 1), np.float32) if bias is None else bias
    if command["res_add"]:
        require(target is F32, "accumulating onto the result is simulated for f32 results only")
        start = start + _mm2_result(state, command, left, right, target).read()[0, :, 0]
    misread = kind is F32 or command["opd0_prec"] == Precision.I16
    if state.exact or misread:  # of random halves no tolerance could be stated
        block = state.chip.cube_channels[BF16.size if kind is F32 else kind.size]
        return target, block_accumulate(start, left, right, block)
    return target, left @ right + start


def mm2_write(state: State, command: Command, target: Element, sums: Array) -> None:
    """Store the sums (M, N) of floats, rounded to the type of the result."""
    stored = sums if target is F32 else convert(sums, F32, target, 0)
    shape = (1, len(sums), 1, sums.shape[1])
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, target))
    result.write(stored[None, :, None])


def _mm2_result(
    state: State, command: Command, left: Array, right: Array, target: Element
) -> Placed:
    shape = (1, len(left), 1, right.shape[1])
    return first_lane(state.eu_aligned(command["res0_addr"], shape, target))


def _half_bits(matrix: Array) -> Array:
    """What the chip's C model multiplies for an f32 matrix: the wrong numbers.

    The matrix is gathered row by row as f32, then read as bf16: of the 2 * K * N halves, low ones
    first, the first K * N become the operand.
    """
    halves = np.ascontiguousarray(matrix).view(np.uint16).reshape(-1)
    return flushed(BF16.load(halves[: matrix.size])).reshape(matrix.shape)


def _mm2_integer(state: State, command: Command, left: Array, right: Array) -> None:
    """Exact; opd2 is the zero point of opd1, which is the left matrix of function tt."""
    point = element_or_int4(command["opd0_prec"], command["opd1_sign"])
    zero_point = point.immediate(command["opd2_addr"])
    require(bool(command["opd2_const"]), "the zero point (opd2) must be a constant")
    signed = command["opd0_sign"] | command["opd1_sign"]
    target = element(command["res0_prec"], signed)
    require(target.size == I32.size, "integer products have a 32-bit result")
    mm2_store(state, command, target, mm2_integers(command, left, right, zero_point))


def mm2_integers(command: Command, left: Array, right: Array, zero_point: Array) -> Array:
    """Exact sums of products (M, N) in f64; `zero_point` is that of opd1."""
    require(left.dtype.itemsize == 1, "integer products are simulated for 4-bit and 8-bit operands")
    require(not command["res_add"], "accumulating integers is not simulated")
    left, right = left.astype(np.float64), right.astype(np.float64)
    if command.function == MM2.MM2_TT:
        left -= float(zero_point)
    else:
        right -= float(zero_point)
    return left @ right


def mm2_store(state: State, command: Command, target: Element, values: Array) -> None:
    """Store integers (M, N)."""
    rows, columns = values.shape
    shape = (1, rows, 1, columns)
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, target))
    result.write(values.astype(target.storage)[None, :, None])


def mm(state: State, command: Command) -> None:
    """Matrices in column blocks spread over the lanes; f32 with bias, or integers.

    Products of int16 wrap to 32 bits. Unverified: int4. Integer products are not shifted: the
    shift in opd3_addr is that of functions 2 and 3.
    """
    left, right, kind0 = _mm_operands(state, command)
    if kind0 is F32:
        _mm_float(state, command, left, right)
        return
    require(
        element(command["res0_prec"]) is I32, "integer products of mm_normal have a 32-bit result"
    )
    product = _mm_integer(command, kind0, left, right).astype(np.int64)
    _write_blocks(state, command, product.astype(np.int32), I32)


def _mm_integer(command: Command, kind: Element, left: Array, right: Array) -> Array:
    """Exact; f64 holds every partial sum of 16-bit products."""
    requirement = "sMM is simulated for f32 and integers of 4, 8 and (function 1) 16 bits"
    require(not kind.is_float and kind.size <= 2 - (command.function != MM.MM_NORMAL), requirement)
    require(not command["res_add"], "accumulating integers is not simulated")
    return left.astype(np.float64) @ right.astype(np.float64)


def mm_requantized(state: State, command: Command) -> None:
    """8-bit matrices: saturate(rshift(product + bias, opd3_addr bits 8..15)), rounded half up.

    The bias is one 16-bit number per column, signed by `opd2_sign`, in blocks like the right
    matrix. Function 2 gives a signed result, function 3 (relu) an unsigned one. Unverified: int4.
    """
    left, right, kind = _mm_operands(state, command)
    total = _mm_integer(command, kind, left, right).astype(np.int64)
    blocks, width = command["res0_c"], command["res0_w"]
    bias_kind = element(Precision.I16, command["opd2_sign"])
    if command["opd2_const"]:
        total += bias_kind.immediate(command["opd2_addr"]).astype(np.int64)
    else:
        bias = _blocks(state, command["opd2_addr"], (1, blocks, width), bias_kind)
        total += bias.astype(np.int64)
    target = element(command["res0_prec"], int(command.function != MM.MM_WRQ_RELU))
    require(not target.is_float, "a requantised product is an integer")
    amount = np.asarray(-(command["opd3_addr"] >> 8 & 0xFF))
    limits = np.iinfo(target.storage)
    values = shift(total, amount, Rounding.HALF_UP, int(limits.min), int(limits.max))
    _write_blocks(state, command, target.store(values), target)


def _mm_operands(state: State, command: Command) -> tuple[Array, Array, Element]:
    """Left and right matrix, and the element type of the left one."""
    require(not command["opd0_const"], "a constant left matrix is not simulated")
    kind0 = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    kind1 = element_or_int4(command["opd0_prec"], command["opd1_sign"])
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
    return state.load(kind, placed.read()).reshape(rows, blocks * width)


def _write_blocks(state: State, command: Command, product: Array, kind: Element) -> None:
    shape = (len(product), command["res0_c"], 1, command["res0_w"])
    result = first_lane(state.eu_aligned(command["res0_addr"], shape, kind))
    result.write(product.reshape(shape))


def _mm_float(state: State, command: Command, left: Array, right: Array) -> None:
    blocks, width = command["res0_c"], command["res0_w"]
    if command["opd2_const"]:
        first = [state.constant(F32.immediate(command["opd2_addr"])).reshape(1, 1)]
    else:
        first = [_blocks(state, command["opd2_addr"], (1, blocks, width), F32)]
    if command["res_add"]:
        first.append(_blocks(state, command["res0_addr"], (len(left), blocks, width), F32))
    product = parity_accumulate(first, left, right) if state.exact else sum(first, left @ right)
    _write_blocks(state, command, product, F32)


EXECUTORS: Executors = {
    ("sMM", MM.MM_NORMAL): mm,
    ("sMM", MM.MM_WRQ): mm_requantized,
    ("sMM", MM.MM_WRQ_RELU): mm_requantized,
    ("sMM2", MM2.MM2_NN): mm2,
    ("sMM2", MM2.MM2_NT): mm2,
    ("sMM2", MM2.MM2_TT): mm2,
}
