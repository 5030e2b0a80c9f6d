"""Products of 16-bit tensors with f32 results: nothing is cast, and sums stay as they are."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from tests.integers.on_chip import CHIP, Feeds, cosine, expected, model
from tests.integers.test_constants_beyond_f16 import node

from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import Quantization, lower
from xdsl_tpu.passes.tensors import element_of

SIZE = 200.0
"""Scores of such queries and keys are beyond f16."""

SHAPES: dict[tuple[int, ...], list[int]] = {
    (1, 4, 49, 16): [0, 1, 3, 2],
    (2, 64, 32): [0, 2, 1],
    (1, 2, 150, 40): [0, 1, 3, 2],
}


@pytest.mark.parametrize("mode", ["F16", "BF16"])
@pytest.mark.parametrize("groups", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_of_queries_and_keys(
    shape: tuple[int, ...], groups: bool, mode: str, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    feeds: Feeds = {
        name: (random.standard_normal(shape) * SIZE).astype(np.float32) for name in ("q", "k")
    }
    nodes = [
        node("Relu", "q", "query"),
        node("Relu", "k", "key"),
        node("Transpose", "key", "turned", perm=SHAPES[shape]),
        node("MatMul", "query turned", "scores"),
        node("Mul", "scores factor", "scaled"),
        node("Softmax", "scaled", "y", axis=-1),
    ]
    made = model(nodes, feeds, {"factor": np.array(SIZE**-2, np.float32)}, {"y": "float32"})
    table = tmp_path / "table"
    table.write_text("scores_MatMul F32\nscaled_Mul F32\n", encoding="utf-8")
    module = import_onnx(made)
    disable = () if groups else ("layer-group",)
    tables = Quantization(quantize_table=str(table))
    lower(module, mode, CHIP.instruction_set, disable, quantization=tables)
    (product,) = (op for op in module.walk() if isinstance(op, tpu.MatMulOp))
    kinds = [str(element_of(v)) for v in (product.input, product.right, product.output)]
    assert kinds == [mode.lower(), mode.lower(), "f32"]
    program = generate(module, weights_of(module), CHIP)
    (wanted,) = run_module(module, feeds).values()
    (reference,) = expected(made, feeds)
    assert cosine(wanted, reference) > (0.999999 if mode == "F16" else 0.999)
    modes: tuple[Literal["fast", "exact"], ...] = ("fast", "exact")
    for numerics in modes:
        (value,) = run_program(program, CHIP, feeds, numerics).values()
        # In bf16 shares near 1 may be the next number.
        assert np.abs(value - wanted).max() <= (1e-3 if mode == "F16" else 2**-8)
        assert cosine(value, wanted) > 0.9999
