"""Functions of bf16 numbers, over all of them: never much more than the rounding to bf16."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.sequence_bench import measure

from xdsl_tpu.backend.kernels.sequences import brief, plain, trigonometric
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.tensor import DType

Array = npt.NDArray[Any]
EVERY = np.arange(1 << 16, dtype=np.uint16)


def _wide(bits: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _sigmoid(x: Array) -> Array:
    tail = np.exp(-np.abs(x))
    return np.where(x > 0, 1.0, tail) / (1 + tail)


def _silu(x: Array) -> Array:
    return x * _sigmoid(x)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _quick_gelu(x: Array) -> Array:
    return x * _sigmoid(1.702 * x)


def _gelu(x: Array) -> Array:
    return x * 0.5 * np.vectorize(math.erfc)(-x / math.sqrt(2))


def _tanh_gelu(x: Array) -> Array:
    cubic = x + 0.044715 * np.clip(x, -1e9, 1e9) ** 3
    return x * _sigmoid(2 * math.sqrt(2 / math.pi) * cubic)


class Bound(NamedTuple):
    """The function, and its largest error: in bf16 ulps where |y| > 1/64, and elsewhere."""

    unary: Unary
    function: Callable[[Array], Array]
    ulps: float
    small: float
    cycles: int


BOUNDS = {
    "sigmoid": Bound(brief.SIGMOID_BF16, _sigmoid, 0.73, 4.1e-5, 36),
    "silu": Bound(brief.SILU_BF16, _silu, 0.69, 4.7e-4, 31),
    "gelu": Bound(brief.GELU_BF16, _gelu, 0.52, 1.3e-4, 31),
    "tanh gelu": Bound(brief.TANH_GELU_BF16, _tanh_gelu, 0.53, 7.2e-5, 31),
    "quick gelu": Bound(brief.QUICK_GELU_BF16, _quick_gelu, 0.83, 8.9e-5, 31),
    "tanh": Bound(brief.TANH_BF16, np.tanh, 0.63, 1.3e-6, 30),
}


@pytest.mark.parametrize(
    ("unary", "function"), [(trigonometric.SIN_16, np.sin), (trigonometric.COS_16, np.cos)]
)
def test_sines_over_every_bf16(unary: Unary, function: Callable[[Array], Array]) -> None:
    """Up to 256 they are off by no more than the rounding to bf16; half an ulp of 1 is 2 ** -9."""
    with np.errstate(all="ignore"):
        measured, x = measure(unary, EVERY, DType.BF16), _wide(EVERY)
        near = np.abs(x) <= 256
        error = np.abs(_wide(measured.values)[near] - function(x[near]))
    assert error.max() <= 2.0**-9 + 4e-5


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=list(BOUNDS))
def test_error_over_every_bf16(bound: Bound) -> None:
    x = _wide(EVERY)
    with np.errstate(all="ignore"):
        measured, expected = measure(bound.unary, EVERY, DType.BF16), bound.function(x)
    got = _wide(measured.values)
    assert measured.cycles == bound.unary.cycles == bound.cycles
    assert np.isnan(got[np.isnan(x)]).all()
    assert got[EVERY == 0x7F80] == expected[EVERY == 0x7F80], "infinity"
    assert abs(got[EVERY == 0xFF80] - bound.function(np.array([-100.0]))) <= bound.small
    finite = np.isfinite(x)
    error, size = np.abs(got[finite] - expected[finite]), np.abs(expected[finite])
    large = size > 1 / 64
    ulp = 2.0 ** (np.floor(np.log2(size[large])) - 7)
    assert (error[large] / ulp).max() <= bound.ulps
    assert error[~large].max() <= bound.small


@pytest.mark.parametrize("name", [name for name in BOUNDS if name != "sigmoid"])
def test_small_numbers_keep_their_digits(name: str) -> None:
    x = _wide(EVERY)
    near = EVERY[(np.abs(x) < 0.01) & (np.abs(x) > 1e-30)]
    expected = BOUNDS[name].function(_wide(near))
    got = _wide(measure(BOUNDS[name].unary, np.resize(near, EVERY.size), DType.BF16).values)
    assert np.abs(got[: near.size] / expected - 1).max() < 5.3e-3


@pytest.mark.parametrize("name", ["abs", "relu", "square"])
def test_exact_functions(name: str) -> None:
    unary, function = {
        "abs": (plain.ABSOLUTE, np.abs),
        "relu": (plain.RELU, _relu),
        "square": (plain.SQUARE, np.square),
    }[name]
    size = np.abs(_wide(EVERY))
    numbers = np.resize(EVERY[(size > 1e-18) & (size < 1e18)], EVERY.size)
    measured = measure(unary, numbers, DType.BF16)
    error = np.abs(_wide(measured.values) / np.maximum(function(_wide(numbers)), 1e-300) - 1)
    assert (error <= (2.0**-8 if name == "square" else 0))[_wide(measured.values) > 0].all()
    assert ((_wide(measured.values) == 0) == (function(_wide(numbers)) == 0)).all()
    assert measured.cycles == unary.cycles == 1
