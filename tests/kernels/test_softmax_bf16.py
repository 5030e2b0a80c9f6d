"""Powers of two and softmax along rows in bf16: error against float64, and cycles."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.sequence_bench import Bench, Measured

from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.sequences import softmax_bf16
from xdsl_tpu.backend.kernels.sequences.exp import EXP2_4, LOG2_E
from xdsl_tpu.backend.kernels.sequences.exp_bf16 import exp2_bf16, narrowed
from xdsl_tpu.backend.kernels.sequences.row_room import RowShape
from xdsl_tpu.backend.machine.elements import bfloat16_to_float32, float32_to_bfloat16
from xdsl_tpu.backend.tensor import DType

Array = npt.NDArray[Any]
Shape = tuple[int, int, int, int]
BF16, F16 = DType.BF16, DType.F16


def random(shape: Shape, scale: float = 1.0, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def test_powers_of_all_f16_numbers() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    s = np.where(bits >> 15 == 1, bits, 0x8000 | bits).view(np.float16).reshape(1, 64, 1, -1)
    bench = Bench()
    x = bench.tensor(s, F16)
    scratch = [bench.memory.aligned((1, 64, 1, 1024), F16) for _ in range(3)]
    table = bench.table(EXP2_4, F16)
    e = bench.emitter

    def build(out: Any) -> None:
        power = exp2_bf16(e, x, scratch, table)
        e.arith(Arith.MUL, out, narrowed(e, power.free[0], power.mantissa), power.scale)

    measured = bench.run((1, 64, 1, 1024), BF16, build)
    got = bfloat16_to_float32(measured.values).astype(np.float64)
    exponents = s.astype(np.float64)
    normal = exponents >= -126
    error = np.abs(got / 2.0 ** np.where(normal, exponents, 0) - 1)
    assert error[normal].max() <= 2**-8 + 7.5e-4
    assert not got[~normal & ~(exponents > -127)].any(), "infinities and NaN too"
    assert measured.cycles == 11 * 1024 // 32


def run_softmax(x: Array, scale: float = LOG2_E) -> tuple[Measured, Array, Array]:
    """What was computed, as float64, and what it should be."""
    bench = Bench()
    axis = 2 if x.shape[3] == 1 else 3
    bits = float32_to_bfloat16(x)
    tensor = bench.tensor(bits, BF16)
    shape = RowShape(x.shape[axis], tensor.shape[3] > 1)
    kinds = softmax_bf16.softmax_scratch_bf16(bench.chip, shape)
    scratch, table = bench.scratch(kinds, tensor.shape), bench.table(EXP2_4, F16)
    e = bench.emitter
    measured = bench.run(
        tensor.shape,
        BF16,
        lambda out: softmax_bf16.softmax_bf16(e, out, tensor, shape, scratch, table, scale),
    )
    exponents = bfloat16_to_float32(bits).astype(np.float64) * scale
    with np.errstate(invalid="ignore"):
        powers = 2.0 ** (exponents - exponents.max(axis, keepdims=True))
    expected = powers / powers.sum(axis, keepdims=True)
    return measured, bfloat16_to_float32(measured.values).astype(np.float64), expected


SOFTMAX = {
    "windows": ((1, 64 * 40, 49, 1), 51.5),
    "windows apart": ((40, 49, 49, 1), 51.5),
    "full lanes and a tail": ((6, 197, 197, 1), 173.0),
    "rows in the lane": ((1, 64, 8, 64), 53.0),
    "heads in the lane": ((1, 197, 6, 197), 179.0),
    "heads of windows in the lane": ((16, 49, 3, 49), 53.0),
    "a pitch with a large factor": ((1, 128, 544, 1), 437.0),
    "the longest": ((1, 64, softmax_bf16.LONGEST, 1), 6100.0),
    "one row": ((1, 5, 10, 1), 72.0),
}
"""Shape and cycles per row of a lane."""


@pytest.mark.parametrize(("shape", "cycles"), SOFTMAX.values(), ids=list(SOFTMAX))
def test_softmax(shape: Shape, cycles: float) -> None:
    measured, got, expected = run_softmax(random(shape, 3.0))
    error = np.abs(got - expected)
    ulps = error / 2.0 ** (np.floor(np.log2(expected)) - 7)
    assert error.max() <= 2.8e-3
    assert ulps[expected > 1e-2].max(initial=0) <= 1.31
    assert ulps.max() <= 4.2
    assert np.sqrt((ulps**2).mean()) <= 0.75
    rows = shape[0] * -(-shape[1] // 64) * (1 if shape[3] == 1 else shape[2])
    assert measured.cycles <= cycles * rows


@pytest.mark.parametrize("mask", [-np.inf, -1e30, -1e9, -200.0])
def test_masked_elements_get_exactly_nothing(mask: float) -> None:
    x = random((1, 64, 49, 1), 2.0)
    x[:, :, ::3] = mask
    _, got, expected = run_softmax(x)
    assert not got[:, :, ::3].any()
    assert np.abs(got - expected).max() <= 2.8e-3


@pytest.mark.parametrize("value", [0.0, -0.0, 7.0, 1e30, -1e30, 3e38, -3e38])
def test_equal_numbers_share_equally(value: float) -> None:
    _, got, _ = run_softmax(np.full((1, 64, 20, 1), value, np.float32))
    assert np.abs(got - 0.05).max() <= 2**-13


def test_small_shares_have_the_range_of_bf16() -> None:
    x = np.zeros((1, 64, 4, 1), np.float32)
    x[:, :, 1], x[:, :, 2], x[:, :, 3] = -20, -60, -85
    _, got, expected = run_softmax(x)
    assert np.abs(got / expected - 1).max() <= 0.02


def test_one_large_number_takes_all() -> None:
    x = random((1, 64, 20, 1))
    x[0, :, 3] = 3e38
    _, got, _ = run_softmax(x)
    assert np.array_equal(got[0, :, 3, 0], np.ones(64))
    assert got.sum() == 64


def test_rows_without_a_number_become_zeros() -> None:
    x = random((1, 64, 20, 1))
    x[0, ::2] = -np.inf
    _, got, _ = run_softmax(x)
    assert not got[0, ::2].any()
    assert got[0, 1::2].all()


@pytest.mark.parametrize("scale", softmax_bf16.SCALES)
def test_scales_up_to_the_bounds(scale: float) -> None:
    """Down to the differences that are no f16 numbers any more."""
    x = random((1, 64, 49, 1), 3.0 / scale)
    x[:, :, ::5] = np.float32(-1e5)
    _, got, expected = run_softmax(x, scale)
    assert np.abs(got - expected).max() <= 2.8e-3
