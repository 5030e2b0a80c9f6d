"""The fusion of bias_add and dropout: OneFlow's own IR, and the same numbers before and after."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.oneflow import dropout_scale
from xdsl_tpu.dialects.random_masks import random_mask
from xdsl_tpu.dialects.text import make_context, module_text, parse_module, read_module
from xdsl_tpu.passes.pipeline import make_pass

DATA = Path(__file__).parents[1] / "data" / "oneflow"
BEFORE = DATA / "bias_add_dropout.mlir"
AFTER = DATA / "bias_add_dropout_fused.mlir"
PUBLISHED_SEED = 4920936260932536

JOB = """
oneflow.job @job(%a: tensor<2x3x4x5xf32>, %b: tensor<{size}xf32>)
    -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xi8>) {{
  %0 = "oneflow.bias_add"(%a, %b) {{axis = {axis} : si32, op_name = "bias"}}
      : (tensor<2x3x4x5xf32>, tensor<{size}xf32>) -> tensor<2x3x4x5xf32>
  %1, %2 = "oneflow.dropout"(%0) {{rate = {rate} : f32, seed = {seed} : si64, op_name = "drop"}}
      : (tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x4x5xi8>)
  oneflow.return %1, %2 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xi8>
}}
"""


def fused(module: ModuleOp, options: str = "") -> ModuleOp:
    result = parse_module(module_text(module))
    make_pass("fuse-bias-add-dropout", options).apply(make_context(), result)
    result.verify()
    return result


@pytest.mark.parametrize("path", [BEFORE, AFTER])
def test_published_ir_comes_back_byte_for_byte(path: Path) -> None:
    module = read_module(path)
    module.verify()
    assert module_text(module) == path.read_text(encoding="utf-8")


def test_published_output_from_published_input() -> None:
    after = fused(read_module(BEFORE), f"compat=article seed={PUBLISHED_SEED}")
    assert module_text(after) == AFTER.read_text(encoding="utf-8")


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.75, 0.9, 1.0])
@pytest.mark.parametrize(("axis", "size"), [(3, 5), (1, 3)])
def test_results_are_the_same_bit_by_bit(rate: float, axis: int, size: int) -> None:
    rng = np.random.default_rng(int(rate * 100) + axis)
    before = parse_module(JOB.format(axis=axis, size=size, rate=rate, seed=-7))
    after = fused(before)
    assert [op.name for op in after.walk()].count("oneflow.fused_bias_add_mask_scale") == 1
    inputs = [
        rng.standard_normal((2, 3, 4, 5), np.float32) * np.float32(1e3),
        rng.standard_normal(size, np.float32),
    ]
    expected, found = (list(run_module(module, inputs).values()) for module in (before, after))
    for one, other in zip(expected, found, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_the_published_scale_is_wrong_where_the_rate_is_not_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = BEFORE.read_text(encoding="utf-8").replace("rate = 1.000000e+00", "rate = 0.1")
    before = parse_module(text)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((2, 3, 4, 5), np.float32), rng.standard_normal(5, np.float32)]
    (expected,) = run_module(before, inputs).values()
    (right,) = run_module(fused(before), inputs).values()
    assert capsys.readouterr().err == ""
    (published,) = run_module(fused(before, "compat=article seed=0"), inputs).values()
    assert "rate 0.1 where 1 / (1 - rate) = 1.11111 is right" in capsys.readouterr().err
    np.testing.assert_array_equal(right, expected)
    kept = expected != 0
    np.testing.assert_allclose(published[kept] / expected[kept], 0.1 * 0.9, rtol=1e-5)


def test_a_seed_makes_other_masks_of_the_right_density() -> None:
    text = JOB.format(axis=3, size=5, rate=0.25, seed=1)
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal((2, 3, 4, 5), np.float32), rng.standard_normal(5, np.float32)]
    masks = [
        list(run_module(fused(parse_module(text), f"seed={seed}"), inputs).values())[1]
        for seed in (1, 2, 1)
    ]
    assert (masks[0] == masks[2]).all()
    assert (masks[0] != masks[1]).any()


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
def test_masks(rate: float) -> None:
    mask = random_mask((100, 1000), 5, rate)
    assert mask.dtype == np.int8
    assert set(np.unique(mask)) <= {0, 1}
    assert abs(1.0 - mask.mean() - rate) < 0.005
    np.testing.assert_array_equal(mask, random_mask((100, 1000), 5, rate))
    np.testing.assert_array_equal(random_mask((4,), -1, rate), random_mask((4,), 2**64 - 1, rate))


def test_masks_stay_what_they_are() -> None:
    """Programs made earlier hold the seed only."""
    assert random_mask((12,), 1, 0.5).tolist() == MASK_OF_SEED_1


MASK_OF_SEED_1 = [0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9, 0.99, 1.0])
def test_scale_is_that_of_f32_arithmetic(rate: float) -> None:
    one = np.float32(1.0)
    with np.errstate(divide="ignore"):
        expected = one / (one - np.float32(rate))
    assert dropout_scale(float(np.float32(rate))) == (expected if rate < 1.0 else 1.0)
