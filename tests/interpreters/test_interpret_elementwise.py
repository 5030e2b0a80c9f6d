"""Element-wise ops and activations against onnxruntime."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, f32

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interpreters.numerics.special import erf

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
Make = Callable[..., Array]

UNARY: list[tuple[str, type[NamedOp], str | None]] = [
    ("Abs", top.AbsOp, "ABSVAL"),
    ("Ceil", top.CeilOp, "CEIL"),
    ("Cos", top.CosOp, "COS"),
    ("Cosh", top.CoshOp, "COSH"),
    ("Erf", top.ErfOp, "ERF"),
    ("Exp", top.ExpOp, "EXP"),
    ("Floor", top.FloorOp, "FLOOR"),
    ("HardSwish", top.HardSwishOp, "HSWISH"),
    ("Mish", top.MishOp, "MISH"),
    ("Sign", top.SignOp, "SIGN"),
    ("Sin", top.SinOp, "SIN"),
    ("Sinh", top.SinhOp, "SINH"),
    ("Softplus", top.SoftplusOp, "SOFT_PLUS"),
    ("Softsign", top.SoftsignOp, "SOFT_SIGN"),
    ("Tan", top.TanOp, "TAN"),
    ("Tanh", top.TanhOp, "TANH"),
    ("Relu", top.ReluOp, "RELU"),
    ("Sigmoid", top.SigmoidOp, "SIGMOID"),
    ("Round", top.RoundOp, "ROUND"),
]
POSITIVE: list[tuple[str, type[NamedOp], str]] = [
    ("Log", top.LogOp, "LN"),
    ("Sqrt", top.SqrtOp, "SQRT"),
]
WITHIN_ONE: list[tuple[str, type[NamedOp], str]] = [
    ("Acos", top.ArccosOp, "ARCCOS"),
    ("Atanh", top.ArctanhOp, "ARCTANH"),
]


def close(ours: Array, theirs: Array) -> None:
    """Equal in shape, and in value but for the last places of f32."""
    assert ours.dtype == np.float32
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=3e-7)


def check_unary(
    run_op: Run, x: Array, expected: Array, op: type[NamedOp], mode: str | None
) -> None:
    close(run_op(op, [x])[0], expected)
    if mode is not None:
        (active,) = run_op(tpu.ActiveOp, [x], [TensorType(f32, x.shape)], mode=mode)
        close(active, expected)


@pytest.mark.parametrize(("operator", "op", "mode"), UNARY)
def test_unary(
    run_op: Run, run_onnx: Run, normal: Make, operator: str, op: type[NamedOp], mode: str
) -> None:
    x = normal(2, 7, 5) * 3
    check_unary(run_op, x, run_onnx(operator, [x])[0], op, mode)


@pytest.mark.parametrize(("operator", "op", "mode"), POSITIVE)
def test_unary_of_positive_numbers(
    run_op: Run, run_onnx: Run, normal: Make, operator: str, op: type[NamedOp], mode: str
) -> None:
    x = np.abs(normal(3, 11)) + np.float32(1e-3)
    check_unary(run_op, x, run_onnx(operator, [x])[0], op, mode)


@pytest.mark.parametrize(("operator", "op", "mode"), WITHIN_ONE)
def test_unary_within_one(
    run_op: Run, run_onnx: Run, normal: Make, operator: str, op: type[NamedOp], mode: str
) -> None:
    x = np.tanh(normal(3, 11)) * np.float32(0.95)
    check_unary(run_op, x, run_onnx(operator, [x])[0], op, mode)


OTHER_MODES: list[tuple[str, Callable[[Array], Array]]] = [
    ("SQUARE", np.square),
    ("RSQRT", lambda x: 1 / np.sqrt(x)),
    ("LOG2", np.log2),
    ("ARCSINH", np.arcsinh),
    ("ARCCOSH", np.arccosh),
    ("LOG_SIGMOID", lambda x: -np.log1p(np.exp(-x))),
    ("SILU", lambda x: x / (1 + np.exp(-x))),
    ("QGELU", lambda x: x / (1 + np.exp(-1.702 * x))),
    ("IS_FINITE", lambda x: np.isfinite(x).astype(np.float32)),
]


@pytest.mark.parametrize(("mode", "expected"), OTHER_MODES)
def test_other_active_modes(run_op: Run, mode: str, expected: Callable[[Array], Array]) -> None:
    x = np.linspace(1.1, 6, 50, dtype=np.float32)
    (found,) = run_op(tpu.ActiveOp, [x], [TensorType(f32, x.shape)], mode=mode)
    close(found, np.asarray(expected(x.astype(np.float64)), np.float32))


def test_every_active_mode_is_computed(run_op: Run) -> None:
    x = np.full(3, 0.5, np.float32)
    for mode in tpu.ActiveMode:
        coeffs = {"ELU": [1.5], "SWISH": [2.0], "HSIGMOID": [0.5, 0.2]}.get(mode.value)
        (y,) = run_op(tpu.ActiveOp, [x], [TensorType(f32, x.shape)], mode=mode.value, coeffs=coeffs)
        assert np.isfinite(y).all() or mode.value == "ARCCOSH"


def test_active_coefficients(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(4, 9)
    types = [TensorType(f32, x.shape)]
    elu = run_op(tpu.ActiveOp, [x], types, mode="ELU", coeffs=[0.7])[0]
    close(elu, run_onnx("Elu", [x], alpha=0.7)[0])
    close(run_op(top.EluOp, [x], alpha=0.7)[0], elu)
    # tpu-mlir stores beta before alpha
    hard = run_op(tpu.ActiveOp, [x], types, mode="HSIGMOID", coeffs=[0.4, 0.3])[0]
    close(hard, run_onnx("HardSigmoid", [x], alpha=0.3, beta=0.4)[0])
    close(run_op(top.HardSigmoidOp, [x], alpha=0.3, beta=0.4)[0], hard)
    swish = run_op(tpu.ActiveOp, [x], types, mode="SWISH", coeffs=[1.5])[0]
    close(swish, x / (1 + np.exp(-1.5 * x)))
    close(run_op(top.SwishOp, [x], beta=1.5)[0], swish)


@pytest.mark.parametrize(("approx", "mode"), [("none", "normal"), ("tanh", "tanh")])
def test_gelu(run_op: Run, run_onnx: Run, normal: Make, approx: str, mode: str) -> None:
    x = normal(3, 50) * 3
    expected = run_onnx("Gelu", [x], opset=20, approximate=approx)[0]
    np.testing.assert_allclose(
        run_op(top.GELUOp, [x], approx_mode=mode)[0], expected, rtol=1e-5, atol=1e-6
    )


def test_erf_is_accurate_and_total() -> None:
    x = np.linspace(-7, 7, 20001)
    exact = np.array([math.erf(v) for v in x])
    assert np.abs(erf(x) - exact).max() < 1e-10
    special = erf(np.array([np.nan, np.inf, -np.inf, 0.0]))
    assert np.isnan(special[0])
    assert special[1:].tolist() == [1.0, -1.0, 0.0]


def test_round_takes_ties_to_even(run_op: Run, run_onnx: Run) -> None:
    x = np.array([0.5, 1.5, -0.5, -2.5, 2.4], np.float32)
    check_unary(run_op, x, run_onnx("Round", [x])[0], top.RoundOp, "ROUND")


def test_leaky_and_parametric_relu(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x, slope = normal(2, 3, 4, 4), normal(3, 1, 1, seed=1)
    close(run_op(top.LeakyReluOp, [x], alpha=0.1)[0], run_onnx("LeakyRelu", [x], alpha=0.1)[0])
    expected = run_onnx("PRelu", [x, slope])[0]
    close(run_op(top.PReluOp, [x, slope])[0], expected)
    close(run_op(top.PReluOp, [x, slope.reshape(-1)])[0], expected)


BINARY: list[tuple[str, type[NamedOp]]] = [
    ("Add", top.AddOp),
    ("Sub", top.SubOp),
    ("Mul", top.MulOp),
    ("Div", top.DivOp),
    ("Max", top.MaxOp),
    ("Min", top.MinOp),
]


@pytest.mark.parametrize(("operator", "op"), BINARY)
@pytest.mark.parametrize("shapes", [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (3, 1)), ((1,), (5, 1, 2))])
def test_binary_broadcasts(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    operator: str,
    op: type[NamedOp],
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    x, y = normal(*shapes[0]), normal(*shapes[1], seed=1) + 2
    close(run_op(op, [x, y])[0], run_onnx(operator, [x, y])[0])


def test_power_and_modulo(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x, y = np.abs(normal(4, 5)) + 1, normal(4, 5, seed=1)
    power = run_onnx("Pow", [x, y])[0]
    close(run_op(top.Pow3Op, [x, y])[0], power)
    close(run_op(top.PowOp, [x], exponent=2.5)[0], x**2.5)
    close(run_op(top.Pow2Op, [y], const_val=3.0)[0], np.power(np.float32(3), y))
    close(run_op(top.ModOp, [y, x])[0], run_onnx("Mod", [y, x], fmod=1)[0])
    close(run_op(top.RemainderOp, [y, x])[0], np.mod(y, x))


def test_sums_have_coefficients_and_a_clipped_relu(run_op: Run, normal: Make) -> None:
    x, y, z = normal(3, 4), normal(3, 4, seed=1), normal(3, 4, seed=2)
    (total,) = run_op(top.AddOp, [x, y, z], coeff=[1.0, -2.0, 0.5], do_relu=True, relu_limit=1.0)
    close(total, np.clip(x - 2 * y + 0.5 * z, 0, 1))
    assert (total == 1).any()
    assert (total == 0).any()
    close(run_op(top.SubOp, [x, y], is_reverse=True)[0], y - x)
    close(run_op(top.DivOp, [x, y], is_reverse=True)[0], y / x)


def test_constants(run_op: Run, normal: Make) -> None:
    x = normal(3, 4)
    close(run_op(top.AddConstOp, [x], const_val=0.5, do_relu=True)[0], np.maximum(x + 0.5, 0))
    close(run_op(top.SubConstOp, [x], const_val=0.5)[0], x - np.float32(0.5))
    close(run_op(top.SubConstOp, [x], const_val=0.5, is_reverse=True)[0], np.float32(0.5) - x)
    close(run_op(top.MulConstOp, [x], const_val=-3.0)[0], x * -3)
    close(run_op(top.DivConstOp, [x], const_val=4.0)[0], x / 4)
    close(run_op(top.DivConstOp, [x], const_val=4.0, is_reverse=True)[0], 4 / x)
    close(run_op(top.ReciprocalOp, [x], const_val=2.0)[0], 2 / x)
    close(run_op(top.MaxConstOp, [x], const_val=0.1)[0], np.maximum(x, np.float32(0.1)))
    close(run_op(top.MinConstOp, [x], const_val=0.1)[0], np.minimum(x, np.float32(0.1)))
    close(run_op(top.ClipOp, [x], min=-0.2, max=0.3)[0], np.clip(x, -0.2, 0.3).astype(np.float32))


@pytest.mark.parametrize(
    ("operator", "mode"),
    [
        ("Equal", "Equal"),
        ("Greater", "Greater"),
        ("GreaterOrEqual", "GreaterOrEqual"),
        ("Less", "Less"),
        ("LessOrEqual", "LessOrEqual"),
    ],
)
def test_comparisons(run_op: Run, run_onnx: Run, operator: str, mode: str) -> None:
    x = np.array([[1, 2, 3], [3, 2, 1]], np.float32)
    y = np.array([2, 2, 2], np.float32)
    expected = run_onnx(operator, [x, y])[0].astype(np.float32)
    close(run_op(top.CompareOp, [x, y], mode=mode)[0], expected)
    const = {"const_val": 2.0, "mode": mode}
    close(run_op(top.CompareConstOp, [x], inversed=False, **const)[0], expected)
    inversed = run_onnx(operator, [y, x])[0].astype(np.float32)
    close(run_op(top.CompareConstOp, [x], inversed=True, **const)[0], inversed)


def test_logic_and_selection(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = np.array([[1, 0, 3], [0, 0, 1]], np.float32)
    y, z = normal(2, 3), normal(1, 3, seed=1)
    close(
        run_op(top.CompareConstOp, [x], mode="Not", const_val=0.0, inversed=False)[0],
        (x == 0).astype(np.float32),
    )
    close(
        run_op(top.CompareOp, [x, x.T.reshape(2, 3)], mode="Xor")[0],
        np.logical_xor(x, x.T.reshape(2, 3)).astype(np.float32),
    )
    close(run_op(top.LogicalAndOp, [x, np.ones_like(x)])[0], (x != 0).astype(np.float32))
    expected = run_onnx("Where", [x != 0, y, z])[0]
    close(run_op(top.WhereOp, [x, y, z])[0], expected)
    half = run_op(top.WhereOp, [x, None, z], x_is_const=True, x_const_val=0.5)[0]
    close(half, np.where(x != 0, np.float32(0.5), z))
    other = run_op(top.WhereOp, [x, y, None], y_is_const=True, y_const_val=-1.0)[0]
    close(other, np.where(x != 0, y, np.float32(-1)))
    filled = run_op(top.MaskedFillOp, [x, y], inversed=False, const_val=9.0)[0]
    close(filled, np.where(x != 0, np.float32(9), y))
    kept = run_op(top.MaskedFillOp, [x, y], inversed=True, const_val=9.0)[0]
    close(kept, np.where(x != 0, y, np.float32(9)))


def test_scale_is_per_channel(run_op: Run, normal: Make) -> None:
    x, scale, bias = normal(2, 3, 4, 5), normal(1, 3, 1, 1, seed=1), normal(3, seed=2)
    (found,) = run_op(top.ScaleOp, [x, scale, bias], do_relu=True)
    close(found, np.maximum(x * scale + bias.reshape(1, 3, 1, 1), 0))


def test_scaled_and_logarithmic_sigmoid(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(20) * 20
    (scaled,) = run_op(top.SigmoidOp, [x], scale=2.0, bias=-1.0)
    close(scaled, run_onnx("Sigmoid", [x])[0] * 2 - 1)
    (logged,) = run_op(top.SigmoidOp, [x], log=True)
    close(logged, (-np.logaddexp(0, -x.astype(np.float64))).astype(np.float32))
