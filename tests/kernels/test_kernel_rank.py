"""Ranks of the elements of rows, and what is picked by them."""

import numpy as np
import pytest
from tests.kernels.harness import Case, run


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize(("rows", "size"), [(1, 2), (2, 60), (1, 67), (3, 130), (1, 300)])
def test_ranks(rows: int, size: int, largest: str) -> None:
    """Of few different numbers, both zeros and infinities among them."""
    case = Case("f32")
    x = case.input("x", (rows, size))
    values = np.round(case.inputs["x"])
    values[np.abs(values) > 2] *= np.inf
    values[:, 1::7] *= -1.0
    case.inputs["x"] = values
    case.op("tpu.Rank", [x], {"largest": largest}, "y", (rows, size))
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    sign = -1 if largest == "true" else 1
    order = np.argsort(sign * values, axis=1, kind="stable")
    assert np.array_equal(np.argsort(outcome.simulated, axis=1), order)


@pytest.mark.parametrize(
    ("rows", "size", "count"), [(1, 2, 1), (2, 90, 90), (1, 300, 64), (1, 67, 7)]
)
def test_picks(rows: int, size: int, count: int) -> None:
    case = Case("f32")
    x, ranks = case.input("x", (rows, size)), case.input("ranks", (rows, size))
    order = [np.random.default_rng(row).permutation(size) for row in range(rows)]
    case.inputs["ranks"] = np.array(order, np.float32)
    case.op("tpu.Ranked", [x, ranks], {"count": f"{count} : i64"}, "y", (rows, count))
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    for row in range(rows):
        assert np.array_equal(
            outcome.simulated[row], case.inputs["x"][row][np.argsort(order[row])[:count]]
        )
