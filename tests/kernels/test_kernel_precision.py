"""What the module asks of 16-bit kernels: cycles of each precision, and values of all."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.kernels.harness import PIPELINE, Case, execute
from xdsl.dialects.builtin import BoolAttr, StringAttr
from xdsl.ir import Attribute

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import tiu_cycles
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.precision import ATTRIBUTE
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes import PASSES

ROWS = (1, 64 * 32, 64)
"""Elements in whole EU widths, enough rows for their statistics to cost little."""

BLOCKS = 64
"""EU widths of 16-bit elements in each lane."""


def gelu() -> Case:
    case = Case("f16")
    case.op("tpu.Active", [case.input("x", ROWS)], {"mode": "#tpu<active_mode GELU>"}, "y", ROWS)
    return case


def softmax() -> Case:
    case = Case("f16")
    operands = [case.input("x", ROWS, 2.0), *["none"] * 5]
    case.op("tpu.Softmax", operands, {"axis": "2 : si32"}, "y", ROWS)
    return case


def layer_norm() -> Case:
    case = Case("f16")
    size = (1, 1, ROWS[-1])
    operands = [case.input("x", ROWS), case.weight("w", size), case.weight("b", size)]
    attributes = {"axis": "2 : si32", "eps": "1.0e-5 : f64", "normalized_shape": "[64]"}
    case.op("tpu.LayerNorm", [*operands, "none", "none"], attributes, "y", ROWS)
    return case


def measured(case: Case, attributes: dict[str, Attribute]) -> tuple[float, float]:
    """TIU cycles per EU width, and the largest error."""
    chip, module = load_chip("bm1684x"), case.module()
    module.attributes |= attributes
    (expected,) = run_module(module, case.inputs).values()
    for name in PIPELINE:
        PASSES[name]()().apply(make_context(), module)
    program = generate(module, weights_of(module), chip)
    got = execute(program, case, chip, Engine.TIU)
    error = np.abs(got.astype(np.float64).ravel() - np.asarray(expected, np.float64).ravel())
    return sum(tiu_cycles(c, chip) for c in program.tiu) / BLOCKS, float(error.max())


@pytest.mark.parametrize(
    ("make", "precision", "cycles", "error"),
    [
        (gelu, "fast", 14, 2e-3),
        (gelu, "close", 31, 1e-3),
        (gelu, "full", 47, 1e-3),
        (softmax, "fast", 24, 1.5e-3),
        (softmax, "full", 65, 1e-3),
        (layer_norm, "fast", 18, 1.2e-2),
        (layer_norm, "full", 45, 4e-3),
    ],
)
def test_cycles_and_errors(
    make: Callable[[], Case], precision: str, cycles: float, error: float
) -> None:
    found, farthest = measured(make(), {ATTRIBUTE: StringAttr(precision)})
    assert 0.7 * cycles <= found <= cycles
    assert farthest <= error


def test_high_precision_means_full() -> None:
    high = measured(softmax(), {"module.high_precision": BoolAttr.from_bool(True)})
    assert high == measured(softmax(), {ATTRIBUTE: StringAttr("full")})
    assert measured(softmax(), {}) == measured(softmax(), {ATTRIBUTE: StringAttr("fast")})
