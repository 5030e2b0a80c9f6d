"""Scores whose range only a mask makes large, and scores that are large by themselves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.passes.calibration.observe import calibrate
from xdsl_tpu.passes.calibration.ranges import Range, set_range
from xdsl_tpu.passes.lowering.context import F16_DEPTH
from xdsl_tpu.passes.lowering.op_modes import float_mode
from xdsl_tpu.passes.tensors import element_of

TOKENS = 12
UNSEEN = float(np.finfo(np.float32).min)


def masked_softmax(mask: str, size: float = 1.0, to_sum: bool = False) -> ModuleOp:
    """Softmax of scores with a mask that is a `weight`, a `factor` or a `choice`."""
    net = Net()
    x = net.input("x", 1, TOKENS, TOKENS)
    scores = net.op(top.MulConstOp, "scores", (x,), const_val=size)
    seen = np.tril(np.ones((1, TOKENS, TOKENS), np.float32))
    value: SSAValue
    if mask == "weight":
        values = np.where(seen > 0, 0, UNSEEN)
        value = net.op(top.AddOp, "masked", (scores, net.weight("m", values=values)))
    elif mask == "factor":
        unseen = net.op(top.CompareConstOp, "u", (x,), mode="Less", const_val=0.0, inversed=False)
        term = net.op(top.MulConstOp, "term", (unseen,), const_val=-1e9)
        value = net.op(top.AddOp, "masked", (scores, term))
    else:
        flags = net.weight("s", values=seen)
        value = net.op(
            top.WhereOp,
            "masked",
            (flags, scores, net.none),
            y_is_const=True,
            y_const_val=UNSEEN,
        )
    y = net.op(top.SoftmaxOp, "y", (value,), axis=2)
    if to_sum:
        y = net.op(top.AddOp, "sum", (y, value))
    return net.module(y)


def calibrated(module: ModuleOp, folder: Path) -> ModuleOp:
    inputs = random_inputs(module, 3)

    def run(show: Callable[[str, Any], None]) -> None:
        run_module(module, inputs, trace=show)

    table = calibrate(run, "max")
    (folder / "table").write_text(table.text())
    apply(module, ("import-calibration-table", f"file={folder / 'table'} asymmetric=false"))
    return module


@pytest.mark.parametrize("mask", ["weight", "factor", "choice"])
def test_a_mask_does_not_widen_scores(mask: str, tmp_path: Path) -> None:
    module = calibrated(masked_softmax(mask), tmp_path)
    modes = {float_mode(op) for op in module.walk() if isinstance(op, top.AddOp | top.SoftmaxOp)}
    assert modes == {"F16"}


@pytest.mark.parametrize("mask", ["weight", "factor", "choice"])
def test_scores_beyond_f16_stay_wide(mask: str, tmp_path: Path) -> None:
    module = calibrated(masked_softmax(mask, 1e6), tmp_path)
    (softmax,) = ops_of(module, top.SoftmaxOp)
    assert float_mode(softmax) == "F32"


@pytest.mark.parametrize(("threshold", "mode"), [(F16_DEPTH, "F16"), (F16_DEPTH * 0.99, "F32")])
def test_ranges_with_fewer_digits_in_f16_than_in_8_bits_are_wide(
    threshold: float, mode: str
) -> None:
    net = Net()
    softmax = net.op(top.SoftmaxOp, "y", (net.input("x", 1, TOKENS, TOKENS),), axis=2)
    (op,) = ops_of(net.module(softmax), top.SoftmaxOp)
    set_range(op.output, Range(-1.0, 1.0))
    assert float_mode(op) == "F16"
    set_range(op.output, Range(-threshold, threshold))
    assert float_mode(op) == mode


def test_what_is_masked_and_read_by_more_than_a_softmax_stays_wide(tmp_path: Path) -> None:
    module = calibrated(masked_softmax("weight", to_sum=True), tmp_path)
    (softmax,) = ops_of(module, top.SoftmaxOp)
    assert float_mode(softmax) == "F32"


def test_the_network_computes_in_f16_what_it_did(tmp_path: Path) -> None:
    module = masked_softmax("weight")
    inputs = random_inputs(module, 4)
    (expected,) = run_module(module, inputs).values()
    apply(calibrated(module, tmp_path), ("convert-top-to-tpu", "mode=INT8 chip=bm1684x"))
    (softmax,) = ops_of(module, tpu.SoftmaxOp)
    assert "f16" in str(element_of(softmax.output))
    (got,) = run_module(module, inputs).values()
    assert np.allclose(got, expected, atol=0.02)
    assert not got[0][np.triu_indices(TOKENS, 1)].any()


@pytest.mark.parametrize("behind", ["INT8", "F16"])
def test_a_product_beyond_f16_of_tensors_within_it_gives_f32(behind: str, tmp_path: Path) -> None:
    """Its operands are f16, of 8-bit integers also, which takes no longer than an f16 result."""
    net = Net()
    factors = [net.op(top.AbsOp, name, (net.input(name[0], 1, 8, 8),)) for name in ("a1", "b1")]
    large = [
        net.op(top.MulConstOp, f"{name}2", (value,), const_val=500.0)
        for name, value in zip("ab", factors, strict=True)
    ]
    scores = net.op(top.MatMulOp, "scores", (*large, net.none))
    module = calibrated(net.module(net.op(top.SoftmaxOp, "y", (scores,), axis=2)), tmp_path)
    (product,) = ops_of(module, top.MatMulOp)
    assert float_mode(product) == "F32"
    table = tmp_path / "modes"
    lines = ["scores F32", *(f"{name} {behind}" for name in ("a1", "b1", "a2", "b2"))]
    table.write_text("\n".join(lines))
    apply(module, ("convert-top-to-tpu", f"mode=INT8 chip=bm1684x qtable={table}"))
    (found,) = ops_of(module, tpu.MatMulOp)
    assert all("f16" in str(value.type) for value in (found.input, found.right))
    assert "f32<" in str(element_of(found.output))
