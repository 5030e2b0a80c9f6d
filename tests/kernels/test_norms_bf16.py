"""Norms along rows in bf16: error against float64, and cycles."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.sequence_bench import Bench, Measured

from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.sequences import norm_bf16
from xdsl_tpu.backend.kernels.sequences.row_room import RowShape
from xdsl_tpu.backend.kernels.sequences.row_set import rows_of
from xdsl_tpu.backend.machine.elements import bfloat16_to_float32, float32_to_bfloat16
from xdsl_tpu.backend.tensor import DType

Array = npt.NDArray[Any]
Shape = tuple[int, int, int, int]
Norm = Callable[..., None]
BF16 = DType.BF16
NORMS: dict[str, Norm] = {"layer": norm_bf16.layer_norm_bf16, "rms": norm_bf16.rms_norm_bf16}


def random(shape: Shape, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def exact(function: Norm, x: Array, epsilon: float, given: Sequence[Array]) -> Array:
    """In float64, of the numbers that bf16 holds."""
    axis = 2 if x.shape[3] == 1 else 3
    y = bfloat16_to_float32(float32_to_bfloat16(x)).astype(np.float64)
    if function is norm_bf16.layer_norm_bf16:
        y = y - y.mean(axis, keepdims=True)
    y = y / np.sqrt((y * y).mean(axis, keepdims=True) + epsilon)
    for operation, vector in zip((np.multiply, np.add), given, strict=False):
        y = operation(y, bfloat16_to_float32(vector).astype(np.float64))
    return y


def run_norm(
    function: Norm, x: Array, epsilon: float = 1e-5, given: int = 0
) -> tuple[Measured, Array, Array]:
    """What was computed, the error of each element, and that in ulps, which near 0 are those of
    1/16."""
    bench = Bench()
    tensor = bench.tensor(float32_to_bfloat16(x), BF16)
    rows = rows_of(tensor, bench.chip)
    along = tensor.shape[3] > 1
    kinds = norm_bf16.norm_scratch_bf16(bench.chip, RowShape(rows.length, along))
    scratch = bench.scratch(kinds, tensor.shape)
    flat = (1, 1, 1, rows.length) if along else (1, 1, rows.length, 1)
    vectors = [float32_to_bfloat16(random(flat, seed)) for seed in (7, 8)][:given]
    lanes = (1, bench.chip.lanes, *flat[2:])
    held = [bench.tensor(np.broadcast_to(v, lanes), BF16) for v in vectors]
    steps = list(zip((Arith.MUL, Arith.ADD), held, strict=False))
    measured = bench.run(
        tensor.shape,
        BF16,
        lambda out: function(
            bench.emitter, rows_of(out, bench.chip), rows, scratch, epsilon, steps
        ),
    )
    y = exact(function, x, epsilon, vectors)
    error = np.abs(bfloat16_to_float32(measured.values).astype(np.float64) - y)
    ulp = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(y), 1 / 16))) - 7)
    return measured, error, error / ulp


CYCLES = {
    ("layer", (1, 448, 96, 1), 0): 335,
    ("layer", (1, 784, 192, 1), 2): 1429,
    ("layer", (1, 56, 8, 96), 2): 477,
    ("rms", (1, 784, 192, 1), 1): 1004,
}


@pytest.mark.parametrize(("name", "shape", "given"), list(CYCLES), ids=str)
def test_cycles(name: str, shape: Shape, given: int) -> None:
    measured, _, _ = run_norm(NORMS[name], random(shape), given=given)
    assert measured.cycles == CYCLES[name, shape, given]


@pytest.mark.parametrize("mean", [0, 3, 30, -300])
@pytest.mark.parametrize("name", list(NORMS))
@pytest.mark.parametrize("shape", [(1, 70, 97, 1), (3, 130, 40, 1), (1, 56, 8, 96)], ids=str)
def test_the_result_is_rounded_once(name: str, shape: Shape, mean: float) -> None:
    _, _, ulps = run_norm(NORMS[name], random(shape) + np.float32(mean))
    assert ulps.max() <= 0.51
    assert np.sqrt((ulps**2).mean()) <= 0.291


@pytest.mark.parametrize("name", list(NORMS))
@pytest.mark.parametrize("given", [1, 2])
def test_weight_and_bias(name: str, given: int) -> None:
    _, error, _ = run_norm(NORMS[name], random((2, 70, 97, 1)), given=given)
    assert error.max() <= 0.024
    assert error.mean() <= 1.7e-3


@pytest.mark.parametrize("name", list(NORMS))
@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1e4, 1e18])
def test_small_and_large_rows(name: str, scale: float) -> None:
    _, error, _ = run_norm(NORMS[name], random((1, 64, 96, 1)) * np.float32(scale))
    assert error.max() <= 0.015


@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e4, 1e15, 1e30])
def test_rows_of_one_number_become_zeros(value: float) -> None:
    """However large: the mean of equal numbers is that number."""
    x = np.full((1, 64, 97, 1), value, np.float32)
    measured, _, _ = run_norm(norm_bf16.layer_norm_bf16, x)
    assert not measured.values.any()


def test_numbers_far_from_zero_are_centred() -> None:
    """Of 256 and its next number the mean is none of bf16."""
    x = np.full((1, 64, 96, 1), 256, np.float32)
    x[:, :, ::3] = 258
    _, _, ulps = run_norm(norm_bf16.layer_norm_bf16, x)
    assert ulps.max() <= 0.51


def test_outliers() -> None:
    x = random((1, 256, 384, 1))
    x[:, :, 5] *= np.float32(100)
    _, error, ulps = run_norm(norm_bf16.layer_norm_bf16, x)
    assert error.max() <= 0.126
    assert ulps.max() <= 0.51


@pytest.mark.parametrize("name", list(NORMS))
def test_a_nan_stays_in_its_row(name: str) -> None:
    x = random((1, 64, 96, 1))
    x[0, 3, 5] = np.nan
    measured, error, _ = run_norm(NORMS[name], x)
    got = bfloat16_to_float32(measured.values)
    assert np.isnan(got[0, 3]).all()
    assert np.nanmax(error) <= 0.03
    assert np.isnan(got).sum() == 96
