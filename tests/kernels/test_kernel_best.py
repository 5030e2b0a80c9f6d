"""The best of rows, one after the other."""

import numpy as np
import pytest
from tests.kernels.harness import Case, run

SHAPES = [(1, 2, 1), (2, 60, 5), (3, 67, 67), (130, 100, 3), (1, 3, 5, 40, 4), (70, 1, 1)]


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("sizes", SHAPES)
def test_best(sizes: tuple[int, ...], largest: str) -> None:
    """Of few different numbers, both zeros and infinities among them."""
    *shape, count = sizes
    case = Case("f32")
    x = case.input("x", tuple(shape))
    values = np.round(case.inputs["x"])
    values[np.abs(values) > 2] *= np.inf
    values[..., 1::7] *= -1.0
    case.inputs["x"] = values
    attributes = {"largest": largest, "count": f"{count} : i64"}
    case.op("tpu.Best", [x, "none"], attributes, "y", (*shape[:-1], 2 * count))
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    sign = -1 if largest == "true" else 1
    order = np.argsort(sign * values, axis=-1, kind="stable")[..., :count]
    assert np.array_equal(outcome.simulated[..., count:], order)
    assert np.array_equal(outcome.simulated[..., :count], np.take_along_axis(values, order, -1))


@pytest.mark.parametrize("left_out", ["values", "places"])
def test_one_of_both(left_out: str) -> None:
    case = Case("f32")
    x = case.input("x", (4, 50))
    case.op("tpu.Best", [x, "none"], {"count": "3 : i64", left_out: "false"}, "y", (4, 3))
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)


def test_a_row_of_minus_infinities_gives_each_place_once() -> None:
    case = Case("f32")
    x = case.input("x", (2, 6))
    case.inputs["x"] = np.full((2, 6), -np.inf, np.float32)
    case.inputs["x"][1, 4] = 1
    case.op("tpu.Best", [x, "none"], {"count": "4 : i64", "values": "false"}, "y", (2, 4))
    assert run(case).simulated.tolist() == [[0, 1, 2, 3], [4, 0, 1, 2]]


def test_numbers_in_place_of_places() -> None:
    case = Case("f32")
    x, numbers = case.input("x", (70, 33)), case.input("numbers", (70, 33))
    rng = np.random.default_rng(1)
    case.inputs["x"] = rng.integers(0, 4, (70, 33)).astype(np.float32)
    case.inputs["numbers"] = np.sort(rng.choice(1000, (70, 33)), axis=1).astype(np.float32)
    case.inputs["numbers"] += np.arange(33, dtype=np.float32) * 1000
    case.op("tpu.Best", [x, numbers], {"count": "7 : i64"}, "y", (70, 14))
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
