"""A recipe compiled in F32 and simulated, beside onnxruntime."""

from typing import Any

import numpy as np
import onnxruntime
from tests.fuzz.recipes import Recipe, feeds

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import lower

CHIP = load_chip()
CLOSE = 2e-4
"""Largest error, relative to the largest magnitude of a tensor (and to 1)."""


def expected(recipe: Recipe) -> list[Any]:
    """The outputs by onnxruntime, without its optimisations."""
    runtime: Any = onnxruntime  # it has no types
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        recipe.model().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, feeds(recipe)))


def simulated(recipe: Recipe, disable: tuple[str, ...] = ()) -> list[Any]:
    """The outputs of the compiled program on the machine model."""
    module = import_onnx(recipe.model())
    lower(module, "F32", CHIP.instruction_set, disable)
    program = generate(module, weights_of(module), CHIP)
    return list(run_program(program, CHIP, feeds(recipe)).values())


def check(recipe: Recipe, disable: tuple[str, ...] = ()) -> None:
    """Compare all outputs; values that are no numbers must be so on both sides."""
    wanted = expected(recipe)
    found = simulated(recipe, disable)
    assert len(found) == len(wanted)
    for value, reference in zip(found, wanted, strict=True):
        assert value.shape == reference.shape
        assert np.isfinite(reference).all(), "the graph is not a fair test"
        scale = max(1.0, float(np.abs(reference).max(initial=0)))
        error = float(np.abs(value.astype(np.float64) - reference).max(initial=0))
        assert error <= CLOSE * scale, f"off by {error:.3g} of {scale:.3g}"
