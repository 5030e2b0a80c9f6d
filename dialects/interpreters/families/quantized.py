"""What ops compute on quantised integers: exactly, with one rounding where a result is scaled.

docs/hardware/quantization.md. Results are saturated to the integers of their type; the
fused relu is a lower limit of 0. Zero points are 0 but where a rule says otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BFloat16Type, Float16Type
from xdsl.ir import Attribute, Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters.call import Call, Rule
from xdsl_tpu.dialects.interpreters.elements import (
    element_type,
    integer_dtype,
    is_absent,
    is_integer,
    uniform_type,
)
from xdsl_tpu.dialects.interpreters.families.movement import concat
from xdsl_tpu.dialects.interpreters.families.quantized_conv import convolution
from xdsl_tpu.dialects.interpreters.numerics.integers import (
    dequantize,
    quantize,
    round_half_away,
    saturate,
    scaled,
)
from xdsl_tpu.dialects.interpreters.numerics.linear import MatMulFlags, matmul
from xdsl_tpu.dialects.interpreters.numerics.pooling import PoolGeometry, max_pool, window_sums
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import bump, is_level
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import soft_ramp as ramp
from xdsl_tpu.dialects.interpreters.registry import Rules
from xdsl_tpu.dialects.quant import zero_point

Array = npt.NDArray[Any]


def finished(call: Call, values: Array, zero_points: bool = False) -> Array:
    """Integers of any size as the op's result: relu, then saturation.

    ValueError when a type among operands and results has a zero point, unless `zero_points` are in
    the values already; and for a relu whose result has one.
    """
    tensors = (*call.op.operands, *call.op.results)
    points = [zero_point(value.type) for value in tensors]
    if any(points) and not zero_points:
        raise ValueError("its types have zero points, which have no semantics here")
    element = element_type(call.op.results[0].type)
    if not is_integer(element):
        raise ValueError(f"quantised operands cannot give elements of {element}")
    if call.has("do_relu") and call.flag("do_relu"):
        if call.number("relu_limit") >= 0:
            raise ValueError("a quantised relu has no limit but its type's (relu_limit)")
        if points[-1]:
            raise ValueError("a quantised relu has no semantics where 0 is another integer")
        values = np.maximum(values, 0)
    return saturate(values, integer_dtype(element))


def _factors(call: Call) -> list[tuple[int, int]]:
    """(multiplier, shift) of each operand."""
    factors, shifts = call.integers("multipliers"), call.integers("rshifts")
    if len(factors) != len(call.values) or len(shifts) != len(call.values):
        raise ValueError("a quantised op needs one of multipliers and rshifts per operand")
    return list(zip(factors, shifts, strict=True))


def _rescaled(call: Call) -> list[Array]:
    """Each operand under the scale of the result, rounded."""
    pairs = zip(call.tensors(), _factors(call), strict=True)
    return [scaled(x, factor, shift, "HalfAwayFromZero") for x, (factor, shift) in pairs]


def add(call: Call) -> Array:
    """Sum of the operands, each multiplied, shifted and rounded first."""
    return finished(call, functools.reduce(np.add, _rescaled(call)))


def subtract(call: Call) -> Array:
    """First minus second, or the other way round, each multiplied, shifted and rounded first."""
    left, right = _rescaled(call)
    return finished(call, right - left if call.flag("is_reverse") else left - right)


def multiply(call: Call) -> Array:
    """The exact product, multiplied, shifted and rounded."""
    product = functools.reduce(np.multiply, [x.astype(np.int64) for x in call.tensors()])
    factor, shift = call.integer("multiplier"), call.integer("rshift")
    return finished(call, scaled(product, factor, shift, "HalfAwayFromZero"))


def multiply_shift(call: Call) -> Array:
    """round(x * multiplier / 2^rshift)."""
    factor, shift = call.integer("multiplier"), call.integer("rshift")
    return finished(call, scaled(call.tensor(), factor, shift, "HalfAwayFromZero"))


def add_constant(call: Call) -> Array:
    """round((x * multiplier + const_val) / 2^rshift)."""
    factor, shift = call.integer("multiplier"), call.integer("rshift")
    total = call.tensor().astype(np.int64) * factor + round(call.number("const_val"))
    return finished(call, scaled(total, 1, shift, "HalfAwayFromZero"))


def extremum(function: Callable[[Any, Any], Array]) -> Rule:
    """The largest or smallest of operands of one scale."""
    return lambda call: finished(call, functools.reduce(function, call.tensors()))


def rectify(call: Call) -> Array:
    """max(x, 0)."""
    if call.number("relu_limit") >= 0:
        raise ValueError("a quantised relu has no limit but its type's (relu_limit)")
    return finished(call, np.maximum(call.tensor(), 0))


def matrix_product(call: Call) -> Array:
    """(input @ right + bias) under the scale of the result; a multiplier per column in `multi`.

    The zero point of the result is added; that of the input is in the bias.
    """
    flags = MatMulFlags(
        call.flag("left_transpose"),
        call.flag("right_transpose"),
        call.flag("output_transpose"),
        call.flag("hdim_is_batch"),
    )
    if call.integer("input_zp") or call.integer("right_zp"):
        raise ValueError("zero points of products (input_zp, right_zp) have no semantics")
    # f64 holds every partial sum of 8-bit products exactly.
    left, right = (x.astype(np.float64) for x in (call.tensor(), call.tensor(1)))
    bias = call.optional(2)
    total = call.shaped(matmul(left, right, bias, flags)).astype(np.int64)
    multi = call.optional(3)
    (factor,) = call.integers("multipliers") if multi is None else (multi.reshape(-1),)
    (shift,) = call.integers("rshifts")
    values = scaled(total, factor, shift, call.text("round_mode"))
    return finished(call, values + zero_point(call.op.results[0].type), zero_points=True)


def _same_zero_points(call: Call) -> None:
    values = (*call.op.operands, *call.op.results)
    if len({zero_point(value.type) for value in values if not is_absent(value.type)}) > 1:
        raise ValueError("integers of different zero points cannot be compared or joined")


def pool(call: Call) -> Array:
    """Max, or a mean as sum * multiplier / 2^rshift, where the factor holds 1 / window."""
    x = call.tensor()
    kernel, strides = call.integers("kernel_shape"), call.integers("strides")
    pads = call.integers("pads") or [0] * (2 * len(kernel))
    ceil = call.has("ceil_mode") and call.flag("ceil_mode")
    geometry = PoolGeometry(kernel, strides or [1] * len(kernel), pads, ceil)
    if call.text("pool_mode") == "Max":
        _same_zero_points(call)
        return finished(call, call.shaped(max_pool(x.astype(np.float32), geometry)), True)
    if any(pads) and not call.flag("count_include_pad"):
        raise ValueError("a quantised mean counts its padding (count_include_pad)")
    sums = call.shaped(window_sums(x.astype(np.int64), geometry))
    factor, shift = call.integer("multiplier"), call.integer("rshift")
    return finished(call, scaled(sums, factor, shift, call.text("round_mode")))


def lookup(call: Call) -> Array:
    """The table's element at each index, counted from the end for negative ones."""
    table = call.tensor(1).reshape(-1)
    return finished(call, table[call.tensor().astype(np.int64) & 0xFF], zero_points=True)


