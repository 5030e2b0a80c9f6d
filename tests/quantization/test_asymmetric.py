"""INT8 with zero points: types, formulas, every op that has an 8-bit form, and whole programs."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from tests.integers import on_chip
from tests.passes.lowering_samples import Sample, W, X, module_of, normal
from tests.passes.real_networks import apply
from tests.quantization.test_int8_ops import (
    COARSE,
    INT8_SAMPLES,
    JUMPS,
    STEEP,
    STEPS,
    int8_module,
    kinds,
    run_shown,
)
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.quant import zero_point
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.calibration.observe import calibrate
from xdsl_tpu.passes.calibration.ranges import Range
from xdsl_tpu.passes.calibration.steps import Step, step_for
from xdsl_tpu.passes.pipelines import Quantization, Settings, lower, run_stage
from xdsl_tpu.passes.tensors import required_name

Array = npt.NDArray[Any]
Tensor = TensorType[Attribute]


def lowered(sample: Sample, folder: Path) -> tuple[ModuleOp, dict[str, Array], list[Array]]:
    """As `int8_module`, with zero points."""
    return int8_module(sample, folder, asymmetric=True)


@pytest.mark.parametrize(
    ("seen", "step"),
    [
        (Range(-1.0, 1.55), Step(2.55 / 255, True, -28)),
        (Range(-2.55, 0.0), Step(2.55 / 255, True, 127)),
        (Range(-1e-6, 2.55), Step(2.550001 / 255, True, -128)),
        (Range(0.0, 5.1), Step(5.1 / 255, False, 0)),
    ],
)
def test_a_range_gets_all_integers_from_end_to_end(seen: Range, step: Step) -> None:
    found = step_for(seen, asymmetric=True)
    assert (found.signed, found.zero_point) == (step.signed, step.zero_point)
    assert found.scale == pytest.approx(step.scale, rel=1e-12)
    lowest = (-128 if step.signed else 0) - found.zero_point
    assert abs(lowest * found.scale - seen.min) <= 0.5 * found.scale


@pytest.mark.parametrize("sample", INT8_SAMPLES, ids=str)
def test_results_are_within_steps_of_the_float_ones(sample: Sample, tmp_path: Path) -> None:
    module, inputs, expected = lowered(sample, tmp_path)
    found = list(run_module(module, inputs).values())
    for ours, theirs in zip(found, expected, strict=True):
        step = (max(float(theirs.max()), 0.0) - min(float(theirs.min()), 0.0)) / 255
        steps = np.abs(ours - theirs) / max(step, 1e-9)
        if sample.op in JUMPS:
            assert np.mean(steps > STEPS) <= 0.05
        elif sample.op in STEEP:
            assert np.mean(steps) <= 3
        else:
            assert steps.max() <= COARSE.get(sample.op, STEPS), steps.max()


def test_one_sided_numbers_are_finer_than_symmetric_ones(tmp_path: Path) -> None:
    """Numbers from -0.1 to 4: symmetric integers below zero are hardly used."""
    x = np.abs(normal(1, 8, 16, 16)).astype(np.float32) - np.float32(0.1)
    sample = Sample(top.SiLUOp, [X(x)])
    module, inputs, (expected,) = lowered(sample, tmp_path)
    (found,) = run_module(module, inputs).values()
    plain, inputs = module_of(sample)
    apply(
        plain,
        ("import-calibration-table", f"file={tmp_path / 'table'} asymmetric=false"),
        ("convert-top-to-tpu", "mode=INT8 chip=bm1684x by_tables=true"),
    )
    (symmetric,) = run_module(plain, inputs).values()
    errors = [float(np.abs(one - expected).mean()) for one in (found, symmetric)]
    assert errors[0] < 0.7 * errors[1]


def test_the_zero_point_of_an_input_is_in_the_bias(tmp_path: Path) -> None:
    weight = normal(6, 4, 3, 3)
    attributes = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1], "group": 1}
    x = X(normal(1, 4, 9, 9) + np.float32(0.4))
    none = W(np.zeros(6, np.float32))
    module, _, _ = lowered(Sample(top.ConvOp, [x, W(weight), none], attributes), tmp_path)
    (conv,) = (op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    point = zero_point(conv.input.type)
    assert point
    weights = weights_of(module)
    stored, bias = (weights[required_name(value)] for value in (conv.filter, conv.bias))
    assert stored.dtype == np.int8
    sums = stored.reshape(6, -1).sum(axis=1, dtype=np.int64)
    np.testing.assert_array_equal(bias.reshape(-1), -point * sums)


def test_what_knows_no_zero_points_runs_in_floats(tmp_path: Path) -> None:
    sample = Sample(top.AddOp, [X(normal(1, 4, 5, 6)), X(normal(1, 4, 5, 6))])
    assert kinds(lowered(sample, tmp_path)[0]) == set()
    positive = [X(np.abs(normal(1, 4, 5, 6))), X(np.abs(normal(1, 4, 5, 6)))]
    assert kinds(lowered(Sample(top.AddOp, positive), tmp_path)[0]) == {"tpu.Add"}


def network() -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Padded, strided, grouped and depthwise convolutions, a table, pools, joined and moved
    elements, a sum and a product."""
    rng = np.random.default_rng(5)

    def w(*shape: int) -> Array:
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    constants = {
        "w1": w(24, 3, 3, 3),
        "b1": w(24),
        "w2": w(24, 1, 5, 5),
        "w3": w(70, 24, 1, 1),
        "w4": w(24, 70, 3, 3),
        "m": w(24, 10),
    }
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Sigmoid", ["a"], ["s"]),
        node("Mul", ["a", "s"], ["silu"]),
        node("Conv", ["silu", "w2"], ["d"], pads=[2, 2, 2, 2], group=24),
        node("MaxPool", ["d"], ["p"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Conv", ["p", "w3"], ["e"]),
        node("Conv", ["e", "w4"], ["f"], pads=[1, 2, 0, 1], dilations=[1, 1]),
        node("Relu", ["f"], ["r"]),
        node("Concat", ["r", "d"], ["c"], axis=1),
        node("Transpose", ["c"], ["t"], perm=[0, 2, 3, 1]),
        node("Slice", ["t", "from", "to", "axes"], ["part"]),
        node("MatMul", ["part", "m"], ["y"]),
        node("Add", ["y", "y2"], ["z"]),
    ]
    constants |= {
        "from": np.array([12]),
        "to": np.array([36]),
        "axes": np.array([3]),
        "y2": w(10),
    }
    nodes[6] = node("Conv", ["e", "w4"], ["f"], pads=[1, 1, 1, 1])
    feeds = {"x": (rng.standard_normal((1, 3, 22, 18)) + 0.3).astype(np.float32)}
    return on_chip.model(nodes, feeds, constants, {"z": "float32"}), feeds


@pytest.mark.parametrize("disable", [(), ("layer-group",)], ids=["groups", "alone"])
def test_a_program_computes_what_its_ir_means(disable: tuple[str, ...], tmp_path: Path) -> None:
    made, feeds = network()
    (expected,) = on_chip.expected(made, feeds)
    module = import_onnx(made)
    run_stage(module, "top", Settings("F32", "bm1684x"))
    plain = module
    table = calibrate(lambda show: run_shown(plain, feeds, show), "max")
    (tmp_path / "table").write_text(table.text())
    module = import_onnx(made)
    quantization = Quantization(str(tmp_path / "table"), asymmetric=True)
    lower(module, "INT8", "bm1684x", disable=disable, quantization=quantization)
    values = [value for op in module.walk() for value in op.results]
    points = {zero_point(value.type) for value in values if isa(value.type, Tensor)}
    assert len(points) > 4
    computed = {op.name for op in module.walk() if "uniform" in "".join(map(str, op.result_types))}
    assert computed >= {"tpu.Conv2D", "tpu.Lut", "tpu.Pool2D", "tpu.MatMul"}
    (meant,) = run_module(module, feeds).values()
    program = generate(module, weights_of(module), on_chip.CHIP)
    (found,) = run_program(program, on_chip.CHIP, feeds).values()
    np.testing.assert_array_equal(found, meant)
    assert on_chip.cosine(found, expected) > 0.999


def test_corrections_of_symmetric_integers_are_refused(tmp_path: Path) -> None:
    module, _ = module_of(Sample(top.SiLUOp, [X(normal(1, 2, 3, 4))]))
    table = tmp_path / "table"
    table.write_text("x 1.0 -1.0 1.0\n#bias_correction\nx 1 0.5\n")
    with pytest.raises(TpuError, match="make a table without --min-cosine"):
        apply(
            module,
            ("import-calibration-table", f"file={_table(module, tmp_path)}"),
            (
                "convert-top-to-tpu",
                f"mode=INT8 chip=bm1684x asymmetric=true bias_corrections={table}",
            ),
        )


def _table(module: ModuleOp, folder: Path) -> Path:
    _, inputs = module_of(Sample(top.SiLUOp, [X(normal(1, 2, 3, 4))]))
    made = calibrate(lambda show: run_shown(module, inputs, show), "max")
    path = folder / "ranges"
    path.write_text(made.text())
    return path
