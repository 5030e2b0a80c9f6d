"""Every op the lowering claims to handle computes nearly the same in INT8, or in F16 instead."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.lowering_samples import SAMPLES, Sample, W, X, module_of, normal, positive
from tests.passes.real_networks import apply
from xdsl.dialects.builtin import ModuleOp, f32

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interpreters import SUPPORTED_OPS, run_module
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.observe import calibrate
from xdsl_tpu.passes.calibration.steps import Step
from xdsl_tpu.passes.lowering.int8.functions import line_of, values_of
from xdsl_tpu.passes.lowering.int8.table import INT8_LOWERINGS
from xdsl_tpu.passes.tensors import element_of, shape_of

Array = npt.NDArray[Any]

STEPS = 2.0
"""How many steps of the result an element may be off: its own rounding, and those of operands."""

COARSE: dict[type, float] = {
    top.AddConstOp: 2.6,
    top.SubConstOp: 2.6,
    top.MulOp: 3.0,
    top.ConvOp: 3.5,
    top.MatMulOp: 4.0,
}
"""Sums of many rounded factors, and scales of 8 bits."""

JUMPS = (top.CeilOp, top.FloorOp, top.RoundOp, top.SignOp)
STEEP = (top.ReciprocalOp, top.RsqrtOp, top.ExpOp, top.CoshOp, top.SinhOp, top.PowOp, top.Pow2Op)
"""Functions that turn one step of the operand into several of the result."""

INT8_SAMPLES = [sample for sample in SAMPLES if sample.op in INT8_LOWERINGS]


def int8_module(
    sample: Sample, folder: Path, asymmetric: bool = False, more: str = ""
) -> tuple[ModuleOp, dict[str, Array], list[Array]]:
    """The lowered module, its inputs, and the results in f32."""
    module, inputs = module_of(sample)
    expected = list(run_module(module, inputs).values())
    table = calibrate(lambda show: run_shown(module, inputs, show), "max")
    (folder / "table").write_text(table.text())
    how = f"asymmetric={str(asymmetric).lower()}"
    apply(
        module,
        ("import-calibration-table", f"file={folder / 'table'} {how}"),
        ("convert-top-to-tpu", f"mode=INT8 chip=bm1684x {how} {more}"),
    )
    return module, inputs, expected


def run_shown(module: ModuleOp, inputs: dict[str, Array], show: Any) -> None:
    run_module(module, inputs, trace=show)


def kinds(module: ModuleOp) -> set[str]:
    """`tpu` ops with 8-bit results."""
    return {
        op.name
        for op in module.walk()
        if op.name.startswith("tpu.") and isinstance(element_of(op.results[0]), UniformType)
    } - {"tpu.Cast"}


@pytest.mark.parametrize("sample", INT8_SAMPLES, ids=str)
def test_int8_results_are_within_steps_of_the_float_ones(sample: Sample, tmp_path: Path) -> None:
    module, inputs, expected = int8_module(sample, tmp_path)
    found = list(run_module(module, inputs).values())
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        step = float(np.abs(theirs).max()) / (127 if theirs.min() < 0 else 255)
        steps = np.abs(ours - theirs) / max(step, 1e-9)
        if sample.op in JUMPS:
            assert np.mean(steps > STEPS) <= 0.05
        elif sample.op in STEEP:
            assert np.mean(steps) <= 3
        else:
            assert steps.max() <= COARSE.get(sample.op, STEPS), steps.max()


@pytest.mark.parametrize("op", [top.ConvOp, top.MatMulOp])
@pytest.mark.parametrize(
    ("inputs", "factors", "bias"),
    [(1e-4, 1.0, 1e-4), (1.0, 1e-6, 1e-6), (1.0, 1e-9, 1.0), (1e-4, 1e-3, 1.0), (0.0, 0.0, 0.0)],
)
def test_small_numbers_are_as_exact_as_others(
    op: type[NamedOp], inputs: float, factors: float, bias: float, tmp_path: Path
) -> None:
    """Where the bias is far larger than all products, these have no bits left, but that has."""
    whole = next(one for one in INT8_SAMPLES if one.op is op and one.operands[2] is not None)
    x, filter_, added = whole.operands
    assert isinstance(x, X)
    assert isinstance(filter_, W)
    assert isinstance(added, W)
    operands = [X(inputs * x.array), W(factors * filter_.array), W(bias * added.array)]
    module, given, (expected,) = int8_module(replace(whole, operands=operands), tmp_path)
    assert kinds(module)
    (found,) = run_module(module, given).values()
    step = float(np.abs(expected).max()) / 127
    assert np.abs(found - expected).max() <= COARSE.get(op, STEPS) * step


def test_what_int8_lowering_makes_has_semantics(tmp_path: Path) -> None:
    for sample in SAMPLES:
        module, _, _ = int8_module(sample, tmp_path)
        made = {type(op) for op in module.walk() if op.name.startswith("tpu.")}
        assert made <= SUPPORTED_OPS


IN_INT8 = "Conv MatMul Add Sub Mul MulConst AddConst AvgPool MaxPool Relu Sqrt Abs"
IN_INT8_TOO = "Permute Slice Depth2Space Max Min Upsample Sigmoid Split LeakyRelu Deconv"
IN_FLOAT = "LayerNorm Softmax Reduce Gather Interp PRelu Clip Div InstanceNorm"
FASTER_IN_FLOAT = "Mish GELU SiLU Tanh HardSwish Exp Elu"


@pytest.mark.parametrize("name", f"{IN_INT8} {IN_INT8_TOO} {IN_FLOAT} {FASTER_IN_FLOAT}".split())
def test_which_ops_have_an_8_bit_form(name: str, tmp_path: Path) -> None:
    samples = [sample for sample in SAMPLES if str(sample) == name]
    made = (int8_module(sample, tmp_path, more="by_need=true")[0] for sample in samples)
    found = {bool(kinds(one)) for one in made}
    assert (True in found) == (name not in (*IN_FLOAT.split(), *FASTER_IN_FLOAT.split()))


@pytest.mark.parametrize("name", FASTER_IN_FLOAT.split())
def test_functions_are_tables_where_that_is_asked_for(name: str, tmp_path: Path) -> None:
    sample = next(sample for sample in SAMPLES if str(sample) == name)
    assert kinds(int8_module(sample, tmp_path, more="by_tables=true")[0]) == {"tpu.Lut"}


@pytest.mark.parametrize("op", [top.HardSwishOp, top.TanhOp, top.SiLUOp])
def test_functions_are_factors_close_to_0(op: type[NamedOp], tmp_path: Path) -> None:
    """Up to the range at which a straight line is `CLOSE` no more."""
    x = normal(2, 3, 4, 5)
    network, _ = module_of(Sample(op, [X(x)]))
    (function,) = (one for one in network.walk() if isinstance(one, op))

    def is_factor(reach: float) -> bool:
        wanted = UniformType.of(8, f32, float(values_of(function)(np.array(reach))) / 127)
        return line_of(function, Step(reach / 127, True), wanted) is not None

    module, inputs, (expected,) = int8_module(Sample(op, [X(x * 1e-4)]), tmp_path)
    assert kinds(module) == {"tpu.MulShift"}
    (found,) = run_module(module, inputs).values()
    assert np.abs(found - expected).max() <= 1.01 * float(np.abs(expected).max()) / 127
    reaches = np.geomspace(1e-4, 1.0, 200)
    last = max(reach for reach in reaches if is_factor(reach))
    assert 1e-3 < last < 0.5
    assert not any(is_factor(reach) for reach in reaches[reaches > last])


def test_what_is_not_0_at_0_is_no_factor(tmp_path: Path) -> None:
    sample = Sample(top.SigmoidOp, [X(normal(2, 3, 4, 5) * 1e-4)])
    assert "tpu.MulShift" not in kinds(int8_module(sample, tmp_path)[0])


@pytest.mark.parametrize("backwards", [False, True])
def test_a_difference_with_a_constant_is_a_sum(backwards: bool, tmp_path: Path) -> None:
    attributes = {"const_val": 0.75, "is_reverse": backwards}
    sample = Sample(top.SubConstOp, [X(normal(2, 3, 4, 5))], attributes)
    module, inputs, (expected,) = int8_module(sample, tmp_path)
    assert kinds(module) == (set() if backwards else {"tpu.AddConst"})
    (found,) = run_module(module, inputs).values()
    assert np.abs(found - expected).max() < 3 * float(np.abs(expected).max()) / 127


def test_a_limit_of_a_relu_that_the_scale_does_not_keep_makes_it_f16(tmp_path: Path) -> None:
    """The operand has another reader: the result takes its range, which exceeds the limit."""
    sample = Sample(top.ReluOp, [X(normal(2, 3, 4, 5) * 10)], {"relu_limit": 0.5})
    module, inputs, (expected,) = int8_module(sample, tmp_path)
    assert "tpu.Relu" in kinds(module)  # its operand has no other: both end at the limit
    (found,) = run_module(module, inputs).values()
    assert np.abs(found - expected).max() < 0.01


@pytest.mark.parametrize(("depth", "whole"), [(65535, True), (65536, False)])
def test_sums_of_more_than_a_command_holds_are_f16(depth: int, whole: bool, tmp_path: Path) -> None:
    sample = Sample(top.MatMulOp, [X(normal(1, depth)), W(normal(depth, 2)), W(normal(2))])
    module, _, _ = int8_module(sample, tmp_path)
    assert kinds(module) == ({"tpu.MatMul"} if whole else set())


def test_operands_of_one_weight_share_a_quantised_copy(tmp_path: Path) -> None:
    sample = Sample(top.AddOp, [X(normal(2, 3, 4, 5)), W(positive(1, 3, 1, 5))])
    module, _, _ = int8_module(sample, tmp_path)
    (addition,) = (op for op in module.walk() if isinstance(op, tpu.AddOp))
    assert str(element_of(addition.inputs[1])) == "ui8"


@pytest.mark.parametrize(
    ("channels", "group", "in_int8"),
    [(112, 4, True), (128, 2, True), (512, 32, True), (440, 55, False)],
)
def test_groups_that_zeros_between_them_slow_down_are_f16(
    channels: int, group: int, in_int8: bool, tmp_path: Path
) -> None:
    """In 8 bits groups that are computed together fill whole rounds of lanes, as 4 of 16 channels
    do, but no number of 55 groups of 8 channels other than all of them."""
    attributes = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4, "group": group}
    filter_ = W(normal(channels, channels // group, 1, 1))
    sample = Sample(top.ConvOp, [X(normal(1, channels, 24, 24)), filter_, None], attributes)
    module, inputs, (expected,) = int8_module(sample, tmp_path)
    assert kinds(module) == ({"tpu.Conv2D"} if in_int8 else set())
    (found,) = run_module(module, inputs).values()
    assert np.abs(found - expected).max() < 4 * float(np.abs(expected).max()) / 127


@pytest.mark.parametrize(("channels", "group", "joined"), [(6, 2, 6), (128, 32, 64)])
def test_groups_of_columns_are_joined(
    channels: int, group: int, joined: int, tmp_path: Path
) -> None:
    attributes = {"kernel_shape": [3], "strides": [1], "pads": [1, 1], "group": group}
    filter_ = W(normal(channels, channels // group, 3))
    sample = Sample(top.ConvOp, [X(normal(1, channels, 400)), filter_, None], attributes)
    module, inputs, (expected,) = int8_module(sample, tmp_path)
    apply(module, ("processor-tpu-optimize", ""))
    (conv,) = (op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    assert shape_of(conv.filter) == (channels, joined, 3)
    (found,) = run_module(module, inputs).values()
    assert np.abs(found - expected).max() < 4 * float(np.abs(expected).max()) / 127


@pytest.mark.parametrize(
    ("patch", "size", "in_int8"), [(16, 48, True), (16, 50, False), (32, 64, False), (8, 24, True)]
)
def test_patches_farther_apart_than_8_bit_kernels_can_take_are_f16(
    patch: int, size: int, in_int8: bool, tmp_path: Path
) -> None:
    attributes = {"kernel_shape": [patch] * 2, "strides": [patch] * 2, "pads": [0] * 4}
    operands = [X(normal(1, 3, size, size)), W(normal(6, 3, patch, patch)), W(normal(6))]
    sample = Sample(top.ConvOp, operands, attributes)
    module, inputs, (expected,) = int8_module(sample, tmp_path, more="by_need=true")
    assert kinds(module) == ({"tpu.Conv2D"} if in_int8 else set())
    (found,) = run_module(module, inputs).values()
    assert np.abs(found - expected).max() < 4 * float(np.abs(expected).max()) / 127


@pytest.mark.parametrize("signed", [True, False], ids=["signed", "unsigned"])
@pytest.mark.parametrize(
    ("strides", "pads", "dilations"),
    [
        ((1, 1, 1), (1, 1, 1), (1, 1, 1)),
        ((2, 1, 2), (0, 1, 0), (1, 1, 1)),
        ((1, 2, 1), (2, 0, 1), (2, 1, 1)),
    ],
)
def test_filters_of_volumes_are_filters_of_planes(
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    signed: bool,
    tmp_path: Path,
) -> None:
    """Also planes that are not there, and factors without a sign, which have no bias."""
    x, weights = normal(1, 5, 6, 9, 8), normal(7, 5, 3, 3, 3) / 8
    operands: list[X | W | None] = [X(x), W(weights), W(normal(7))]
    if not signed:
        operands = [X(x), W(np.abs(weights)), None]
    attributes = {
        "kernel_shape": [3, 3, 3],
        "strides": list(strides),
        "pads": [*pads, *pads],
        "dilations": list(dilations),
        "group": 1,
        "do_relu": signed,
    }
    module, inputs, (expected,) = int8_module(Sample(top.ConvOp, operands, attributes), tmp_path)
    assert "tpu.Conv2D" in kinds(module)
    (found,) = run_module(module, inputs).values()
    assert found.shape == expected.shape
    assert (
        np.abs(found - expected).max() <= COARSE[top.ConvOp] * float(np.abs(expected).max()) / 127
    )
