"""Thresholds from sample inputs: the methods, the two engines, a real table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx.parser
import pytest
from tests.tools.small_models import write_models

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.methods import METHODS, Histogram, mse
from xdsl_tpu.passes.calibration.observe import BINS, LEAST, Observation, calibrate
from xdsl_tpu.passes.calibration.table import CalibrationTable, read_table
from xdsl_tpu.passes.pipelines import Quantization, Settings, run_stage
from xdsl_tpu.tools.calibrate_model import (
    calibrate_model,
    canonical_top,
    input_shapes_of,
    make_engine,
    samples_for,
)
from xdsl_tpu.tools.calibration_data import Source

ROOT = Path(__file__).parents[2]
Array = npt.NDArray[Any]


def table_of(*tensors: Array, method: str = "max") -> CalibrationTable:
    def run(show: Callable[[str, Array], None]) -> None:
        for values in tensors:
            show("x", values)

    return calibrate(run, method)


def test_max_is_over_all_samples() -> None:
    one = table_of(np.array([-3.0, 1.0], np.float32), np.array([2.0], np.float32)).thresholds["x"]
    assert (one.threshold, one.min, one.max) == (3.0, -3.0, 2.0)


def test_a_tensor_of_zeros_gets_the_least_threshold() -> None:
    one = table_of(np.zeros(4, np.float32)).thresholds["x"]
    assert (one.threshold, one.min, one.max) == (LEAST, 0.0, LEAST)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(TpuError, match="tensor 'x' holds NaN or infinity"):
        table_of(np.array([0.0, bad], np.float32))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_infinities_of_bounded_tensors_are_the_largest_f16(method: str) -> None:
    values = np.array([[0.5, -np.inf], [1.5, 0.0]], np.float32)
    observed = Observation.of(lambda show: show("x", values), frozenset("x"))
    one = observed.table(method).thresholds["x"]
    assert (one.min, one.max) == (-6.5e4, 1.5)
    assert 0 < one.threshold <= 6.5e4


@pytest.mark.parametrize("method", sorted(METHODS))
def test_clipping_methods_drop_a_lone_outlier_and_keep_the_rest(method: str) -> None:
    values = np.random.default_rng(0).standard_normal(200_000).astype(np.float32)
    values[7] = 100.0
    one = table_of(values, method=method).thresholds["x"]
    # One number in 200,000 that is clipped by 50 costs as much as the finer steps bring.
    assert 2.0 < one.threshold < (60 if method == "mse" else 10)
    assert one.max == 100.0


def test_few_numbers_leave_room_for_larger_ones_where_it_is_asked_for() -> None:
    many = np.random.default_rng(2).standard_normal(4096).astype(np.float32)
    few = many[:96]

    def run(show: Callable[[str, Array], None]) -> None:
        for name, values in (("many", many), ("few", few), ("scores", few), ("one", few[:1])):
            show(name, values)

    seen = Observation.of(run, frozenset({"scores"}))
    plain, roomy = (seen.table("max", roomy=one).thresholds for one in (False, True))
    assert plain["few"].threshold == np.abs(few).max() < np.abs(many).max()
    assert plain["few"].threshold * 1.3 < roomy["few"].threshold < 1.4 * plain["few"].threshold
    assert roomy["few"].max == plain["few"].max
    for name in ("many", "scores"):
        assert roomy[name] == plain[name]
    assert roomy["one"].threshold < 2 * plain["one"].threshold


@pytest.mark.parametrize("method", ["percentile", "mse"])
def test_uniform_numbers_are_not_clipped(method: str) -> None:
    values = np.linspace(-1, 1, 100_001, dtype=np.float32)
    assert table_of(values, method=method).thresholds["x"].threshold > 0.99


@pytest.mark.parametrize("signed", [True, False])
def test_mse_is_the_least_of_all_thresholds(signed: bool) -> None:
    """Measured by quantising every bin's centre in earnest, instead of step^2 / 12."""
    rng = np.random.default_rng(1)
    magnitudes = np.abs(rng.standard_t(3, 50_000))
    counts, _ = np.histogram(magnitudes, BINS, (0, magnitudes.max()))
    histogram = Histogram(counts, float(magnitudes.max()), signed)

    def error(threshold: float) -> float:
        step = threshold / (histogram.levels - 1)
        stored = np.minimum(np.rint(magnitudes / step), histogram.levels - 1) * step
        return float(np.mean((stored - magnitudes) ** 2))

    chosen = mse(histogram, 0)
    every = [error(histogram.top * part / 64) for part in range(1, 65)]
    assert error(chosen) <= min(every) * 1.05


def small_table(folder: Path, name: str, engine: str) -> CalibrationTable:
    model = folder / f"{name}.onnx"
    module = canonical_top(model)
    rng = np.random.default_rng(5)
    arrays = {
        name: rng.standard_normal((3, *shape)).astype(np.float32)
        for name, shape in input_shapes_of(module).items()
    }
    np.savez(folder / "data.npz", **arrays)  # pyright: ignore[reportArgumentType]
    samples = samples_for(module, Source(folder / "data.npz"))
    return calibrate_model(module, make_engine(module, model, engine), samples, "max", None, 99.0)


