"""The integer interpreter against plain Python arithmetic."""

from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.quantized.quant_cases import (
    ROUNDING,
    S8,
    U8,
    QuantCase,
    conv,
    interpret,
    product_attributes,
    uniform,
)

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.numerics.integers import (
    dequantize,
    quantize,
    round_half_away,
    shift_right,
)

Array = npt.NDArray[Any]
HALF = Fraction(1, 2)


def half_up(value: Fraction) -> int:
    return floor(value + HALF)


def half_away(value: Fraction) -> int:
    return floor(value + HALF) if value >= 0 else ceil(value - HALF)


def limited(value: int, signed: bool) -> int:
    low, high = (-128, 127) if signed else (0, 255)
    return max(low, min(high, value))


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**61), 2**61), st.integers(-1, 62))
def test_shifts_round_as_fractions_do(value: int, shift: int) -> None:
    if shift < 0 and abs(value) > 2**60:
        return
    exact = Fraction(value) / Fraction(2) ** shift
    for mode, rounding in (("HalfUp", half_up), ("HalfAwayFromZero", half_away)):
        assert int(shift_right(np.array(value), shift, mode)) == rounding(exact)


def test_ties_and_neighbours_of_ties() -> None:
    values = np.array([0.5, -0.5, 1.5, 2.5, 0.49999997, -0.49999997, 8388609.0], np.float32)
    np.testing.assert_array_equal(round_half_away(values), [1, -1, 2, 3, 0, 0, 8388609])


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_quantising_saturates_and_keeps_no_nan(kind: str) -> None:
    x = np.array([0.0, 1e30, -1e30, np.nan, np.inf, 3.0], np.float32)
    with np.errstate(over="ignore"):
        signed = quantize(x, 2.0, kind, np.dtype(np.int8))
        unsigned = quantize(x, 2.0, kind, np.dtype(np.uint8))
    np.testing.assert_array_equal(signed, [0, 127, -128, 0, 127, 2])
    np.testing.assert_array_equal(unsigned, [0, 255, 0, 0, 255, 2])


def test_f16_casts_leave_f16_where_the_scale_does() -> None:
    tiny = 1e-6
    assert float(dequantize(np.array([100], np.int8), tiny, "f16")[0]) == pytest.approx(1e-4, 2e-3)
    np.testing.assert_array_equal(
        quantize(np.array([1e-5], np.float32), tiny, "f16", np.dtype(np.int8)), [10]
    )


