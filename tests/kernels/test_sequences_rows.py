"""Softmax and norms along rows in f16: error against float64, and cycles."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.sequence_bench import Bench, Measured, measure

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.sequences import norm, softmax
from xdsl_tpu.backend.kernels.sequences.exp import (
    EXP2_4,
    EXP2_6,
    EXP2_F16_SCRATCH,
    EXP2_F32_SCRATCH,
    LOG2_E,
    exp2_f16,
    exp2_f32,
)
from xdsl_tpu.backend.kernels.sequences.row_room import RowShape
from xdsl_tpu.backend.kernels.sequences.row_set import rows_of, steps_of
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects.errors import TpuError

Array = npt.NDArray[Any]
Shape = tuple[int, int, int, int]
Norm = Callable[..., None]
F16 = DType.F16


def random(shape: Shape, scale: float = 1.0, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float16)


def _axis(shape: Shape) -> int:
    return 2 if shape[3] == 1 else 3


def _unary_of(
    function: Callable[..., None], kinds: tuple[DType, ...], table: tuple[float, ...], kind: DType
) -> Unary:
    def compute(
        e: Emitter,
        out: LocalTensor,
        x: LocalTensor,
        scratch: Sequence[LocalTensor],
        tables: Sequence[LocalTensor],
    ) -> None:
        copy, *rest = scratch
        e.copy(copy, x)
        function(e, out, copy, rest, tables[0])

    return Unary(compute, (kind, *kinds), (table,), 0, kind)


def test_powers_of_two_in_f16() -> None:
    x = np.linspace(-20, 0, 64 * 32 * 8).astype(np.float16)
    measured = measure(_unary_of(exp2_f16, EXP2_F16_SCRATCH, EXP2_4, F16), x)
    expected = 2.0 ** x.astype(np.float64)
    error = np.abs(measured.values.astype(np.float64) - expected)
    assert (error / expected)[x >= -14].max() <= 7.6e-4
    assert not measured.values[x < -15].any()
    assert measured.cycles - 1 == 10


def test_powers_of_two_in_f32() -> None:
    x = np.linspace(-99, 20, 64 * 32 * 8).astype(np.float32)
    measured = measure(_unary_of(exp2_f32, EXP2_F32_SCRATCH, EXP2_6, DType.F32), x, DType.F32)
    expected = 2.0 ** x.astype(np.float64)
    assert np.abs(measured.values / expected - 1).max() <= 2.1e-7
    assert measured.cycles - 2 == 2 * 12


def run_softmax(x: Array, scale: float = LOG2_E) -> Measured:
    bench = Bench()
    tensor = bench.tensor(x, F16)
    shape = RowShape(x.shape[_axis(x.shape)], tensor.shape[3] > 1)
    scratch = bench.scratch(softmax.softmax_scratch(bench.chip, shape), tensor.shape)
    table = bench.table(softmax.TABLE, F16)

    def build(out: LocalTensor) -> None:
        softmax.softmax_f16(bench.emitter, out, tensor, shape, scratch, table, scale)

    return bench.run(tensor.shape, F16, build)


def softmax_error(x: Array, got: Array) -> Array:
    axis = _axis(x.shape)
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis, keepdims=True))
    return np.abs(got.astype(np.float64) - powers / powers.sum(axis, keepdims=True))


SOFTMAX = {
    "windows": ((1, 64 * 40, 49, 1), 29.0),
    "windows apart": ((40, 49, 49, 1), 29.0),
    "full lanes and a tail": ((6, 197, 197, 1), 102.0),
    "rows in the lane": ((1, 64, 8, 64), 37.0),
    "heads in the lane": ((1, 197, 6, 197), 109.0),
    "heads of windows in the lane": ((16, 49, 3, 49), 31.0),
    "a pitch with a large factor": ((1, 128, 544, 1), 310.0),
    "one row": ((1, 5, 10, 1), 63.0),
}
"""Shape and cycles per row of a lane."""


@pytest.mark.parametrize(("shape", "cycles"), SOFTMAX.values(), ids=list(SOFTMAX))
def test_softmax(shape: Shape, cycles: float) -> None:
    x = random(shape, 3.0)
    measured = run_softmax(x)
    error = softmax_error(x, measured.values)
    assert error.max() <= 2.8e-3
    assert error.mean() <= 1.1e-5 if shape[2] > 10 else 1e-4
    assert np.abs(measured.values.astype(float).sum(_axis(shape)) - 1).max() <= 1e-3
    rows = shape[0] * -(-shape[1] // 64) * (1 if shape[3] == 1 else shape[2])
    assert measured.cycles <= cycles * rows


def test_masked_elements_get_exactly_nothing() -> None:
    x = random((1, 64, 49, 1), 2.0)
    x[:, :, ::3] -= np.float16(100)
    measured = run_softmax(x)
    assert not measured.values[:, :, ::3].any()
    assert softmax_error(x, measured.values).max() <= 1.5e-3


def test_softmax_of_the_largest_numbers() -> None:
    x = random((1, 64, 20, 1))
    x[0, :, 3], x[0, :, 5] = 65504, -65504
    measured = run_softmax(x)
    assert np.array_equal(measured.values[0, :, 3, 0], np.ones(64))


def test_base_two_saves_the_multiplication() -> None:
    x = random((1, 64 * 32, 32, 1))
    assert run_softmax(x).cycles - run_softmax(x, 1.0).cycles == 32
    wide = 2.0 ** x.astype(np.float64)
    expected = wide / wide.sum(2, keepdims=True)
    assert np.abs(run_softmax(x, 1.0).values - expected).max() < 1e-3


def run_norm(
    function: Norm, x: Array, epsilon: float = 1e-6, given: int = 0
) -> tuple[Measured, Array]:
    """What was computed, and the error of each element."""
    bench = Bench()
    tensor = bench.tensor(x, F16)
    rows = rows_of(tensor, bench.chip)
    along = tensor.shape[3] > 1
    scratch = bench.scratch(
        norm.norm_scratch(bench.chip, RowShape(rows.length, along)), tensor.shape
    )
    flat = (1, 1, 1, rows.length) if along else (1, 1, rows.length, 1)
    vectors = [random(flat, 1.0, seed) for seed in (7, 8)][:given]
    lanes = (1, bench.chip.lanes, *flat[2:])
    held = [bench.tensor(np.broadcast_to(v, lanes), F16) for v in vectors]
    steps = list(zip((Arith.MUL, Arith.ADD), held, strict=False))

    def build(out: LocalTensor) -> None:
        target = rows_of(out, bench.chip)
        function(bench.emitter, target, rows, scratch, epsilon, steps)

    measured = bench.run(tensor.shape, F16, build)
    axis = _axis(x.shape)
    y = x.astype(np.float64)
    if function is norm.layer_norm_f16:
        y = y - y.mean(axis, keepdims=True)
    y = y / np.sqrt((y * y).mean(axis, keepdims=True) + epsilon)
    for operation, vector in zip((np.multiply, np.add), vectors, strict=False):
        y = operation(y, vector.astype(np.float64))
    return measured, np.abs(measured.values.astype(np.float64) - y)


NORMS: dict[str, Norm] = {"layer": norm.layer_norm_f16, "rms": norm.rms_norm_f16}
CYCLES = {
    ("layer", (1, 448, 96, 1)): 238,
    ("layer", (1, 197, 384, 1)): 469,
    ("layer", (1, 784, 192, 1)): 719,
    ("rms", (1, 197, 384, 1)): 361,
}


@pytest.mark.parametrize(("name", "shape"), list(CYCLES), ids=str)
def test_norms_of_whole_widths(name: str, shape: Shape) -> None:
    measured, error = run_norm(NORMS[name], random(shape))
    assert error.max() <= 4.3e-3
    assert error.mean() <= 2.6e-4
    assert measured.cycles == CYCLES[name, shape]


@pytest.mark.parametrize("name", list(NORMS))
@pytest.mark.parametrize("given", [0, 1, 2])
@pytest.mark.parametrize(
    "shape", [(1, 70, 97, 1), (3, 130, 40, 1), (2, 49, 33, 1), (1, 56, 8, 96)], ids=str
)
def test_norms_of_any_rows(name: str, given: int, shape: Shape) -> None:
    x = random(shape)
    _, error = run_norm(NORMS[name], x, given=given)
    assert error.max() <= 9e-3
    assert error.mean() <= 4e-4


def test_norms_take_large_rows() -> None:
    _, error = run_norm(norm.layer_norm_f16, random((1, 64, 96, 1), 5000))
    assert error.max() <= 3e-3


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 0.02])
def test_small_rows_and_epsilon(scale: float) -> None:
    _, error = run_norm(norm.layer_norm_f16, random((1, 64, 96, 1), scale), 1e-5)
    assert error.max() <= 3e-3


def test_rows_of_zeros_stay_zeros_with_hardly_an_epsilon() -> None:
    x = random((1, 64, 96, 1))
    x[:, ::2] = 0
    measured, error = run_norm(norm.rms_norm_f16, x, 1e-26)
    assert error.max() <= 4.3e-3
    assert not measured.values[:, ::2].any()


def test_rows_of_one_number_become_zeros() -> None:
    measured, _ = run_norm(norm.layer_norm_f16, np.full((1, 64, 96, 1), 3, np.float16))
    assert not measured.values.any()


def test_outliers() -> None:
    x = random((1, 256, 384, 1))
    x[:, :, 5] *= np.float16(30)
    _, error = run_norm(norm.layer_norm_f16, x)
    assert error.max() <= 1.6e-2
    assert error.mean() <= 2e-4


@pytest.mark.parametrize("pitch", [32, 64, 224, 544, 1024])
def test_steps_multiply_to_the_pitch(pitch: int) -> None:
    assert int(np.prod(steps_of(pitch))) == pitch


def test_rows_off_the_eu_boundaries_are_refused() -> None:
    bench = Bench()
    with pytest.raises(TpuError, match="do not begin on EU boundaries"):
        rows_of(bench.tensor(random((1, 8, 4, 49)), F16), bench.chip)


def test_tensors_with_strides_are_refused() -> None:
    bench = Bench()
    with pytest.raises(TpuError, match="with strides"):
        rows_of(bench.tensor(random((1, 8, 4, 1)), F16).free(), bench.chip)
