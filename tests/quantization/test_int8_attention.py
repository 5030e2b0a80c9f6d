"""Attention in INT8 networks: which stays in 8 bits, and what becomes of the rest."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, kinds, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.calibration.observe import calibrate
from xdsl_tpu.passes.lowering.attention_parts import SHARE, TENSORS, wide_attention
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import functions

Array = npt.NDArray[Any]

HEADS, TOKENS, DEPTH = 2, 70, 16

SMALL = replace(load_chip(), local_bytes=2048)
"""A chip without room for the scores of 70 tokens."""


def attention(mixed: bool = False, masked: bool = False) -> ModuleOp:
    """Three projections, attention of their heads, and a product behind it."""
    net = Net()
    width = HEADS * DEPTH
    x = net.input("x", 1, TOKENS, width)

    def heads(name: str, order: tuple[int, ...]) -> SSAValue:
        flat = net.op(top.MatMulOp, name, (x, net.weight(f"{name}_w", width, width), net.none))
        split = net.op(top.ReshapeOp, f"{name}_r", (flat,), shape=(1, TOKENS, HEADS, DEPTH))
        return net.op(top.PermuteOp, f"{name}_p", (split,), order=order)

    def mix(name: str, value: SSAValue) -> SSAValue:
        if not mixed:
            return value
        last = net.op(top.PermuteOp, f"{name}_l", (value,), order=(0, 2, 3, 1))
        weight = net.weight(f"{name}_w", HEADS, HEADS)
        product = net.op(top.MatMulOp, f"{name}_m", (last, weight, net.none))
        return net.op(top.PermuteOp, name, (product,), order=(0, 3, 1, 2))

    q, k, v = heads("q", (0, 2, 1, 3)), heads("k", (0, 2, 3, 1)), heads("v", (0, 2, 1, 3))
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    scores = net.op(top.MulConstOp, "scaled", (scores,), const_val=DEPTH**-0.5)
    if masked:
        scores = net.op(top.AddOp, "masked", (scores, net.weight("mask", 1, 1, TOKENS, TOKENS)))
    shares = net.op(top.SoftmaxOp, "shares", (mix("a", scores),), axis=3)
    value = net.op(top.MatMulOp, "values", (mix("b", shares), v, net.none))
    tokens = net.op(top.PermuteOp, "tokens", (value,), order=(0, 2, 1, 3))
    joined = net.op(top.ReshapeOp, "joined", (tokens,), shape=(1, TOKENS, width))
    last = net.op(top.MatMulOp, "y", (joined, net.weight("y_w", width, width), net.none))
    return net.module(last)


def needed() -> int:
    """Bytes per lane that the softmax of one head takes: two rows a lane, of 96 elements."""
    return TENSORS * 2 * 96 * 2


def test_what_fits_stays_in_8_bits() -> None:
    """Of heads that have more channels than scores in floats are for."""
    (func,) = functions(attention())
    chip = load_chip()
    chip = replace(chip, cube_channels={**chip.cube_channels, 2: DEPTH - 1})
    assert not wide_attention(func, replace(chip, local_bytes=needed()))
    assert wide_attention(func, replace(chip, local_bytes=needed() - 1))


def test_scores_in_floats_that_fill_much_of_local_memory_leave() -> None:
    """Those of all heads; of fewer keys than lanes none do."""
    (func,) = functions(attention())
    room = int(HEADS * needed() / SHARE)
    assert not wide_attention(func, replace(load_chip(), local_bytes=room))
    small = replace(load_chip(), local_bytes=room - 3)
    assert wide_attention(func, small)
    assert not wide_attention(func, replace(small, lanes=TOKENS + 1))


@pytest.mark.parametrize(("lanes", "channels", "leaves"), [(8, 16, 2), (8, 15, 0), (12, 16, 0)])
def test_scores_in_floats_of_many_keys_leave(lanes: int, channels: int, leaves: int) -> None:
    """70 keys are 6 groups of 8 lanes, but not of 12; a head has 16 channels."""
    (func,) = functions(attention())
    chip = load_chip()
    small = replace(chip, lanes=lanes, cube_channels={**chip.cube_channels, 2: channels})
    found = [op.name for op in wide_attention(func, small)]
    assert found.count("top.MatMul") == leaves


@pytest.mark.parametrize("masked", [False, True])
def test_all_between_the_products_and_the_moves_around_them_leave(masked: bool) -> None:
    module = attention(masked=masked)
    (func,) = functions(module)
    found = [op.name for op in wide_attention(func, SMALL)]
    assert found.count("top.MatMul") == 2
    assert found.count("top.Softmax") == found.count("top.MulConst") == 1
    assert found.count("top.Add") == masked
    assert found.count("top.Permute") == found.count("top.Reshape") == 4


def test_mixed_heads_leave_however_small() -> None:
    (func,) = functions(attention(mixed=True))
    found = [op.name for op in wide_attention(func, load_chip())]
    assert found.count("top.MatMul") == 4


def test_a_softmax_behind_a_layer_is_no_attention() -> None:
    net = Net()
    x = net.input("x", 1, 512, 8)
    scores = net.op(top.MatMulOp, "m", (x, net.weight("w", 8, 512), net.none))
    y = net.op(top.SoftmaxOp, "y", (scores,), axis=2)
    (func,) = functions(net.module(y))
    assert not wide_attention(func, SMALL)


def run_with(module: ModuleOp, inputs: dict[str, Array], show: Any) -> None:
    run_module(module, inputs, trace=show)


def test_it_is_fused_in_f16_and_the_rest_stays_in_8_bits(tmp_path: Path) -> None:
    module = attention(mixed=True)
    inputs = random_inputs(module, 3)
    (expected,) = run_module(module, inputs).values()
    table = calibrate(lambda show: run_with(module, inputs, show), "max")
    (tmp_path / "table").write_text(table.text())
    apply(
        module,
        ("import-calibration-table", f"file={tmp_path / 'table'} asymmetric=false"),
        ("convert-top-to-tpu", "mode=INT8 chip=bm1684x"),
    )
    make_pass("fuse-attention", "when=always").apply(make_context(), module)
    module.verify()
    assert kinds(module).count("FAttention") == 1
    assert "Softmax" not in kinds(module)
    assert len([op for op in ops_of(module, tpu.MatMulOp) if op.multipliers is not None]) == 4
    (got,) = run_module(module, inputs).values()
    cosine = np.vdot(got, expected) / np.linalg.norm(got) / np.linalg.norm(expected)
    assert cosine > 0.99
