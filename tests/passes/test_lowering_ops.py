"""Every op the lowering claims to handle computes the same before and after."""

from pathlib import Path

import numpy as np
import pytest
from tests.passes.lowering_samples import (
    SAMPLES,
    Operand,
    Sample,
    W,
    X,
    element_types,
    module_of,
    normal,
)
from tests.passes.real_networks import apply

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import SUPPORTED_OPS, run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.lowering.table import LOWERINGS, STAY

TOLERANCE = {"F16": 4e-3, "BF16": 4e-2}
"""Relative to the largest value: a few roundings to 11 or 8 bits."""

STEPS = (
    top.CeilOp,
    top.FloorOp,
    top.RoundOp,
    top.SignOp,
    top.CompareOp,
    top.CompareConstOp,
    top.CastOp,
)
"""Functions that jump: rounding an input may change a result by a whole step."""

APPROXIMATE = (
    top.BatchNormOp,
    top.LRNOp,
    top.ConvOp,
    top.GridSamplerOp,
    top.SampledSumOp,
    top.DeconvOp,
    top.CumSumOp,
    top.InterpOp,
    top.PowOp,
    top.Pow2Op,
    top.Pow3Op,
)
"""Lowered to other ops, or to sums in another order: not exact in F32 either."""


def lowered(sample: Sample, mode: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Results before and after."""
    module, inputs = module_of(sample)
    module.verify()
    expected = list(run_module(module, inputs).values())
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"))
    left = [
        op.name for op in module.walk() if op.name.startswith("top.") and not isinstance(op, STAY)
    ]
    assert not left
    return expected, list(run_module(module, inputs).values())


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_f32_lowering_changes_no_value(sample: Sample) -> None:
    expected, actual = lowered(sample, "F32")
    for ours, theirs in zip(actual, expected, strict=True):
        if sample.op in APPROXIMATE or "log" in sample.attributes:
            scale = max(1.0, float(np.abs(theirs).max()))
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6 * scale)
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("mode", ["F16", "BF16"])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_16_bit_lowering_stays_close(sample: Sample, mode: str) -> None:
    expected, actual = lowered(sample, mode)
    for ours, theirs in zip(actual, expected, strict=True):
        scale = max(1.0, float(np.abs(theirs).max()))
        error = np.abs(ours - theirs) / scale
        if sample.op in STEPS:
            assert np.mean(error > TOLERANCE[mode]) <= 0.02
        else:
            assert error.max() <= TOLERANCE[mode]


def test_every_claimed_op_has_a_sample() -> None:
    # Operands that are not one number after the other, and results of several: tests of their own.
    others = {top.A16MatMulOp, top.FAttentionOp, top.GRUOp, top.LSTMOp}
    assert {sample.op for sample in SAMPLES} == set(LOWERINGS) - others


def test_what_the_lowering_makes_has_semantics() -> None:
    for sample in SAMPLES:
        module, _ = module_of(sample)
        apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
        made = {type(op) for op in module.walk() if op.name.startswith("tpu.")}
        assert made <= SUPPORTED_OPS


def test_every_op_has_a_name_afterwards() -> None:
    for sample in SAMPLES:
        module, _ = module_of(sample)
        apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
        unnamed = [
            op.name
            for op in module.walk()
            if op.name.startswith(("tpu.", "top.")) and "loc(unknown)" in str(op.location)
        ]
        assert set(unnamed) <= {"top.None"}


IN_F32 = "AvgPool Div Elu Erf GELU InstanceNorm Log Reciprocal SiLU Sigmoid Tanh"
IN_F16 = "Abs Add Ceil Exp HardSwish LayerNorm MatMul MaxPool Mul Permute Relu Softmax"


@pytest.mark.parametrize(
    ("op", "kind"),
    [*((op, "f32") for op in IN_F32.split()), *((op, "f16") for op in IN_F16.split())],
)
def test_which_ops_keep_f32_in_f16_mode(op: str, kind: str) -> None:
    sample = next(sample for sample in SAMPLES if str(sample) == op)
    module, _ = module_of(sample)
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    (target,) = {
        op.name for op in module.walk() if op.name.startswith("tpu.") and op.name != "tpu.Cast"
    }
    assert set(element_types(module, target)) == {kind}


@pytest.mark.parametrize(
    ("mode", "kernel", "kind"),
    [("F16", 3, "f16"), ("F16", 4, "f32"), ("BF16", 2, "f32"), ("F32", 2, "f32")],
)
def test_means_of_a_few_elements_stay_f16(mode: str, kernel: int, kind: str) -> None:
    window = {"kernel_shape": (kernel, kernel), "strides": (1, 1), "pads": (0,) * 4}
    module, _ = module_of(Sample(top.AvgPoolOp, [X(normal(1, 3, 6, 6))], window))
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"))
    assert set(element_types(module, "tpu.Pool2D")) == {kind}


def test_biases_of_convolutions_stay_f32_those_of_products_do_not() -> None:
    for op, target, kinds in (
        ("Conv", "tpu.Conv2D", ["f16", "f16", "f32", "f16"]),
        ("MatMul", "tpu.MatMul", ["f16", "f16", "f16", "f16"]),
    ):
        module, _ = module_of(next(sample for sample in SAMPLES if str(sample) == op))
        apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
        assert element_types(module, target) == kinds


@pytest.mark.parametrize(
    "bias", [W(normal(6)), X(normal(6)), None], ids=["known", "computed", "no"]
)
@pytest.mark.parametrize("pads", [1, 20])
def test_constant_data_takes_the_type_of_a_computed_filter(bias: Operand, pads: int) -> None:
    """Generators begin with a constant that filters made from the input slide over."""
    options = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (pads,) * 4, "group": 1}
    operands = [W(normal(1, 4, 5, 5)), X(normal(6, 4, 3, 3)), bias]
    module, _ = module_of(Sample(top.ConvOp, operands, options))
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    assert element_types(module, "tpu.Conv2D")[:2] == ["f16", "f16"]


def test_indices_become_integers() -> None:
    module, _ = module_of(next(sample for sample in SAMPLES if str(sample) == "Gather"))
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    assert element_types(module, "tpu.Gather") == ["f16", "si32", "f16"]


def test_a_sigmoid_with_scale_is_refused() -> None:
    sample = next(sample for sample in SAMPLES if str(sample) == "Sigmoid")
    module, _ = module_of(Sample(sample.op, sample.operands, {"scale": 2.0}))
    with pytest.raises(TpuError, match=r"top.Sigmoid 'y': scale is not 1"):
        apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))


def test_factors_beyond_f16_stay_in_f32() -> None:
    module, _ = module_of(Sample(top.MulOp, [X(normal(1, 3)), W(np.full((1, 3), 1e6, np.float32))]))
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    assert weights_of(module)["w1"].tolist() == [[1e6] * 3]
    assert element_types(module, "tpu.Mul") == ["f32", "f32", "f32"]


def test_weights_beyond_f16_become_its_largest_number_where_a_table_says_f16(
    tmp_path: Path,
) -> None:
    (tmp_path / "table").write_text("y F16\n")
    module, _ = module_of(Sample(top.MulOp, [X(normal(1, 3)), W(np.full((1, 3), 1e6, np.float32))]))
    options = f"mode=F16 chip=bm1684x qtable={tmp_path / 'table'}"
    apply(module, ("convert-top-to-tpu", options))
    assert weights_of(module)["w1_f16"].tolist() == [[65504.0] * 3]
    assert "w1" not in weights_of(module)


def test_bf16_weights_are_stored_as_their_upper_halves() -> None:
    module, _ = module_of(Sample(top.MulOp, [X(normal(1, 3)), W(np.full((1, 3), 1.5, np.float32))]))
    apply(module, ("convert-top-to-tpu", "mode=BF16 chip=bm1684x"))
    array = weights_of(module)["w1_bf16"]
    assert (array.dtype, array.tolist()) == (np.uint16, [[0x3FC0] * 3])
