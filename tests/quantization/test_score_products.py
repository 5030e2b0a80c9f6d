"""Scores of narrow heads are computed in F16 in INT8 networks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.observe import calibrate
from xdsl_tpu.passes.lowering.score_products import score_products
from xdsl_tpu.passes.tensors import element_of, functions

Array = npt.NDArray[Any]

TOKENS = 128


def attention(depth: int, *behind: str, second: bool = False, to: str = "softmax") -> ModuleOp:
    """A product of two projections, what is done with it on its way, and a Softmax."""
    net, shape = Net(), (1, 2, TOKENS, TOKENS)
    x = net.input("x", 1, 2, TOKENS, depth)
    q = net.op(top.MatMulOp, "q", (x, net.weight("q_w", depth, depth), net.none))
    k = net.op(top.PermuteOp, "k", (q,), order=(0, 1, 3, 2))
    value: SSAValue = net.op(top.MatMulOp, "qk", (q, k, net.none))
    for place, kind in enumerate(behind):
        name = f"{kind}{place}"
        if kind == "bias":
            value = net.op(top.AddOp, name, (net.weight(name, *shape), value))
        elif kind == "factors":
            value = net.op(top.MulOp, name, (value, net.weight(name, 1, 2, 1, 1)))
        elif kind == "square":
            value = net.op(top.MulOp, name, (value, value))
        elif kind == "moved":
            value = net.op(top.ReshapeOp, name, (value,), shape=shape)
        else:
            value = net.op(top.MulConstOp, name, (value,), const_val=0.25)
    if to == "softmax":
        last = net.op(top.SoftmaxOp, "y", (value,), axis=3)
    else:
        last = net.op(top.ReluOp, "y", (value,))
    return net.module(last, *([value] if second else []))


def marked(module: ModuleOp) -> set[str]:
    (func,) = functions(module)
    return {name_of(op.results[0]) or "" for op in score_products(func, load_chip())}


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ([], {"qk"}),
        (["times"], {"qk", "times0"}),
        (["factors", "bias", "moved"], {"qk", "factors0", "bias1", "moved2"}),
        (["square"], set[str]()),
    ],
)
def test_they_leave_with_all_up_to_the_softmax(behind: Sequence[str], found: set[str]) -> None:
    assert marked(attention(32, *behind)) == found


def test_products_that_8_bits_halve_stay() -> None:
    assert marked(attention(64)) == set()


def test_what_something_else_reads_stays() -> None:
    assert marked(attention(32, second=True)) == marked(attention(32, to="relu")) == set()


def test_the_projection_in_front_of_them_stays_in_8_bits(tmp_path: Path) -> None:
    module = attention(16, "times")
    inputs = random_inputs(module, 3)
    (expected,) = run_module(module, inputs).values()

    def run(show: Callable[[str, Array], None]) -> None:
        run_module(module, inputs, trace=show)

    table = calibrate(run, "max")
    (tmp_path / "table").write_text(table.text())
    apply(
        module,
        ("import-calibration-table", f"file={tmp_path / 'table'} asymmetric=false"),
        ("convert-top-to-tpu", "mode=INT8 chip=bm1684x"),
    )
    module.verify()
    elements = [element_of(op.output) for op in ops_of(module, tpu.MatMulOp)]
    assert [isinstance(one, UniformType) for one in elements] == [True, False]
    (got,) = run_module(module, inputs).values()
    cosine = np.vdot(got, expected) / np.linalg.norm(got) / np.linalg.norm(expected)
    assert cosine > 0.998
