"""Images resized between their elements, over DDR and on slices."""

import numpy as np
import pytest
from tests.kernels.harness import Case, check
from tests.local.groups import run_grouped

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.timing.tiu_cost import tiu_cycles
from xdsl_tpu.dialects.interpreters.numerics.resize import interpolate_axis, neighbours
from xdsl_tpu.dialects.resampling import Run, progressions_of, runs_of
from xdsl_tpu.frontend.onnx.converters.sampling import Sampling, matrix, resized
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.lowering.resampling import Resampling

SIZES = (
    ((1, 70, 4, 5), (8, 10), "linear", "half_pixel"),
    ((2, 3, 5, 4), (15, 16), "linear", "half_pixel"),
    ((1, 65, 9, 8), (17, 16), "linear", "align_corners"),
    ((1, 4, 6, 8), (6, 12), "linear", "asymmetric"),
    ((1, 64, 6, 8), (9, 8), "linear", "half_pixel"),
    ((1, 8, 8, 12), (4, 6), "linear", "half_pixel"),
    ((1, 3, 6, 8), (9, 12), "nearest", "half_pixel"),
    ((1, 3, 1, 1), (4, 7), "linear", "half_pixel"),
    ((1, 70, 7, 16), (12, 28), "linear", "align_corners"),
    ((1, 3, 16, 35), (9, 20), "linear", "half_pixel"),
    ((1, 64, 5, 33), (9, 58), "nearest", "half_pixel"),
)


def _resample(case: Case, x: str, source: tuple[int, ...], to: tuple[int, int], *how: str) -> str:
    """The op that resizes `x`, with its shares."""
    ways: list[Resampling] = []
    for old, new in zip(source[2:], to, strict=True):
        way = Resampling.between(*neighbours(old, new, new / old, *how), old)
        ways.append(way if new != old else Resampling(()))
    numbers = np.array([share for way in ways for share in way.shares], np.float32)
    shares = "none"
    if numbers.size:
        shares = case.weight("shares", (1, 1, 1, numbers.size))
        case.weights["shares"] = numbers.reshape(1, 1, 1, -1).astype(np.float16).astype(np.float32)
    attributes = {
        "rows": f"{list(ways[0].first)}",
        "columns": f"{list(ways[1].first)}",
        "blend_rows": str(bool(ways[0].shares)).lower(),
        "blend_columns": str(bool(ways[1].shares)).lower(),
    }
    return case.op("tpu.Resample", [x, shares], attributes, "y", (*source[:2], *to))


@pytest.mark.parametrize("kind", ["f16", "f32", "bf16"])
@pytest.mark.parametrize(("source", "to", "mode", "coordinates"), SIZES, ids=str)
def test_images_in_ddr(
    kind: str, source: tuple[int, ...], to: tuple[int, int], mode: str, coordinates: str
) -> None:
    case = Case(kind)
    x = case.input("x", source)
    _resample(case, x, source, to, mode, coordinates)
    check(case)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(n=2), Secs(n=2, h=2)], ids=str)
@pytest.mark.parametrize(("source", "to", "mode", "coordinates"), SIZES, ids=str)
def test_slices(
    secs: Secs, source: tuple[int, ...], to: tuple[int, int], mode: str, coordinates: str
) -> None:
    case = Case("f16")
    source = (2, *source[1:])
    x = case.input("x", source)
    a = case.op("tpu.Relu", [x], {}, "a", source)
    y = _resample(case, a, source, to, mode, coordinates)
    case.op("tpu.AddConst", [y], {"const_val": "1.0 : f64"}, "z", (*source[:2], *to))
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("bytes_per_lane", [512, 1024])
def test_little_scratch_is_enough(bytes_per_lane: int) -> None:
    case, source, to = Case("f16"), (1, 130, 8, 8), (16, 16)
    x = case.input("x", source)
    a = case.op("tpu.Relu", [x], {}, "a", source)
    _resample(case, a, source, to, "linear", "half_pixel")
    run_grouped(case, scratch=lambda op: bytes_per_lane)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=4)], ids=str)
