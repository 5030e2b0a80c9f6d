"""Linear recurrences: the kernel in DDR and the one on slices against the interpreter."""

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, run
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs

Shape = tuple[int, ...]


def recurrence(kind: str, shape: Shape, axis: int, has_initial: bool, scale: float = 0.7) -> Case:
    case = Case(kind)
    state = (*shape[:axis], 1, *shape[axis + 1 :])
    a, b = case.input("a", shape, scale), case.input("b", shape)
    initial = case.input("h", state) if has_initial else "none"
    case.op("tpu.LinearScan", [a, b, initial], {"axis": f"{axis} : i64"}, "y", shape)
    return case


def states(case: Case, axis: int) -> np.ndarray:
    """The same in float64."""
    a, b = (np.moveaxis(case.inputs[name].astype(float), axis, 0) for name in "ab")
    given = case.inputs.get("h")
    h = b[0] if given is None else a[0] * np.moveaxis(given, axis, 0)[0] + b[0]
    found = [h]
    for factor, summand in zip(a[1:], b[1:], strict=True):
        found.append(factor * found[-1] + summand)
    return np.moveaxis(np.array(found), 0, axis)


def assert_exact(outcome: Outcome) -> None:
    assert np.array_equal(outcome.simulated, outcome.expected)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("has_initial", [True, False])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((1, 130, 7, 5), 2),  # channels over the lanes
        ((1, 9, 96, 8), 1),  # what is behind the steps over the lanes
        ((2, 6, 67), 1),  # a prime number of elements behind them
        ((3, 5), 1),
        ((4, 70), 0),
    ],
)
def test_kernel(kind: str, shape: Shape, axis: int, has_initial: bool) -> None:
    case = recurrence(kind, shape, axis, has_initial)
    outcome = run(case)
    assert_exact(outcome)
    wanted = states(case, axis)
    error = np.abs(outcome.simulated - wanted).max() / np.abs(wanted).max()
    assert error < {"f32": 1e-5, "f16": 1e-2, "bf16": 1e-1}[kind]


@pytest.mark.parametrize("has_initial", [True, False])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((1, 200, 300, 40), 2),
        ((2, 500, 64, 32), 1),
        ((1, 3000, 40), 1),  # as images, steps of one element would take all of a lane many times
        ((1, 2, 300000), 1),  # not even one step fits
    ],
)
def test_slices_go_on_where_the_one_before_ended(
    shape: Shape, axis: int, has_initial: bool
) -> None:
    """Steps, rows and states are cut; local memory holds a part of them."""
    assert_exact(run(recurrence("f16", shape, axis, has_initial, 0.3)))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    ("shape", "axis", "secs"),
    [
        ((1, 130, 7, 5), 2, Secs()),
        ((1, 130, 7, 5), 2, Secs(c=3)),
        ((1, 130, 7, 6), 2, Secs(w=2)),
        ((2, 70, 9), 2, Secs(n=2)),
        ((2, 70, 4, 5), 3, Secs(h=2)),
        ((5, 70, 4, 3), 0, Secs(c=2, h=2)),
    ],
    ids=str,
)
@pytest.mark.parametrize("has_initial", [True, False])
def test_slices(kind: str, shape: Shape, axis: int, secs: Secs, has_initial: bool) -> None:
    case = Case(kind)
    a, b = case.input("a", shape, 0.5), case.input("b", shape)
    initial = case.weight("h", (*shape[:axis], 1, *shape[axis + 1 :])) if has_initial else "none"
    b = case.op("tpu.AddConst", [b], {"const_val": "1.0 : f64"}, "b1", shape)
    y = case.op("tpu.LinearScan", [a, b, initial], {"axis": f"{axis} : i64"}, "y", shape)
    case.op("tpu.AddConst", [y], {"const_val": "1.0 : f64"}, "z", shape)
    assert_exact(run_grouped(case, secs=secs))