def cast(call: Call) -> Array:
    """Between floats and quantised integers; both ends of integers keep their numbers."""
    source, target = call.op.operands[0].type, call.op.results[0].type
    quantised = uniform_type(target)
    if not call.flag("with_scale"):
        raise ValueError("a cast of quantised numbers needs with_scale")
    if quantised is None:
        before = uniform_type(source)
        assert before is not None
        return dequantize(call.tensor(), before.scale, _float_kind(target), before.zero_point)
    if uniform_type(source) is not None:
        raise ValueError("a cast between quantised types has no semantics; use tpu.MulShift")
    if call.text("round_mode") != "HalfAwayFromZero":
        raise ValueError(
            f"a quantising cast rounds half away from zero, not {call.text('round_mode')}"
        )
    dtype = integer_dtype(quantised.storage)
    kind = _float_kind(source)
    return quantize(call.tensor(), quantised.scale, kind, dtype, quantised.zero_point)


def _float_kind(type_: Attribute) -> str:
    element = element_type(type_)
    if isinstance(element, Float16Type):
        return "f16"
    return "bf16" if isinstance(element, BFloat16Type) else "f32"


def requantize(call: Call) -> Array:
    """round(x * multiplier / 2^rshift)."""
    factor, shift = call.integer("multiplier"), call.integer("rshift")
    return finished(call, scaled(call.tensor(), factor, shift, call.text("round_mode")))


