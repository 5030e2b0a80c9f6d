"""Comparisons and choices against the interpreter, to the bit."""

import numpy as np
import pytest
from tests.kernels.harness import Case, rounded, run

KINDS = ("f32", "f16", "bf16")
MODES = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "NotEqual", "And", "Xor")
SHAPES = (((3, 70, 11), (3, 70, 11)), ((2, 66, 5), (1, 1, 5)), ((1, 9), (7, 1)), ((4,), (2, 3, 4)))


def coarse(case: Case, *names: str) -> None:
    """Few different numbers, so that many are equal; zeros of both signs."""
    for name in names:
        values = np.round(case.inputs[name]).astype(np.float32)
        values.reshape(-1)[::5] = -0.0
        case.inputs[name] = rounded(values, case.kind)


def exact(case: Case) -> None:
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    assert len(np.unique(outcome.simulated)) > 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("a", "b"), SHAPES, ids=str)
def test_compare(mode: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    case = Case("f32")
    operands = [case.input("a", a), case.input("b", b)]
    coarse(case, "a", "b")
    case.op("tpu.Compare", operands, {"mode": f'"{mode}"'}, "y", np.broadcast_shapes(a, b))
    exact(case)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inversed", ["false", "true"])
@pytest.mark.parametrize("mode", [*MODES, "Not"])
def test_compare_with_a_number(kind: str, mode: str, inversed: str) -> None:
    case = Case(kind)
    x = case.input("x", (2, 33, 9))
    coarse(case, "x")
    attributes = {"mode": f'"{mode}"', "const_val": "1.0 : f64", "inversed": inversed}
    case.op("tpu.CompareConst", [x], attributes, "y", (2, 33, 9))
    exact(case)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constants", ["", "x", "y"])
def test_where(kind: str, constants: str) -> None:
    case = Case(kind)
    operands = [
        case.input("c", (1, 70, 6)),
        case.input("a", (3, 1, 6)) if constants != "x" else "none",
        case.input("b", (6,)) if constants != "y" else "none",
        "none",
    ]
    coarse(case, "c")
    attributes = {f"{constants}_is_const": "true", f"{constants}_const_val": "2.5 : f64"}
    shape = (3, 70, 6) if constants != "x" else (1, 70, 6)
    case.op("tpu.Where", operands, attributes if constants else {}, "y", shape)
    exact(case)


@pytest.mark.parametrize("inversed", ["false", "true"])
def test_masked_fill(inversed: str) -> None:
    case = Case("f16")
    operands = [case.input("c", (1, 1, 49)), case.input("x", (2, 3, 49))]
    coarse(case, "c")
    attributes = {"inversed": inversed, "const_val": "-1.0e4 : f64"}
    case.op("tpu.MaskedFill", operands, attributes, "y", (2, 3, 49))
    exact(case)


def test_logical_and() -> None:
    case = Case("f32")
    operands = [case.input(name, (5, 40)) for name in "abc"]
    coarse(case, *operands)
    case.op("tpu.LogicalAnd", operands, {}, "y", (5, 40))
    exact(case)
