"""Element-wise kernels against the interpreter: broadcasting, fused relu, constants, casts."""

import numpy as np
import pytest
from tests.kernels.harness import Case, check, run

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError

KINDS = ("f32", "f16", "bf16")

BROADCASTS = (
    ((2, 3, 5, 7), (2, 3, 5, 7)),
    ((7,), (7,)),
    ((1009,), (1,)),
    ((8, 3, 49, 49), (1, 3, 49, 49)),
    ((1, 19, 130), (130,)),
    ((1, 64, 3, 7, 7), (1, 64, 1, 7, 7)),
    ((2, 24, 6, 6), (1, 24, 1, 1)),
    ((4, 5, 6, 7, 8), (4, 1, 6, 1, 8)),
    ((5, 1, 300), (1, 70, 1)),
    ((3, 1), (1, 4)),
)


def binary(op: str, kind: str, a: tuple[int, ...], b: tuple[int, ...], **attributes: str) -> Case:
    case = Case(kind)
    operands = [case.input("a", a), case.input("b", b)]
    case.op(op, operands, attributes, "y", tuple(np.broadcast_shapes(a, b)))
    return case


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("a", "b"), BROADCASTS, ids=str)
def test_broadcasts(kind: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    check(binary("tpu.Sub", kind, a, b))


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Max", "Min"])
def test_operations_are_exact(op: str) -> None:
    outcome = run(binary(f"tpu.{op}", "f32", (3, 70, 11), (3, 70, 11)))
    assert np.array_equal(outcome.simulated, outcome.expected)


@pytest.mark.parametrize("limit", ["-1.0", "0.5"])
def test_fused_relu(limit: str) -> None:
    attributes = {"do_relu": "true", "relu_limit": f"{limit} : f64"}
    outcome = check(binary("tpu.Add", "f16", (2, 65, 9), (1, 65, 9), **attributes))
    assert outcome.simulated.min() == 0


def test_reversed_subtraction() -> None:
    check(binary("tpu.Sub", "f32", (4, 9), (1, 9), is_reverse="true"))


def test_division() -> None:
    case = Case("f32")
    a, b = case.input("a", (3, 40)), case.input("b", (3, 1))
    case.inputs["b"] += 3.0
    case.op("tpu.Div", [a, b], {}, "y", (3, 40))
    check(case)


def test_three_operands() -> None:
    case = Case("f16")
    names = [case.input(n, (2, 33, 5)) for n in "abc"]
    case.op("tpu.Add", names, {}, "y", (2, 33, 5))
    check(case)


def test_the_same_value_twice() -> None:
    case = Case("f32")
    a = case.input("a", (5, 77))
    case.op("tpu.Mul", [a, a], {}, "y", (5, 77))
    check(case)


@pytest.mark.parametrize("target", ["f16", "f32"])
@pytest.mark.parametrize("op", ["Add", "Mul"])
@pytest.mark.parametrize("relu", ["false", "true"])
def test_a_narrow_operand_meets_wide_ones(op: str, target: str, relu: str) -> None:
    """The value is rounded once, whatever its sizes are."""
    case = Case("f16")
    names = [case.input("x", (2, 65, 9, 130))]
    names += [case.input(name, (1, 65, 1, 1), kind="f32") for name in "ab"]
    case.op(f"tpu.{op}", names, {"do_relu": relu}, "y", (2, 65, 9, 130), target)
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    assert outcome.simulated.any()


def test_narrow_operands_beside_a_wide_one_are_refused() -> None:
    case = Case("f16")
    names = [case.input("x", (1, 4, 3, 5)), case.input("a", (1, 4, 1, 1))]
    case.op("tpu.Mul", names, {}, "y", (1, 4, 3, 5), "f32")
    with pytest.raises(TpuError, match="no kernel on f16, f16 to f32; cast all operands"):
        run(case)


CONSTANTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("AddConst", {"const_val": "0.75 : f64"}),
    ("SubConst", {"const_val": "0.75 : f64", "is_reverse": "true"}),
    ("MulConst", {"const_val": "-2.5 : f64", "do_relu": "true"}),
    ("MaxConst", {"const_val": "0.25 : f64"}),
    ("MinConst", {"const_val": "0.25 : f64"}),
    ("Relu", {}),
    ("Relu", {"relu_limit": "1.0 : f64"}),
    ("LeakyRelu", {"alpha": "0.125 : f64"}),
    ("Clip", {"min": "-0.5 : f64", "max": "0.75 : f64"}),
)


@pytest.mark.parametrize(("op", "attributes"), CONSTANTS, ids=str)
def test_constants(op: str, attributes: dict[str, str]) -> None:
    case = Case("f16")
    case.op(f"tpu.{op}", [case.input("x", (3, 50, 13))], attributes, "y", (3, 50, 13))
    check(case)


@pytest.mark.parametrize(("source", "target"), [("f32", "f16"), ("f16", "f32"), ("f32", "bf16")])
def test_casts(source: str, target: str) -> None:
    case = Case(source)
    x = case.input("x", (2, 3, 40, 41))
    case.op("tpu.Cast", [x], {"with_scale": "true"}, "y", (2, 3, 40, 41), target)
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)


def test_large_tensors_are_cut_and_overlap() -> None:
    """The DMA of one tile runs while another is computed: less than the sum of both engines."""
    program = check(binary("tpu.Add", "f16", (8, 64, 56, 56), (8, 64, 56, 56))).program
    timeline = simulate(program.tiu, program.gdma, load_chip())
    assert timeline.total < sum(timeline.busy.values())
    assert len(program.gdma) < 200
