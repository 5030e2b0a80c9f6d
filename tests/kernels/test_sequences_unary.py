"""Functions of one tensor: error against float64 over all f16 numbers of a range, and cycles.

The bounds are what a bit-true emulation of the sequences gave, with a little slack.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.sequence_bench import measure

from xdsl_tpu.backend.kernels.sequences import (
    exp,
    gelu,
    linear_units,
    logistic,
    plain,
    trigonometric,
)
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.tensor import DType

Array = npt.NDArray[Any]
_LANES_OF_WIDTH = 64 * 32


def _erf(x: Array) -> Array:
    return np.vectorize(math.erf)(x)


def _gelu(x: Array) -> Array:
    return x * 0.5 * (1 + _erf(x / math.sqrt(2)))


def _tanh_gelu(x: Array) -> Array:
    return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _silu(x: Array) -> Array:
    return x * _sigmoid(x)


def _quick_gelu(x: Array) -> Array:
    return x * _sigmoid(1.702 * x)


def _elu(x: Array) -> Array:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _mish(x: Array) -> Array:
    power = np.exp(np.minimum(x, 30))
    w = power * (power + 2)
    return x * w / (w + 2)


def _hard_swish(x: Array) -> Array:
    return x * np.clip(x + 3, 0, 6) / 6


class Bound(NamedTuple):
    """The function, the largest |x| tried, and what the error may be at most."""

    unary: Unary
    function: Callable[[Array], Array]
    farthest: float
    error: float
    cycles: int
    left: float = 1.0
    """Largest error for x < -2.5."""
    ulps: float = 1e9
    """Largest error in f16 ulps where |y| >= 1/16."""


BOUNDS = {
    "gelu": Bound(gelu.GELU_F16, _gelu, 12, 1.11e-3, 13, 1.6e-4, 7.6),
    "gelu close": Bound(gelu.GELU_F16_CLOSE, _gelu, 12, 9.8e-4, 30, 5.1e-5, 0.86),
    "tanh gelu": Bound(gelu.TANH_GELU_F16, _tanh_gelu, 12, 1.06e-3, 13, 1.2e-4, 8.0),
    "quick gelu": Bound(gelu.QUICK_GELU_F16, _quick_gelu, 12, 2e-3, 14, 8e-4),
    "silu": Bound(logistic.SILU_F16, _silu, 12, 2.7e-3, 14, 9e-4),
    "silu close": Bound(logistic.SILU_F16_CLOSE, _silu, 12, 2.7e-3, 27, 2.3e-4, 2.7),
    "hard swish": Bound(plain.HARD_SWISH_F16, _hard_swish, 12, 1.9e-3, 5, 5e-4, 8.1),
    "elu": Bound(linear_units.ELU_F16, _elu, 12, 1.1e-3, 12, 1.1e-3, 3.4),
    "mish": Bound(linear_units.MISH_F16, _mish, 12, 2e-3, 24, 9e-4),
    "sigmoid": Bound(logistic.SIGMOID_F16, _sigmoid, 60, 1.2e-3, 13, 3.1e-4),
    "tanh": Bound(logistic.TANH_F16, np.tanh, 60, 1.3e-3, 23, 6e-4, 2.7),
}


def f16_numbers(largest: float) -> Array:
    """Every f16 with 2 ** -8 < |x| <= largest, repeated at the end to whole EU widths."""
    numbers = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    size = np.abs(numbers.astype(np.float64))
    chosen = numbers[(size > 2.0**-8) & (size <= largest)]
    return np.resize(chosen, -(-chosen.size // _LANES_OF_WIDTH) * _LANES_OF_WIDTH)


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=list(BOUNDS))
def test_error_over_every_f16(bound: Bound) -> None:
    x = f16_numbers(bound.farthest)
    measured = measure(bound.unary, x)
    expected = bound.function(x.astype(np.float64))
    error = np.abs(measured.values.astype(np.float64) - expected)
    assert error.max() <= bound.error
    assert error[x < -2.5].max() <= bound.left
    ulp = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(expected), 2.0**-14))) - 10)
    assert (error / ulp)[np.abs(expected) >= 1 / 16].max() <= bound.ulps
    assert measured.cycles == bound.unary.cycles == bound.cycles


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", list(BOUNDS))
def test_errors_do_not_add_up_over_layers(name: str, spread: float) -> None:
    """On normal numbers results are neither too large nor too small as a whole."""
    bound = BOUNDS[name]
    x = np.random.default_rng(0).normal(0, spread, 8 * _LANES_OF_WIDTH).astype(np.float16)
    expected = bound.function(x.astype(np.float64))
    error = measure(bound.unary, x).values - expected
    assert abs(np.vdot(error, expected)) < 1.3e-4 * np.vdot(expected, expected)


TURNS = {"sin": (trigonometric.SIN_16, np.sin), "cos": (trigonometric.COS_16, np.cos)}


@pytest.mark.parametrize("name", list(TURNS))
@pytest.mark.parametrize(("farthest", "error"), [(64, 2.6e-4), (1024, 2.9e-4), (65504, 7e-3)])
def test_sines_over_every_f16(name: str, farthest: float, error: float) -> None:
    """Half an ulp of 1 is 2.44e-4; a turn is known as exactly as f32 has it."""
    unary, function = TURNS[name]
    x = f16_numbers(farthest)
    measured = measure(unary, x)
    expected = function(x.astype(np.float64))
    assert np.abs(measured.values.astype(np.float64) - expected).max() <= error
    assert measured.cycles == unary.cycles


@pytest.mark.parametrize("name", list(TURNS))
def test_ends_of_the_range_of_sines(name: str) -> None:
    unary, _ = TURNS[name]
    ends = np.array([-np.inf, np.inf, np.nan, 0.0, -0.0, 6e-8], np.float16)
    got = measure(unary, np.resize(ends, _LANES_OF_WIDTH)).values[: ends.size]
    assert np.isnan(got[:3]).all()
    assert np.array_equal(got[3:], np.sin(ends[3:]) if name == "sin" else np.ones(3))


def test_small_arguments_of_sines_keep_their_digits() -> None:
    x = f16_numbers(0.5)
    relative = np.abs(measure(trigonometric.SIN_16, x).values / np.sin(x.astype(np.float64)) - 1)
    assert relative.max() < 5e-4


def test_small_arguments_of_tanh_keep_their_digits() -> None:
    x = f16_numbers(0.6)
    expected = np.tanh(x.astype(np.float64))
    relative = np.abs(measure(logistic.TANH_F16, x).values / expected - 1)
    assert relative.max() < 2e-3


def test_small_arguments_of_elu_keep_their_digits() -> None:
    x = f16_numbers(1)
    x = np.resize(x[x < 0], x.size)
    relative = np.abs(measure(linear_units.ELU_F16, x).values / _elu(x.astype(np.float64)) - 1)
    assert relative.max() < 2.4e-3


@pytest.mark.parametrize("name", [name for name in BOUNDS if "hard" not in name])
def test_the_ends_of_the_number_range(name: str) -> None:
    bound = BOUNDS[name]
    ends = np.array([-np.inf, -65504, -0.0, 0.0, 6e-8, 65504, np.inf, np.nan], np.float16)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = bound.function(ends.astype(np.float64))
    expected[0] = bound.function(np.array([-100.0]))[0]
    got = measure(bound.unary, np.resize(ends, _LANES_OF_WIDTH)).values[: ends.size]
    finite = np.isfinite(expected)
    assert np.abs(got[finite] - expected[finite]).max() <= bound.error * 1.01
    assert np.array_equal(got[-2], np.float16(expected[-2]))
    assert np.isnan(got[-1])


@pytest.mark.parametrize(
    ("unary", "function", "error", "cycles"),
    [
        (gelu.GELU_F32, _gelu, 4.9e-7, 42),
        (gelu.TANH_GELU_F32, _tanh_gelu, 5e-7, 38),
    ],
    ids=["gelu", "tanh gelu"],
)
def test_f32_forms(
    unary: Unary, function: Callable[[Array], Array], error: float, cycles: int
) -> None:
    x = np.linspace(-12, 12, 16 * _LANES_OF_WIDTH).astype(np.float32)
    measured = measure(unary, x, DType.F32)
    assert np.abs(measured.values - function(x.astype(np.float64))).max() <= error
    assert measured.cycles == unary.cycles == cycles


def test_exp_has_a_small_relative_error() -> None:
    x = f16_numbers(11.08)
    measured = measure(exp.EXP_F16, x)
    expected = np.exp(x.astype(np.float64))
    error = np.abs(measured.values.astype(np.float64) - expected)
    assert (error / expected)[expected > 2.0**-14].max() <= 1.6e-3
    assert error[x < 0].max() <= 1.3e-3
    assert measured.cycles == exp.EXP_F16.cycles == 16


def test_exp_below_and_above_the_f16_range() -> None:
    x = np.resize(np.array([-np.inf, -60000, -11, 12, 60000, np.inf], np.float16), _LANES_OF_WIDTH)
    got = measure(exp.EXP_F16, x).values[:6]
    assert np.array_equal(got, np.array([0, 0, 0, np.inf, np.inf, np.inf], np.float16))


@pytest.mark.parametrize(
    ("unary", "function"), [(plain.ABSOLUTE, np.abs), (plain.SQUARE, np.square)]
)
def test_exact_functions(unary: Unary, function: Callable[[Array], Array]) -> None:
    x = f16_numbers(200)
    measured = measure(unary, x)
    assert np.array_equal(measured.values, function(x.astype(np.float64)).astype(np.float16))
    assert measured.cycles == unary.cycles == 1