def _naive_conv(case: QuantCase, x: Array, stride: int, pad: int, group: int) -> Array:
    """Loops over output elements, with Python integers."""
    w, b = case.weights["y_w"], case.weights["y_b"].reshape(-1)
    line = case.lines[-1]
    factors, shifts = (
        eval(line.split(f"{key} = ")[1].split("]")[0] + "]") for key in ("multiplier", "rshift")
    )
    padded = np.pad(x.astype(int), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oc, ic, kh, kw = w.shape
    size = (padded.shape[2] - kh) // stride + 1
    out = np.zeros((x.shape[0], oc, size, size), int)
    for n, c, i, j in np.ndindex(*out.shape):
        first = c // (oc // group) * ic
        seen = padded[
            n, first : first + ic, i * stride : i * stride + kh, j * stride : j * stride + kw
        ]
        total = int((seen * w[c].astype(int)).sum()) + int(b[c])
        out[n, c, i, j] = half_up(Fraction(total * factors[c], 2 ** shifts[c]))
    return out


@pytest.mark.parametrize("group", [1, 2, 6])
@pytest.mark.parametrize(("source", "target"), [(S8, S8), (U8, U8), (U8, S8)])
def test_convolution(group: int, source: str, target: str) -> None:
    case = QuantCase(seed=group)
    x = case.integers("x", (1, 6, 7, 7), source)
    shapes = ((1, 6, 7, 7), (1, 6, 4, 4))
    conv(case, x, "y", shapes, (3, 3), (2, 2), 1, group, result=target)
    wide = _naive_conv(case, case.inputs["x"], 2, 1, group)
    signed = target == S8
    expected = np.clip(wide, *((-128, 127) if signed else (0, 255)))
    found = interpret(case)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == (np.int8 if signed else np.uint8)


def test_product_with_bias() -> None:
    case = QuantCase()
    x = case.integers("x", (2, 3, 70), U8)
    w, b = case.constants("w", (70, 5), "i8"), case.constants("b", (1, 1, 5), "i32", 5000)
    case.op("tpu.MatMul", [x, w, b, "none", "none"], product_attributes(70), "y", (2, 3, 5), S8)
    left, right = case.inputs["x"].astype(int), case.weights["w"].astype(int)
    total = left @ right + case.weights["b"]
    factor = int(2.0**30 / (128 * np.sqrt(70)))
    scaled = [half_away(Fraction(int(v) * factor, 2**30)) for v in total.ravel()]
    expected = [limited(v, True) for v in scaled]
    np.testing.assert_array_equal(interpret(case).ravel(), expected)


@pytest.mark.parametrize("op", ["tpu.Add", "tpu.Sub"])
def test_sums_round_each_operand(op: str) -> None:
    case = QuantCase()
    a, b = case.integers("a", (1, 4, 5, 5), U8), case.integers("b", (1, 4, 5, 5))
    factors = {"multipliers": "[77, 93]", "rshifts": "[7, 6]", "do_relu": "true"}
    case.op(op, [a, b], factors, "y", (1, 4, 5, 5), U8)
    left = [half_away(Fraction(int(v) * 77, 128)) for v in case.inputs["a"].ravel()]
    right = [half_away(Fraction(int(v) * 93, 64)) for v in case.inputs["b"].ravel()]
    sign = 1 if op == "tpu.Add" else -1
    expected = [limited(p + sign * q, False) for p, q in zip(left, right, strict=True)]
    np.testing.assert_array_equal(interpret(case).ravel(), expected)


def test_products_and_factors() -> None:
    case = QuantCase()
    a, b = case.integers("a", (1, 4, 5, 5)), case.integers("b", (1, 4, 5, 5), U8)
    factor = {"multiplier": "83 : si32", "rshift": "14 : si32"}
    m = case.op("tpu.Mul", [a, b], factor, "m", (1, 4, 5, 5), S8)
    s = case.op(
        "tpu.MulShift",
        [m],
        {"multiplier": "97 : si32", "rshift": "6 : si32"},
        "s",
        (1, 4, 5, 5),
        S8,
    )
    case.op(
        "tpu.AddConst",
        [s],
        {"const_val": "-640.0 : f64", "multiplier": "51 : si32", "rshift": "6 : si32"},
        "y",
        (1, 4, 5, 5),
        S8,
    )

    def expected(x: int, y: int) -> int:
        m = limited(half_away(Fraction(x * y * 83, 2**14)), True)
        s = limited(half_away(Fraction(m * 97, 64)), True)
        return limited(half_away(Fraction(s * 51 - 640, 64)), True)

    pairs = zip(case.inputs["a"].ravel(), case.inputs["b"].ravel(), strict=True)
    wanted = [expected(int(x), int(y)) for x, y in pairs]
    np.testing.assert_array_equal(interpret(case).ravel(), wanted)


@pytest.mark.parametrize("kind", [S8, U8])
def test_pooling(kind: str) -> None:
    window = {"kernel_shape": "[3, 3]", "strides": "[2, 2]", "pads": "[1, 1, 1, 1]"}
    case = QuantCase()
    x = case.integers("x", (1, 4, 9, 9), kind)
    mode = {"pool_mode": "#tpu<pool_mode Max>"}
    case.op("tpu.Pool2D", [x], window | mode, "y", (1, 4, 5, 5), kind)
    low = -128 if kind == S8 else 0
    padded = np.pad(case.inputs["x"], ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=low)
    for i, j in np.ndindex(5, 5):
        seen = padded[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
        np.testing.assert_array_equal(interpret(case)[:, :, i, j], seen.max((2, 3)))
    case = QuantCase()
    x = case.integers("x", (1, 4, 7, 7), kind)
    mean = {
        "kernel_shape": "[7, 7]",
        "strides": "[1, 1]",
        "pads": "[0, 0, 0, 0]",
        "pool_mode": "#tpu<pool_mode Avg>",
        "multiplier": "85 : si32",
        "rshift": "12 : si32",
    }
    case.op("tpu.Pool2D", [x], mean, "y", (1, 4, 1, 1), kind)
    sums = case.inputs["x"].astype(int).sum((2, 3)).ravel()
    wanted = [limited(half_away(Fraction(int(v) * 85, 4096)), kind == S8) for v in sums]
    np.testing.assert_array_equal(interpret(case).ravel(), wanted)


def test_table_counts_negative_indices_from_the_end() -> None:
    case = QuantCase()
    x = case.integers("x", (1, 300, 3))
    t = case.constants("t", (1, 1, 1, 256))
    case.op("tpu.Lut", [x, t], {}, "y", (1, 300, 3), S8)
    table = case.weights["t"].ravel()
    np.testing.assert_array_equal(interpret(case), table[case.inputs["x"]])


def test_casts_there_and_back() -> None:
    case = QuantCase()
    x = case.input("x", (1, 4, 5, 5), 20.0, "f32")
    kind = uniform("i8", 0.25)
    q = case.op(
        "tpu.Cast", [x], {"with_scale": "true", "round_mode": ROUNDING}, "q", (1, 4, 5, 5), kind
    )
    case.op("tpu.Cast", [q], {"with_scale": "true"}, "y", (1, 4, 5, 5), "f16")
    scaled = [half_away(Fraction(float(v)) / Fraction(1, 4)) for v in case.inputs["x"].ravel()]
    wanted = [limited(v, True) * 0.25 for v in scaled]
    np.testing.assert_array_equal(interpret(case).ravel(), wanted)


def test_requantisation_by_channel() -> None:
    case = QuantCase()
    x = case.input("x", (1, 3, 2, 2), kind="f32")
    case.inputs["x"] = np.arange(-6000, 6000, 1000).astype(np.int32).reshape(1, 3, 2, 2)
    case.types["x"] = "tensor<1x3x2x2xsi32>"
    q = case.constants("q", (1, 3, 1, 1, 3), "i32", 1)
    case.weights["q"][...] = np.array([[3, -6, 1], [5, -7, 0], [7, -8, -2]]).reshape(1, 3, 1, 1, 3)
    modes = {"quant_mode": "#tpu<rq_mode MultiplierShift>", "round_mode": ROUNDING}
    case.op("tpu.RequantIntAxis", [x, q], modes, "y", (1, 3, 2, 2), S8)
    wanted = [
        limited(half_away(Fraction(int(v) * m, 2**s)) + z, True)
        for row, (m, s, z) in zip(
            case.inputs["x"].reshape(3, 4), [(3, 6, 1), (5, 7, 0), (7, 8, -2)], strict=True
        )
        for v in row
    ]
    np.testing.assert_array_equal(interpret(case).ravel(), wanted)


def test_what_has_no_meaning_is_refused() -> None:
    case = QuantCase()
    x = case.integers("x", (1, 2, 3), uniform("i8", 0.5)[:-1] + ":3>")
    case.op(
        "tpu.MulShift", [x], {"multiplier": "1 : si32", "rshift": "0 : si32"}, "y", (1, 2, 3), S8
    )
    with pytest.raises(TpuError, match="zero points"):
        interpret(case)
    case = QuantCase()
    x = case.integers("x", (1, 2, 3, 3))
    conv(case, x, "y", ((1, 2, 3, 3), (1, 4, 3, 3)), (1, 1))
    case.lines[-1] = case.lines[-1].replace("rshift = [", "rshift = [3, ")
    with pytest.raises(TpuError, match="one multiplier and rshift each"):
        interpret(case)
