"""A decoder block of a language model, from top to the machine."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.semantics import Net, assert_same_numbers, compiled, ops_of
from xdsl.dialects.builtin import (
    BoolAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import SSAValue

from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.language_models import CAUSAL, WINDOW
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.lowering.llm import causal_ranges
from xdsl_tpu.passes.pipelines import lower

Array = npt.NDArray[Any]
HIDDEN, INNER, HEADS, SHARED, SIZE = 128, 192, 4, 2, 64


def block(rows: int, history: int, causal: bool = False, window: int = 0) -> ModuleOp:
    """RMSNorm, attention with grouped heads and history, gated feed-forward, two sums."""
    net = Net()
    x = net.input("states", 1, rows, HIDDEN)
    sine, cosine = (net.input(name, 1, rows, 1, SIZE) for name in ("sine", "cosine"))
    mask = net.input("mask", 1, 1, rows, history + rows)
    old = [net.input(f"history_{name}", 1, history, SHARED, SIZE) for name in "kv" if history]

    def product(name: str, value: SSAValue, depth: int, outputs: int, biased: bool) -> SSAValue:
        scale = random(name, depth, outputs) / np.sqrt(depth)
        bias = net.weight(f"{name}_b", 1, 1, outputs) if biased else net.none
        weight = net.weight(f"{name}_w", depth, outputs, values=scale)
        return net.op(top.MatMulOp, name, (value, weight, bias))

    def norm(name: str, value: SSAValue) -> SSAValue:
        gamma = net.weight(f"{name}_w", HIDDEN)
        return net.op(top.RMSNormOp, name, (value, gamma), eps=1e-6)

    normal = norm("norm", x)
    parts: list[SSAValue] = []
    for index, (name, heads) in enumerate((("q", HEADS), ("k", SHARED), ("v", SHARED))):
        part = product(name, normal, HIDDEN, heads * SIZE, True)
        shape = (1, rows, heads, SIZE)
        part = net.op(top.ReshapeOp, f"{name}_heads", (part,), shape=shape)
        if name != "v":
            part = net.op(
                top.RopeOp, f"{name}_turned", (part, sine, cosine), rope_mode="contiguous_halves"
            )
        if history and name != "q":
            operands = [old[index - 1], part]
            part = net.op(top.ConcatOp, f"{name}_all", operands, axis=1, only_merge=True)
        parts.append(part)
    attended = top.FAttentionOp.make(
        "attention",
        (*parts, mask, net.none),
        result_types=[TensorType(f32, (1, rows, HEADS * SIZE))],
        scale=SIZE**-0.5,
        batch=1,
        q_head=HEADS,
        kv_head=SHARED,
        dim=SIZE,
        mq=rows,
        mk=history + rows,
        keep_dims=False,
    )
    if causal:
        attended.attributes = {**attended.attributes, CAUSAL: BoolAttr.from_bool(True)}
    if window:
        attended.attributes = {**attended.attributes, WINDOW: IntegerAttr(window, i64)}
    net.add(attended)
    out = product("o", attended.output, HEADS * SIZE, HIDDEN, False)
    middle = net.op(top.AddOp, "middle", (x, out))
    normal = norm("norm2", middle)
    gate = net.op(top.SiLUOp, "silu", (product("gate", normal, HIDDEN, INNER, False),))
    up = product("up", normal, HIDDEN, INNER, False)
    both = net.op(top.MulOp, "both", (gate, up))
    down = product("down", both, INNER, HIDDEN, False)
    module = net.module(net.op(top.AddOp, "result", (middle, down)))
    module.attributes = {**module.attributes, "module.state": StringAttr("TOP_F32")}
    return module


def random(name: str, *shape: int) -> Array:
    return np.random.default_rng(list(name.encode())).standard_normal(shape).astype(np.float32)


def inputs_of(rows: int, history: int) -> dict[str, Array]:
    generator = np.random.default_rng([rows, history])
    values = {"states": generator.standard_normal((1, rows, HIDDEN))}
    angles = generator.standard_normal((1, rows, 1, SIZE))
    values |= {"sine": np.sin(angles), "cosine": np.cos(angles)}
    seen = np.arange(history + rows) <= np.arange(history, history + rows)[:, None]
    values["mask"] = np.where(seen, 0.0, -10000.0)[None, None]
    for name in "kv" if history else "":
        values[f"history_{name}"] = generator.standard_normal((1, history, SHARED, SIZE))
    return {name: value.astype(np.float16).astype(np.float32) for name, value in values.items()}


@pytest.mark.parametrize("bits", [0, 4, 8])
@pytest.mark.parametrize(("rows", "history"), [(1, 70), (4, 64), (130, 0)])
def test_a_block_runs_as_the_interpreter_says(rows: int, history: int, bits: int) -> None:
    """One token and four with history, and a prompt whose mask is causal."""
    module, inputs = block(rows, history, causal=not history), inputs_of(rows, history)
    if bits:
        module = compiled(module, f"pack-weights{{bits={bits}}}")
    runs_alike(module, inputs)


@pytest.mark.parametrize(("rows", "history", "window"), [(130, 100, 0), (200, 0, 50), (70, 64, 30)])
def test_only_keys_that_no_row_sees_are_left_out(rows: int, history: int, window: int) -> None:
    """A chunk of a prompt behind a history that is not full, and windows."""
    inputs = inputs_of(rows, history)
    there = history // 2
    at = np.concatenate([np.arange(history), there + np.arange(rows)])
    distance = there + np.arange(rows)[:, None] - at
    seen = (distance >= 0) & (distance < (window or len(at)))
    seen[:, there:history] = False
    inputs["mask"] = np.where(seen, 0.0, -10000.0).astype(np.float32)[None, None]
    runs_alike(block(rows, history, causal=True, window=window), inputs)


def runs_alike(module: ModuleOp, inputs: dict[str, Array]) -> None:
    """The machine gives what the interpreter does, but for rounding."""
    (expected,) = run_module(module, inputs).values()
    lower(module, "F16", "bm1684x")
    chip = load_chip("bm1684x")
    program = generate(module, weights_of(module), chip)
    assert check_program(program, chip) == []
    (got,) = run_program(program, chip, inputs).values()
    wanted, found = np.asarray(expected).ravel(), got.astype(np.float32).ravel()
    assert np.abs(found - wanted).max() <= 5e-3 * np.abs(wanted).max()
    cosine = found @ wanted / (np.linalg.norm(found) * np.linalg.norm(wanted))
    assert cosine >= 0.999995


def test_packed_weights_change_little() -> None:
    """Products become packed ones of nearly the same numbers; the smallest keep their matrix."""
    after = assert_same_numbers(block(2, 64), "pack-weights{bits=8}", tolerance=0.05)
    assert len(ops_of(after, top.A16MatMulOp)) == 7
    untouched = compiled(block(2, 64), "pack-weights{bits=4 group=256}")
    assert [name_of(op) for op in ops_of(untouched, top.A16MatMulOp)] == ["o"]


def test_a_causal_mask_says_which_keys_rows_see() -> None:
    assert causal_ranges(64, 64) is None
    assert causal_ranges(130, 130) == [0, 64, 0, 64, 0, 128, 64, 128, 0, 130, 128, 130]
    assert causal_ranges(130, 140) == [0, 74, 0, 74, 0, 138, 0, 138, 0, 140, 0, 140]
    assert causal_ranges(130, 130, 100) == [0, 64, 0, 64, 0, 128, 0, 128, 29, 130, 29, 130]
    assert causal_ranges(130, 130, 130) == causal_ranges(130, 130)
    module = compiled(block(130, 0, causal=True), "convert-top-to-tpu{mode=F16 chip=bm1684x}")
    (fused,) = ops_of(module, tpu.FAttentionOp)
    assert fused.key_ranges is not None
    assert ints(fused.key_ranges) == tuple(causal_ranges(130, 130) or ())


def test_one_op_for_the_feed_forward_block_gives_the_same_numbers() -> None:
    module, inputs = compiled(block(130, 0), "pack-weights"), inputs_of(130, 0)
    lowering = "convert-top-to-tpu{mode=F16 chip=bm1684x},processor-tpu-optimize"
    before = compiled(module, lowering)
    after = compiled(before, "fuse-mlp")
    assert len(ops_of(after, tpu.MlpOp)) == 1
    assert len(ops_of(after, tpu.A16MatMulOp)) == 4
    summed = compiled(after, "fuse-residual")
    assert not ops_of(summed, tpu.AddOp)
    wanted, *found = (run_module(one, inputs)["result_f32"] for one in (before, after, summed))
    for one in found:
        np.testing.assert_array_equal(one, wanted)


@pytest.mark.parametrize("gated", [True, False])
def test_one_op_for_float_matrices_gives_the_same_numbers(gated: bool) -> None:
    """With and without a second matrix in front, with biases."""
    inputs = {"x": inputs_of(70, 0)["states"]}
    lowering = "convert-top-to-tpu{mode=F16 chip=bm1684x},processor-tpu-optimize"
    before = compiled(feed_forward(70, gated), lowering)
    after = compiled(before, "fuse-mlp{when=always},fuse-residual")
    assert len(ops_of(after, tpu.MlpOp)) == 1
    assert not ops_of(after, tpu.MatMulOp)
    assert not ops_of(after, tpu.AddOp)
    wanted, found = (run_module(one, inputs)["result_f32"] for one in (before, after))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-2)


def feed_forward(rows: int, gated: bool) -> ModuleOp:
    """Two or three products with biases, GELU, and a sum."""
    net = Net()
    x = net.input("x", 1, rows, HIDDEN)

    def product(name: str, value: SSAValue, depth: int, outputs: int) -> SSAValue:
        values = random(name, depth, outputs) / np.sqrt(depth)
        weight = net.weight(f"{name}_w", depth, outputs, values=values)
        bias = net.weight(f"{name}_b", 1, 1, outputs, values=random(f"{name}_b", 1, 1, outputs))
        return net.op(top.MatMulOp, name, (value, weight, bias))

    inner = net.op(top.GELUOp, "gelu", (product("gate", x, HIDDEN, INNER),))
    if gated:
        inner = net.op(top.MulOp, "both", (product("up", x, HIDDEN, INNER), inner))
    down = product("down", inner, INNER, HIDDEN)
    module = net.module(net.op(top.AddOp, "result", (down, x)))
    module.attributes = {**module.attributes, "module.state": StringAttr("TOP_F32")}
    return module
