"""Converters of ops of one tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

Agree = Callable[..., ModuleOp]
RNG = np.random.default_rng(1)
X = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.1)
INSIDE = np.tanh(X) * np.float32(0.95)


@pytest.mark.parametrize(
    "op",
    ["Abs", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "HardSwish", "Neg", "Relu", "Round",
     "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Tan", "Tanh", "Atan"],
)  # fmt: skip
def test_unary(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["x"], ["y"]), {"x": INSIDE if op == "Tan" else X * 2})


@pytest.mark.parametrize("op", ["Log", "Reciprocal", "Sqrt"])
def test_unary_of_positive(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["x"], ["y"]), {"x": POSITIVE})


@pytest.mark.parametrize("op", ["Acos", "Atanh"])
def test_unary_of_small(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["x"], ["y"]), {"x": INSIDE})


def test_round_halves_to_even(agree: Agree) -> None:
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4], np.float32)
    agree(helper.make_node("Round", ["x"], ["y"]), {"x": halves})


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("Elu", {}),
        ("Elu", {"alpha": 0.7}),
        ("LeakyRelu", {}),
        ("LeakyRelu", {"alpha": 0.2}),
        ("HardSigmoid", {}),
        ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    ],
)
def test_with_parameters(agree: Agree, op: str, attributes: dict[str, Any]) -> None:
    agree(helper.make_node(op, ["x"], ["y"], **attributes), {"x": X * 3})


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(agree: Agree, approximate: str) -> None:
    agree(helper.make_node("Gelu", ["x"], ["y"], approximate=approximate), {"x": X}, opset=20)


def test_mish(agree: Agree) -> None:
    agree(helper.make_node("Mish", ["x"], ["y"]), {"x": X}, opset=18)


@pytest.mark.parametrize(
    ("low", "high", "op"),
    [(0.0, 6.0, "top.Relu"), (0.0, None, "top.Relu"), (-1.0, 1.0, "top.Clip"),
     (None, 0.5, "top.Clip"), (0.3, None, "top.Clip"), (None, None, "top.Clip")],
)  # fmt: skip
def test_clip(agree: Agree, low: float | None, high: float | None, op: str) -> None:
    bounds = {"low": low, "high": high}
    constants = {k: np.array(v, np.float32) for k, v in bounds.items() if v is not None}
    names = [name if name in constants else "" for name in bounds]
    module = agree(helper.make_node("Clip", ["x", *names], ["y"]), {"x": X * 4}, constants)
    assert op in {found.name for found in module.walk()}


@pytest.mark.parametrize("shape", [(1,), (3, 1, 1)])
def test_prelu(agree: Agree, shape: tuple[int, ...]) -> None:
    slope = RNG.standard_normal(shape).astype(np.float32)
    agree(helper.make_node("PRelu", ["x", "slope"], ["y"]), {"x": X}, {"slope": slope})


@pytest.mark.parametrize("shape", [(1,), (3, 1, 1), X.shape])
def test_prelu_with_computed_slopes(agree: Agree, shape: tuple[int, ...]) -> None:
    slope = np.linspace(0, 1, np.prod(shape), dtype=np.float32).reshape(shape)
    agree(helper.make_node("PRelu", ["x", "slope"], ["y"]), {"x": X, "slope": slope})


def test_prelu_with_a_slope_per_element(agree: Agree) -> None:
    slope = np.linspace(0, 1, X.size, dtype=np.float32).reshape(X.shape)
    agree(helper.make_node("PRelu", ["x", "slope"], ["y"]), {"x": X}, {"slope": slope})
