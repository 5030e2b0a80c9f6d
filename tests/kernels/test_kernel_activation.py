"""Activations against the interpreter, at the accuracy their fits claim."""

import numpy as np
import pytest
from tests.kernels.harness import Case, check, run

from xdsl_tpu.backend.kernels.activation import RECIPES

COEFFS = {"ELU": "[0.75]", "SWISH": "[1.5]", "HSIGMOID": "[0.4, 0.2]"}
POSITIVE = ("LN", "SQRT", "RSQRT")
INSIDE = ("ARCCOS", "ARCTANH")
"""Defined between -1 and 1."""


def active(mode: str, kind: str, scale: float = 3.0) -> Case:
    case = Case(kind)
    x = case.input("x", (3, 700), scale)
    if mode in POSITIVE:
        case.inputs[x] = np.abs(case.inputs[x]) + np.float32(0.125)
    if mode in INSIDE:
        case.inputs[x] = np.clip(case.inputs[x] / 4, -0.96875, 0.96875)
    attributes = {"mode": f"#tpu<active_mode {mode}>"}
    if mode in COEFFS:
        attributes["coeffs"] = COEFFS[mode]
    case.op("tpu.Active", [x], attributes, "y", (3, 700))
    return case


@pytest.mark.parametrize("mode", sorted(RECIPES))
@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_modes(mode: str, kind: str) -> None:
    check(active(mode, kind))


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_gelu_error(scale: float) -> None:
    outcome = run(active("GELU", "f32", scale))
    assert float(np.abs(outcome.simulated - outcome.expected).max()) < 1e-6 * max(1.0, scale)


@pytest.mark.parametrize("mode", ["SIGMOID", "TANH", "EXP", "GELU"])
def test_far_out_values_stay_finite(mode: str) -> None:
    case = Case("f32")
    x = case.input("x", (1, 64))
    case.inputs[x] = np.linspace(-80, 80, 64, dtype=np.float32).reshape(1, 64)
    case.op("tpu.Active", [x], {"mode": f"#tpu<active_mode {mode}>"}, "y", (1, 64))
    outcome = check(case)
    assert np.isfinite(outcome.simulated).all()
