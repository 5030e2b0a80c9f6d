"""Products of top IR that say how many bits their matrices have."""

import numpy as np
import pytest
from tests.integers import on_chip
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.pipelines import lower

STATE = 'module.state = "TOP_F32", module.chip = "ALL", module.platform = "ONNX"'


def module(marks: str, columns: int = 192, depth: int = 128) -> ModuleOp:
    """x times a matrix of `depth` rows, with attributes."""
    out, matrix = f"tensor<3x{columns}xf32>", f"tensor<{depth}x{columns}xf32>"
    floats = f"tensor<3x{depth}xf32>"
    text = f"""
module @net attributes {{{STATE}, module.weight_file = "w.npz"}} {{
  func.func @main(%a: {floats}) -> {out} {{
    %none = "top.None"() : () -> none
    %x = "top.Input"(%a) : ({floats}) -> {floats} loc("x")
    %w = "top.Weight"() : () -> {matrix} loc("w")
    %y = "top.MatMul"(%x, %w, %none) {{{marks}}} :
      ({floats}, {matrix}, none) -> {out} loc("y")
    return %y : {out}
  }}
}}"""
    made = parse_module(text, "net")
    weights = Weights()
    rng = np.random.default_rng(3)
    weights["w"] = rng.standard_normal((depth, columns)).astype(np.float32)
    attach(made, weights)
    return made


@pytest.mark.parametrize(("bits", "least"), [(4, 0.99), (8, 0.9999)])
@pytest.mark.parametrize("group", [0, 32])
def test_a_marked_matrix_is_packed(bits: int, least: float, group: int) -> None:
    plain = module("")
    x = np.random.default_rng(4).standard_normal((3, 128)).astype(np.float32)
    (exact,) = run_module(plain, {"x": x}).values()
    marked = module(f"weight_bits = {bits} : i64, q_group_size = {group} : i64")
    lower(marked, "F16", "bm1684x")
    (product,) = (op for op in marked.walk() if op.name == "tpu.A16MatMul")
    assert f"weight_bits = {bits}" in str(product)
    assert f"q_group_size = {group or 64}" in str(product)
    (meant,) = run_module(marked, {"x": x}).values()
    program = generate(marked, weights_of(marked), on_chip.CHIP)
    (found,) = run_program(program, on_chip.CHIP, {"x": x}).values()
    assert on_chip.cosine(found, meant) > 0.999999
    assert least < on_chip.cosine(found, exact) < 0.9999999


def test_what_a_packed_product_clamps_is_clamped() -> None:
    marked = module("weight_bits = 8 : i64, do_relu = true, relu_limit = 1.5 : f64")
    x = np.random.default_rng(4).standard_normal((3, 128)).astype(np.float32)
    (exact,) = run_module(marked, {"x": x}).values()
    lower(marked, "F16", "bm1684x")
    program = generate(marked, weights_of(marked), on_chip.CHIP)
    (found,) = run_program(program, on_chip.CHIP, {"x": x}).values()
    assert on_chip.cosine(found, exact) > 0.999
    assert found.min() == 0
    assert found.max() == 1.5


@pytest.mark.parametrize(
    ("marks", "columns", "message"),
    [
        ("weight_bits = 3 : i64", 192, "matrices of 3 bits in groups of 64"),
        ("weight_bits = 4 : i64, q_group_size = 48 : i64", 192, "in groups of 48"),
        ("weight_bits = 4 : i64", 100, "its 100 columns are no multiple of 64"),
        ("weight_bits = 8 : i64", 64, "no constant of whole groups of 64"),
    ],
)
def test_what_cannot_be_packed_is_said(marks: str, columns: int, message: str) -> None:
    with pytest.raises(TpuError) as caught:
        lower(module(marks, columns, depth=96 if columns == 64 else 128), "F16", "bm1684x")
    text = str(caught.value)
    assert "top.MatMul 'y'" in text
    assert message in text
    assert "take weight_bits away" in text


def test_filters_of_convolutions_are_not_packed() -> None:
    shape = "tensor<1x64x4x4xf32>"
    text = f"""
module @net attributes {{{STATE}, module.weight_file = "w.npz"}} {{
  func.func @main(%a: {shape}) -> {shape} {{
    %none = "top.None"() : () -> none
    %x = "top.Input"(%a) : ({shape}) -> {shape} loc("x")
    %w = "top.Weight"() : () -> tensor<64x64x1x1xf32> loc("w")
    %y = "top.Conv"(%x, %w, %none) {{kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0],
      weight_bits = 4 : i64}} : ({shape}, tensor<64x64x1x1xf32>, none) -> {shape} loc("y")
    return %y : {shape}
  }}
}}"""
    made, weights = parse_module(text, "net"), Weights()
    weights["w"] = np.ones((64, 64, 1, 1), np.float32)
    attach(made, weights)
    with pytest.raises(TpuError, match=r"(?s)top\.Conv 'y'.*filters of 4 bits in F16"):
        lower(made, "F16", "bm1684x")