def requantize_axis(call: Call) -> Array:
    """By (multiplier, -shift, zero point) of each channel, in the last dimension of `quant`."""
    x = call.tensor()
    if call.integer("rq_axis") != 1:
        raise ValueError("requantisation along another axis than 1 has no semantics")
    words = call.tensor(1).reshape(-1, 3).astype(np.int64)
    factor, shift, zero = (words[:, i].reshape(-1, *(1,) * (x.ndim - 2)) for i in range(3))
    return finished(call, scaled(x, factor, -shift, call.text("round_mode")) + zero)


def requantize_float(call: Call) -> Array:
    """round(f32(x) * scale + offset)."""
    if call.text("round_mode") != "HalfAwayFromZero":
        raise ValueError(f"round mode {call.text('round_mode')} has no semantics here")
    product = call.tensor().astype(np.float32) * np.float32(call.number("scale"))
    whole = round_half_away(product + np.float32(call.number("offset")))
    return finished(call, whole)


def soft_ramp(call: Call) -> Array:
    """max(v, 0) - p(min(|v|, limit)) of v = x * factor, in f16, then rounded between integers;
    between signed ones of the same steps p alone."""
    factor, limit, scale, unit = map(call.number, ("factor", "limit", "scale", "unit"))
    x, terms = call.tensor(), call.numbers("terms")
    kinds = {element_type(one.type) for one in (call.op.operands[0], call.op.results[0])}
    bytes_ = all(is_integer(one) and integer_dtype(one) == np.int8 for one in kinds)
    if bytes_ and is_level(factor, limit, scale):
        return finished(call, np.maximum(x, 0) - round_half_away(bump(x, limit, terms, unit)))
    value = ramp(x, factor, limit, terms, scale)
    if not is_integer(element_type(call.op.results[0].type)):
        return value.astype(np.float32)
    return finished(call, round_half_away(value))


def joined(call: Call) -> Array:
    """Operands of one scale one after the other."""
    _same_zero_points(call)
    return finished(call, concat(call), zero_points=True)


RULES: Final[Rules] = {
    lookup: (tpu.LutOp,),
    multiply_shift: (tpu.MulShiftOp,),
    requantize: (tpu.RequantIntOp,),
    requantize_axis: (tpu.RequantIntAxisOp,),
    requantize_float: (tpu.RequantFpOp,),
    soft_ramp: (tpu.SoftRampOp,),
}
"""Ops that there are for integers only."""

VARIANTS: Final[Mapping[type[Operation], Rule]] = {
    tpu.AddOp: add,
    tpu.AddConstOp: add_constant,
    tpu.CastOp: cast,
    tpu.ConcatOp: joined,
    tpu.Conv2DOp: convolution,
    tpu.MatMulOp: matrix_product,
    tpu.MaxOp: extremum(np.maximum),
    tpu.MinOp: extremum(np.minimum),
    tpu.MulOp: multiply,
    tpu.Pool1DOp: pool,
    tpu.Pool2DOp: pool,
    tpu.ReluOp: rectify,
    tpu.SubOp: subtract,
}
"""What takes the place of a float rule when operand or result is quantised. Other ops only move
elements, or have no quantised form."""
