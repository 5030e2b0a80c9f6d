"""Layers as PyTorch's default exporter writes them, compiled and run on the machine."""

from pathlib import Path

import numpy as np
import pytest
from tests.onnx_backend.backend_suite import Array

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import random_inputs, run_program
from xdsl_tpu.backend.report import closeness
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import lower
from xdsl_tpu.tools.reference import reference_outputs

MODELS = sorted((Path(__file__).parents[1] / "data" / "exported").glob("*.onnx"))
WANTED = {"F32": 0.9999999, "F16": 0.99999}
INDICES = {"index_copy": {"a_2": 3}}
"""Inputs that are places, not any numbers."""


def compiled_outputs(model: Path, quantize: str) -> tuple[dict[str, Array], list[Array]]:
    """Inputs of seed 0, or places, and what the machine gives."""
    chip = load_chip("bm1684x")
    module = import_onnx(model)
    lower(module, quantize, chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    inputs = random_inputs(program, 0)
    for name, place in INDICES.get(model.stem, {}).items():
        inputs[name] = np.full_like(inputs[name], place)
    return inputs, list(run_program(program, chip, inputs).values())


@pytest.mark.parametrize("quantize", WANTED)
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_an_exported_layer(model: Path, quantize: str) -> None:
    inputs, outputs = compiled_outputs(model, quantize)
    _, expected = reference_outputs(model, inputs)
    for value, wanted in zip(outputs, expected, strict=True):
        assert closeness(value.reshape(wanted.shape), wanted).cosine >= WANTED[quantize]


def test_there_are_graphs() -> None:
    assert len(MODELS) >= 15