@pytest.mark.parametrize("name", ["cnn", "transformer", "wide_pads"])
def test_both_engines_see_the_same(name: str, tmp_path: Path) -> None:
    write_models(tmp_path)
    fast, slow = (small_table(tmp_path, name, one) for one in ("onnxruntime", "interpreter"))
    assert list(fast.thresholds) == list(slow.thresholds)
    assert len(slow.thresholds) >= 4
    for one, other in zip(fast.thresholds.values(), slow.thresholds.values(), strict=True):
        assert one.threshold == pytest.approx(other.threshold, rel=2e-6)
        assert one.min == pytest.approx(other.min, abs=2e-6 * other.threshold)


MASKED = """<ir_version: 9, opset_import: ["" : 17]>
agraph (float[2,6] x, int64[2,6] mask) => (float[2,6] y)
<float[1] low = {-9.0}, float[1] one = {1.0}> {
    seen = Cast<to = 9>(mask)
    hidden = Not(seen)
    kept = Cast<to = 1>(seen)
    shown = Mul(x, kept)
    shut = Where(hidden, low, shown)
    y = Add(shut, one)
}"""


@pytest.mark.parametrize("engine", ["onnxruntime", "interpreter"])
def test_masks_get_the_lines_that_a_compilation_wants(engine: str, tmp_path: Path) -> None:
    """onnxruntime has truth values and int64 where top IR has numbers."""
    model = tmp_path / "masked.onnx"
    model.write_bytes(onnx.parser.parse_model(MASKED).SerializeToString())
    x = np.random.default_rng(1).standard_normal((2, 6)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x, mask=np.array([[1, 1, 1, 0, 0, 0]] * 2))
    module = canonical_top(model)
    source = make_engine(module, model, engine)
    table = calibrate_model(
        module, source, samples_for(module, Source(tmp_path / "data.npz")), "max", None, 99.0
    )
    (tmp_path / "table").write_text(table.text())
    lowered = canonical_top(model)
    ranges = Quantization(str(tmp_path / "table"))
    run_stage(lowered, "tpu", Settings("INT8", quantization=ranges))
    assert table.thresholds["y_Add"].min == -8.0


def test_results_that_are_left_out_have_no_line(tmp_path: Path) -> None:
    """Of a TopK whose positions nobody reads."""
    model = tmp_path / "top.onnx"
    text = """<ir_version: 9, opset_import: ["" : 17]>
    agraph (float[2,6] x) => (float[2,2] y) <int64[1] k = {2}> {
        relu = Relu(x)
        y, places = TopK(relu, k)
    }"""
    model.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    np.save(tmp_path / "x.npy", np.random.default_rng(2).standard_normal((2, 6)))
    module = canonical_top(model)
    samples = samples_for(module, Source(tmp_path / "x.npy"))
    tables = [
        calibrate_model(
            module, make_engine(module, model, one), samples, "max", None, 99.0
        ).thresholds
        for one in ("onnxruntime", "interpreter")
    ]
    assert list(tables[0]) == list(tables[1])


def test_a_real_table_is_equal_to_six_digits(tmp_path: Path) -> None:
    """MobileNetV2 on the four inputs of the table that came with it."""
    samples = [np.random.RandomState(i).randn(1, 3, 224, 224).astype(np.float32) for i in range(4)]
    np.save(tmp_path / "x.npy", np.stack(samples))
    model = ROOT / "examples" / "mobilenetv2_100.onnx"
    module = canonical_top(model)
    engine = make_engine(module, model, "auto")
    given = samples_for(module, Source(tmp_path / "x.npy"))
    ours = calibrate_model(module, engine, given, "max", None, 99.0).thresholds
    real = read_table(ROOT / "tests" / "data" / "calibration" / "mobilenetv2_100.cali").thresholds
    assert list(ours) == list(real)
    for name, one in real.items():
        for key in ("threshold", "min", "max"):
            found, wanted = getattr(ours[name], key), getattr(one, key)
            assert abs(found - wanted) <= 2e-6 * one.threshold + 5e-8, (name, key, found, wanted)


def test_small_numbers_keep_their_digits(tmp_path: Path) -> None:
    """Tensors of 2e-7 are calibrated as others are; only those of zeros get a threshold."""
    rng = np.random.default_rng(0)
    tensors = {"small": np.float32(2e-7) * rng.standard_normal(4096).astype(np.float32)}
    tensors |= {"tiny": tensors["small"] * np.float32(1e-12), "none": np.zeros(8, np.float32)}

    def run(show: Callable[[str, Array], None]) -> None:
        for name, values in tensors.items():
            show(name, values)

    for method in ("max", "kl"):
        table = read_table(calibrate(run, method).save(tmp_path / "table"))
        small, tiny, none = (table.thresholds[name] for name in tensors)
        largest = float(np.abs(tensors["small"]).max())
        assert 0.5 * largest < small.threshold <= 1.000001 * largest
        assert tiny.threshold == pytest.approx(1e-12 * small.threshold, rel=1e-2)
        assert none.threshold == LEAST
