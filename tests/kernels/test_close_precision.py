"""What `module.kernel_precision` buys: errors against float64 and cycles, layer by layer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.kernels.harness import PIPELINE, Case, execute
from tests.local.test_local_transformer import layer_norm, softmax
from xdsl.dialects.builtin import StringAttr

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import tiu_cycles
from xdsl_tpu.dialects.precision import ATTRIBUTE
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes import PASSES

Array = npt.NDArray[Any]


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(3, keepdims=True))
    return powers / powers.sum(3, keepdims=True)


def _layer_norm(x: Array) -> Array:
    difference = x - x.mean(2, keepdims=True)
    return difference / np.sqrt((difference**2).mean(2, keepdims=True) + 1e-5)


def softmax_case(case: Case) -> None:
    """Scores of 16 windows, 3 heads."""
    shape = (16, 49, 3, 49)
    softmax(case, case.input("x", shape, 3.0), "y", shape)


def norm_case(case: Case) -> None:
    """The rows of Swin-T's second stage."""
    layer_norm(case, case.input("x", (1, 784, 192)), "y", (1, 784, 192))


def exp_case(case: Case) -> None:
    """Powers that are normal f16 numbers."""
    shape = (4, 64, 32, 32)
    x = case.input("x", shape, 2.0)
    case.inputs["x"] = np.clip(case.inputs["x"], -9, 9)
    case.op("tpu.Active", [x], {"mode": "#tpu<active_mode EXP>"}, "y", shape)


Build = Callable[[Case], None]
LAYERS: dict[str, tuple[Build, Callable[[Array], Array], float]] = {
    "softmax": (softmax_case, _softmax, 1e-3),
    "LayerNorm": (norm_case, _layer_norm, 2**-4),
    "exp": (exp_case, np.exp, 2**-14),
}
"""A layer, what it should be, and from which magnitude on errors are counted in ulps."""

FIGURES = {
    ("softmax", "fast"): (7e-4, 14.0, 1097),
    ("softmax", "close"): (2.5e-4, 0.51, 4569),
    ("LayerNorm", "fast"): (3.1e-3, 2.7, 965),
    ("LayerNorm", "close"): (1.8e-3, 0.51, 1729),
    ("exp", "fast"): (8.1, 3.3, 2058),
    ("exp", "close"): (2.1, 0.51, 4108),
}
"""Largest error, largest error in ulps of f16, TIU cycles."""


@pytest.mark.parametrize(("layer", "precision"), FIGURES)
def test_the_closer_form_rounds_once(layer: str, precision: str) -> None:
    build, exact, least = LAYERS[layer]
    case = Case("f16")
    build(case)
    module, chip = case.module(), load_chip()
    module.attributes[ATTRIBUTE] = StringAttr(precision)
    for name in PIPELINE:
        PASSES[name]()().apply(make_context(), module)
    program = generate(module, weights_of(module), chip)
    got = execute(program, case, chip, Engine.TIU).astype(np.float64)
    expected = exact(case.inputs["x"].astype(np.float64))
    error = np.abs(got - expected)
    large = np.abs(expected) >= least
    ulps = error[large] / np.spacing(np.abs(expected[large]).astype(np.float16)).astype(float)
    largest, most_ulps, cycles = FIGURES[layer, precision]
    assert error.max() <= largest
    assert ulps.max() <= most_ulps
    assert sum(tiu_cycles(command, chip) for command in program.tiu) == cycles
