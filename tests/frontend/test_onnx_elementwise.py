"""Converters of ops of several tensors, with broadcasting and constant operands."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import weights_of

Agree = Callable[..., ModuleOp]
RNG = np.random.default_rng(2)
A = RNG.standard_normal((2, 3, 4)).astype(np.float32)
B = RNG.standard_normal((3, 1)).astype(np.float32)
ROW = RNG.standard_normal(4).astype(np.float32)
THREE = np.array(3.0, np.float32)
INTS = RNG.integers(-20, 20, (2, 3, 4))
BOOLS = RNG.integers(0, 2, (2, 3, 4)).astype(bool)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
def test_two_tensors(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["a", "b"], ["y"]), {"a": A, "b": B + 3})


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("constant", [THREE, ROW, np.ones((1, 1, 1, 1), np.float32)])
def test_with_constant(
    agree: Agree, op: str, left: bool, constant: np.typing.NDArray[np.float32]
) -> None:
    names = ["c", "x"] if left else ["x", "c"]
    x = np.abs(A) + np.float32(0.5)
    agree(helper.make_node(op, names, ["y"]), {"x": x}, {"c": constant})


@pytest.mark.parametrize("op", ["Sum", "Max", "Min", "Mean"])
def test_many_operands(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["a", "b", "c"], ["y"]), {"a": A, "b": B, "c": ROW})


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 0.5, -1.0])
def test_pow_of_constant_exponent(agree: Agree, exponent: float) -> None:
    constant = np.array(exponent, np.float32)
    agree(helper.make_node("Pow", ["x", "e"], ["y"]), {"x": np.abs(A) + 1}, {"e": constant})


def test_pow_of_constant_base(agree: Agree) -> None:
    agree(helper.make_node("Pow", ["b", "x"], ["y"]), {"x": A}, {"b": THREE})


def test_pow_of_tensors(agree: Agree) -> None:
    agree(helper.make_node("Pow", ["a", "b"], ["y"]), {"a": np.abs(A) + 1, "b": B})


@pytest.mark.parametrize("fmod", [0, 1])
def test_mod_of_integers(agree: Agree, fmod: int) -> None:
    node = helper.make_node("Mod", ["a", "b"], ["y"], fmod=fmod)
    agree(node, {"a": INTS, "b": np.where(BOOLS, 7, -3)})


def test_mod_of_floats_takes_the_sign_of_the_first(agree: Agree) -> None:
    a = np.array([[-4.3, 7.2, 5.0, 6.0], [4.3, -7.2, 8.0, 0.0]], np.float32)
    b = np.array([[2.1, -3.4, 8.0, 3.0], [-2.1, 3.4, -2.0, 3.0]], np.float32)
    agree(helper.make_node("Mod", ["a", "b"], ["y"], fmod=1), {"a": a, "b": b})


def test_integer_division_cuts_the_fraction(agree: Agree) -> None:
    divisor = np.where(BOOLS, 7, -3)
    agree(helper.make_node("Div", ["a", "b"], ["y"]), {"a": INTS, "b": divisor})


@pytest.mark.parametrize("op", ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
@pytest.mark.parametrize("kind", ["tensor", "left", "right"])
def test_comparison(agree: Agree, op: str, kind: str) -> None:
    other = np.round(B * 2).astype(np.float32)
    node = helper.make_node(op, ["c", "x"] if kind == "left" else ["x", "c"], ["y"])
    x = np.round(A * 2)
    if kind == "tensor":
        agree(node, {"x": x, "c": other})
    else:
        module = agree(node, {"x": x}, {"c": np.array([1.0], np.float32)})
        assert any(isinstance(op, top.CompareConstOp) for op in module.walk())


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
def test_logic(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["a", "b"], ["y"]), {"a": BOOLS, "b": ~BOOLS[:1]})


def test_not(agree: Agree) -> None:
    agree(helper.make_node("Not", ["a"], ["y"]), {"a": BOOLS})


@pytest.mark.parametrize("constants", [(), ("a",), ("b",), ("a", "b")])
def test_where(agree: Agree, constants: tuple[str, ...]) -> None:
    values = {"a": A, "b": B}
    fixed = {name: np.array(i + 0.5, np.float32) for i, name in enumerate(constants)}
    given = {name: value for name, value in values.items() if name not in fixed}
    agree(helper.make_node("Where", ["c", "a", "b"], ["y"]), {"c": BOOLS, **given}, fixed)


@pytest.mark.parametrize(("shape", "shrinks"), [(A.shape, True), ((2, *A.shape), False)])
@pytest.mark.parametrize("op", ["Where", "Greater", "Max"])
def test_constants_of_one_number(
    agree: Agree, op: str, shape: tuple[int, ...], shrinks: bool
) -> None:
    """Written out they are numbers of the op, unless they give the result its shape."""
    names = ["c", "a", "b"] if op == "Where" else ["a", "b"]
    given = {"c": BOOLS, "a": A} if op == "Where" else {"a": A}
    node = helper.make_node(op, names, ["y"])
    module = agree(node, given, {"b": np.full(shape, 0.5, np.float32)})
    sizes = [value.size for value in weights_of(module).values()]
    assert max(sizes, default=1) == (1 if shrinks else math.prod(shape))


@pytest.mark.parametrize("target", [TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL])
def test_cast_from_float(agree: Agree, target: int) -> None:
    agree(helper.make_node("Cast", ["x"], ["y"], to=target), {"x": np.round(A * 3, 1)})


def test_cast_to_float_and_use(agree: Agree) -> None:
    nodes = [
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["f", "c"], ["y"]),
    ]
    agree(nodes, {"i": INTS}, {"c": np.array(4.0, np.float32)})
