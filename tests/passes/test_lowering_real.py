"""Lowering real networks gives what the vendor's compiler printed for them."""

import re
from collections import Counter

import numpy as np
import pytest
from tests.passes.real_networks import (
    LOWERING,
    TO_FINAL,
    apply,
    cosine,
    facts,
    real_module,
    real_text,
)
from xdsl.dialects.builtin import StringAttr

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import module_text, parse_module

CNNS = ("mobilenetv2_100", "resnet50")
ADDRESS = re.compile(r", \d{10} : i64(?=>)")


def body(text: str) -> list[str]:
    """Everything but the attributes of the module."""
    return [line for line in text.splitlines() if not line.startswith("module ")]


@pytest.mark.parametrize("name", CNNS)
def test_f16_lowering_equals_the_real_file_line_by_line(name: str) -> None:
    module = apply(real_module(name, with_weights=False), *LOWERING)
    assert body(module_text(module)) == body(real_text(f"{name}_bm1684x_f16_tpu"))


@pytest.mark.parametrize("name", CNNS)
def test_module_attributes_are_those_of_the_real_file(name: str) -> None:
    module = real_module(name)
    (pass_name, options), *_ = LOWERING
    apply(module, (pass_name, f"{options} weightFileName={name}_bm1684x_f16_tpu_weights.npz"))
    real = parse_module(real_text(f"{name}_bm1684x_f16_tpu")).attributes
    by_processor_assign = {"addr_mode", "cores", "devices", "high_precision"}
    missing = {key.removeprefix("module.") for key in real.keys() - module.attributes.keys()}
    assert missing == by_processor_assign
    assert all(real[key] == value for key, value in module.attributes.items())


def test_weight_file_is_named_after_the_stage() -> None:
    module = real_module("resnet50")
    apply(module, *LOWERING)
    name = module.attributes["module.weight_file"]
    assert name == StringAttr("resnet50_tpu_lowered_bm1684x_f16_weight.npz")
    apply(module, *TO_FINAL)
    name = module.attributes["module.weight_file"]
    assert name == StringAttr("resnet50_tpu_addressed_bm1684x_f16_weight.npz")


def test_swin_differs_only_where_rewrites_before_the_lowering_differ() -> None:
    """The real file had its QKV products split, K transposes absorbed and rolls recognised."""
    ours = facts(apply(real_module("swin_t", with_weights=False), *LOWERING), with_operands=False)
    real = facts(parse_module(real_text("swin_t_bm1684x_f16_tpu")), with_operands=False)
    common = ours.keys() & real.keys()
    different = Counter(
        (ours[name].op, real[name].op) for name in common if ours[name] != real[name]
    )
    assert different == {("tpu.Concat", "tpu.SwapDimInner"): 20, ("tpu.MatMul", "tpu.MatMul"): 12}
    only_real = Counter(real[name].op for name in real.keys() - common)
    assert only_real == {"top.Weight": 48, "tpu.MatMul": 36, "tpu.Reshape": 36}
    assert len(common) == 432


@pytest.mark.parametrize("name", CNNS)
def test_final_ir_equals_the_real_file_op_by_op(name: str) -> None:
    """Names, kinds, attributes and types; order, addresses and layer groups differ."""
    ours = facts(apply(real_module(name), *LOWERING, *TO_FINAL), with_operands=False)
    real = facts(parse_module(real_text(f"{name}_bm1684x_f16_final")), with_operands=False)
    ours.pop("input")
    real.pop("input")
    assert ours == real


@pytest.mark.parametrize("name", CNNS)
def test_coefficients_take_as_many_bytes_as_in_the_real_file(name: str) -> None:
    ours = module_text(apply(real_module(name), *LOWERING, *TO_FINAL))
    size = re.compile(r"module\.coeff_size = (\d+)")
    real = real_text(f"{name}_bm1684x_f16_final")
    assert size.findall(ours) == size.findall(real)


@pytest.mark.parametrize(("mode", "least"), [("F32", 1.0), ("F16", 0.9999), ("BF16", 0.995)])
@pytest.mark.parametrize("name", [*CNNS, "swin_t"])
def test_values_survive_every_pass(name: str, mode: str, least: float) -> None:
    module = real_module(name)
    x = np.random.default_rng(7).standard_normal((1, 3, 224, 224)).astype(np.float32)
    (expected,) = run_module(module, {"input": x}).values()
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"), ("weight-fold", ""))
    (lowered,) = run_module(module, {"input": x}).values()
    assert cosine(lowered, expected) >= least - 1e-12
    apply(module, *TO_FINAL, ("verify-addresses", ""))
    (final,) = run_module(module, {"input": x}).values()
    if mode == "F32":
        np.testing.assert_array_equal(final, expected)
    assert cosine(final, expected) >= least - 1e-12
