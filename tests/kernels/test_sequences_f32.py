"""Logarithms, trigonometric and hyperbolic functions in f32: error against float64, and cycles."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.sequence_bench import measure

from xdsl_tpu.backend.kernels.sequences import hyperbolic, log, logistic, trigonometric
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.tensor import DType

Array = npt.NDArray[Any]
_LANES_OF_WIDTH = 64 * 32


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, 0)


def _log_sigmoid(x: Array) -> Array:
    return -_softplus(-x)


def _mish(x: Array) -> Array:
    return x * np.tanh(_softplus(x))


class Bound(NamedTuple):
    """A sequence, its function, the range tried and the largest relative error allowed."""

    unary: Unary
    function: Callable[[Array], Array]
    low: float
    high: float
    error: float


BOUNDS = {
    "log near 1": Bound(log.LOG_F32, np.log, 0.9, 1.1, 2e-7),
    "log": Bound(log.LOG_F32, np.log, 1e-30, 1e30, 2e-7),
    "sin": Bound(trigonometric.SIN_F32, np.sin, -10, 10, 2e-7),
    "sin far": Bound(trigonometric.SIN_F32, np.sin, -6000, 6000, 2e-7),
    "cos": Bound(trigonometric.COS_F32, np.cos, -10, 10, 2e-7),
    "cos far": Bound(trigonometric.COS_F32, np.cos, -6000, 6000, 2e-7),
    "tan": Bound(trigonometric.TAN_F32, np.tan, -10, 10, 5e-7),
    "arccos": Bound(trigonometric.ARCCOS_F32, np.arccos, -1, 1, 3e-7),
    "cosh": Bound(hyperbolic.COSH_F32, np.cosh, -80, 80, 4e-6),
    "sinh": Bound(hyperbolic.SINH_F32, np.sinh, -80, 80, 4e-6),
    "sinh near 0": Bound(hyperbolic.SINH_F32, np.sinh, -2, 2, 3e-7),
    "arctanh": Bound(hyperbolic.ARCTANH_F32, np.arctanh, -0.9999, 0.9999, 4e-7),
    "softplus": Bound(hyperbolic.SOFT_PLUS_F32, _softplus, -60, 60, 3e-6),
    "log sigmoid": Bound(hyperbolic.LOG_SIGMOID_F32, _log_sigmoid, -60, 60, 3e-6),
    "mish": Bound(hyperbolic.MISH_F32, _mish, -30, 30, 2e-6),
}


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=list(BOUNDS))
def test_relative_error(bound: Bound) -> None:
    x = np.linspace(bound.low, bound.high, 4 * _LANES_OF_WIDTH).astype(np.float32)
    got = measure(bound.unary, x, DType.F32).values.astype(np.float64)
    expected = bound.function(x.astype(np.float64))
    nonzero = expected != 0
    assert np.abs(got[nonzero] / expected[nonzero] - 1).max() <= bound.error
    assert np.abs(got[~nonzero]).max(initial=0) <= bound.error


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=list(BOUNDS))
def test_cycles(bound: Bound) -> None:
    x = np.full(_LANES_OF_WIDTH, 0.5, np.float32)
    assert measure(bound.unary, x, DType.F32).cycles == bound.unary.cycles


@pytest.mark.parametrize(
    ("unary", "x", "y"),
    [
        (log.LOG_F32, (0, -1, 1), (-np.inf, np.nan, 0)),
        (trigonometric.ARCCOS_F32, (1, -1, 0.5), (0, np.pi, np.pi / 3)),
        (hyperbolic.ARCTANH_F32, (1, -1, 0), (np.inf, -np.inf, 0)),
        (hyperbolic.SINH_F32, (0, -0.0, 1e-30), (0, 0, 1e-30)),
        (hyperbolic.SOFT_PLUS_F32, (-500, 0, 500), (0, np.log(2), 500)),
    ],
    ids=["log", "arccos", "arctanh", "sinh", "softplus"],
)
def test_ends_of_the_range(unary: Unary, x: tuple[float, ...], y: tuple[float, ...]) -> None:
    values = np.resize(np.array(x, np.float32), _LANES_OF_WIDTH)
    got = measure(unary, values, DType.F32).values[:3]
    np.testing.assert_allclose(got, np.array(y, np.float32), rtol=3e-7, atol=1e-30)


def test_a_short_sigmoid() -> None:
    short = logistic.SIGMOID_F32_SHORT
    x = np.linspace(-60, 60, 4 * _LANES_OF_WIDTH).astype(np.float32)
    got = measure(short, x, DType.F32)
    np.testing.assert_allclose(got.values, 1 / (1 + np.exp(-x.astype(float))), rtol=0, atol=3.1e-5)
    assert measure(short, x[:_LANES_OF_WIDTH], DType.F32).cycles == short.cycles