@pytest.mark.parametrize("relu", ["false", "true"])
def test_repeated_pixels_on_slices(secs: Secs, relu: str) -> None:
    case, source, to = Case("f16"), (1, 70, 4, 5), (1, 70, 8, 15)
    x = case.input("x", source)
    a = case.op("tpu.AddConst", [x], {"const_val": "0.5 : f64"}, "a", source)
    attributes = {"scale_h": "2 : i64", "scale_w": "3 : i64", "do_relu": relu}
    case.op("tpu.Upsample", [a, "none"], attributes, "y", to)
    run_grouped(case, secs=secs)


def test_a_pass_per_step_whatever_the_factor() -> None:
    """256 channels, 16x16 to 128x128: commands write each result twice."""
    case, source = Case("f16"), (1, 256, 16, 16)
    x = case.input("x", source)
    _resample(case, x, source, (128, 128), "linear", "half_pixel")
    cycles = check(case).cycles
    moved = 2 * 256 * (16 * 16 + 128 * 128) / 44
    assert cycles < 1.3 * moved


def made_by(runs: list[Run], count: int) -> list[int]:
    """What each result is made of; none may be made twice."""
    places = [
        (run.start + i * run.by + k, run.first + i * run.step)
        for run in runs
        for i in range(run.count)
        for k in range(run.length)
    ]
    assert sorted(place for place, _ in places) == list(range(count))
    return [value for _, value in sorted(places)]


def test_equal_groups_are_one_run() -> None:
    assert runs_of([0, 0, 0, 1, 1, 2, 2]) == [Run(0, 0, 1, 3, 3, 0), Run(3, 1, 2, 2, 2, 1)]
    assert runs_of([0, 2, 4, 6]) == [Run(0, 0, 4, 1, 1, 2)]
    assert runs_of([]) == []
    first = [0, 5, 5, 3, 3, 1]
    assert made_by(runs_of(first), len(first)) == first


@pytest.mark.parametrize("by", [2, 3, 7, 20])
def test_results_far_apart_are_one_run(by: int) -> None:
    assert progressions_of([0, 0, 1, 1, 2, 3], 2) == [
        Run(0, 0, 3, 1, 2, 1),
        Run(1, 0, 2, 1, 2, 1),
        Run(5, 3, 1, 1, 2, 0),
    ]
    assert progressions_of([], by) == []
    first = [place * 127 // 223 for place in range(224)]
    assert made_by(progressions_of(first, by), 224) == first


def test_columns_without_a_simple_ratio_are_made_together() -> None:
    """The columns one after the other would take a cycle for each element, in both commands."""
    case, source = Case("f16"), (1, 64, 128, 128)
    x = case.input("x", source)
    _resample(case, x, source, (128, 224), "linear", "align_corners")
    program = check(case).program
    chip = load_chip()
    assert sum(tiu_cycles(command, chip) for command in program.tiu) < 128 * 224 / 2


@pytest.mark.parametrize("coordinates", ["align_corners", "asymmetric", "half_pixel"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(("old", "new"), [(1, 5), (2, 7), (5, 10), (9, 4), (7, 7), (30, 11)])
def test_what_lies_between_neighbours(old: int, new: int, mode: str, coordinates: str) -> None:
    """Elements and shares give what the interpreter does; none is beyond the last pair."""
    way = Resampling.between(*neighbours(old, new, new / old, mode, coordinates), old)
    x = np.random.default_rng(old).standard_normal(old).astype(np.float32)
    first, shares = np.array(way.first), np.array(way.shares or [0.0])
    above = x[np.minimum(first + 1, old - 1)] if way.shares else x[first]
    found = x[first] + shares * (above - x[first])
    assert np.allclose(found, interpolate_axis(x, 0, new, new / old, mode, coordinates), atol=1e-6)
    assert max(first) < max(1, old - way.reach + 1)


def test_positions_between_corners_are_not_rounded() -> None:
    """Else the importer would not take a resize of long axes for what the op computes."""
    unit = np.eye(128, dtype=np.float32)
    found = interpolate_axis(unit, 1, 224, 1.75, "linear", "align_corners")
    how = Sampling("linear", "align_corners")
    assert np.allclose(found, matrix(how, 128, 224, 1.75), atol=1e-6)
    vectors = np.random.default_rng(0).standard_normal((2, 128))
    assert np.allclose(resized(how, vectors, 224, 1.75), vectors @ found, atol=1e-6)
