"""Sums in front of a Softmax run in floats in INT8 networks."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.calibration.observe import Observation
from xdsl_tpu.passes.lowering.ends import bounded_names
from xdsl_tpu.passes.lowering.score_sums import score_sums
from xdsl_tpu.passes.tensors import functions

SHAPE = (1, 2, 12, 12)


def scores(
    *behind: str, read_twice: bool = False, to: str = "softmax", lowest: float = -100
) -> ModuleOp:
    """Scores, with a bias and a mask added, seen in another shape, or multiplied on the way."""
    net = Net()
    x = net.input("x", 1, 2, 12, 8)
    value: SSAValue = net.op(top.MatMulOp, "qk", (x, net.weight("k", 1, 2, 8, 12), net.none))
    for place, kind in enumerate(behind):
        name = f"{kind}{place}"
        if kind == "bias":
            value = net.op(top.AddOp, name, (value, net.weight(name, *SHAPE)))
        elif kind == "mask":
            mask = np.where(np.arange(12) > 8, lowest, 0).astype(np.float32).reshape(1, 1, 1, 12)
            value = net.op(top.AddOp, name, (value, net.weight(name, 1, 1, 1, 12, values=mask)))
        elif kind == "moved":
            value = net.op(top.ReshapeOp, name, (value,), shape=SHAPE)
        else:
            value = net.op(top.MulConstOp, name, (value,), const_val=0.5)
    if to == "softmax":
        last = net.op(top.SoftmaxOp, "y", (value,), axis=3)
    else:
        last = net.op(top.ReluOp, "y", (value,))
    return net.module(last, *([value] if read_twice else []))


def marked(module: ModuleOp) -> set[str]:
    (func,) = functions(module)
    return {name_of(op.results[0]) or "" for op in score_sums(func)}


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        (["bias"], {"bias0"}),
        (["bias", "moved", "mask", "moved"], {"bias0", "moved1", "mask2", "moved3"}),
        (["moved"], set[str]()),
        (["times", "mask"], {"mask1"}),
        (["mask", "times"], set[str]()),
    ],
)
def test_sums_are_found_behind_what_moves_them(behind: Sequence[str], found: set[str]) -> None:
    assert marked(scores(*behind)) == found


def test_what_something_else_reads_or_no_softmax_stays() -> None:
    assert not marked(scores("mask", read_twice=True))
    assert not marked(scores("mask", to="relu"))


@pytest.mark.parametrize("lowest", [-100, -1e9, -np.inf])
def test_a_mask_leaves_the_scores_their_steps(tmp_path: Path, lowest: float) -> None:
    """Scores up to 3 beside -100 would have steps of 0.8; PyTorch's masks are minus infinity."""
    module = scores("mask", lowest=lowest)
    inputs = random_inputs(module, seed=3)
    exact, lowered = _in_int8(module, inputs, tmp_path / "table")
    (mask,) = ops_of(lowered, tpu.AddOp)
    assert "f16" in str(mask.output.type)
    (found,) = run_module(lowered, inputs).values()
    assert float(np.abs(found - exact).max()) < 0.03
    assert not found[..., 9:].any()


@pytest.mark.parametrize(("size", "kind"), [(1, "i8"), (40, "f16")])
def test_large_scores_are_not_brought_to_8_bits(tmp_path: Path, size: float, kind: str) -> None:
    """Of the maximum of each row less the scores, as channels attend to each other: scores up to
    130 would have steps of 1."""
    net = Net()
    x = net.input("x", 1, 12, 8)
    scores = np.random.default_rng(0).standard_normal((1, 8, 12)).astype(np.float32) * size
    product = net.op(top.MatMulOp, "qk", (x, net.weight("k", 1, 8, 12, values=scores), net.none))
    axes = {"axes": (2,), "keepdims": True, "mode": "ReduceMax"}
    most = net.op(top.ReduceOp, "most", (product,), **axes)
    left = net.op(top.SubOp, "left", (most, product))
    module = net.module(net.op(top.SoftmaxOp, "y", (left,), axis=2))
    inputs = random_inputs(module, seed=3)
    exact, lowered = _in_int8(module, inputs, tmp_path / "table")
    (made,) = ops_of(lowered, tpu.MatMulOp)
    assert kind in str(made.output.type)
    (found,) = run_module(lowered, inputs).values()
    assert float(np.abs(found - exact).max()) < 0.06


def test_infinity_is_refused_where_no_softmax_follows(tmp_path: Path) -> None:
    module = scores("mask", to="relu", lowest=-np.inf)
    with pytest.raises(TpuError, match="tensor 'mask0' holds NaN or infinity"):
        _in_int8(module, random_inputs(module, seed=3), tmp_path / "table")


def _in_int8(module: ModuleOp, inputs: Mapping[str, Any], table: Path) -> tuple[Any, ModuleOp]:
    """The exact result, and the module in 8 bits with the ranges of these inputs."""

    def run(show: Callable[[str, Any], None]) -> None:
        run_module(module, inputs, trace=show)

    (func,) = functions(module)
    table.write_text(Observation.of(run, bounded_names(func.body.block.ops)).table("max").text())
    (exact,) = run_module(module, inputs).values()
    lowered = apply(
        module,
        ("import-calibration-table", f"file={table} asymmetric=false"),
        ("convert-top-to-tpu", "mode=INT8 chip=bm1684x"),
    )
    return exact, lowered
