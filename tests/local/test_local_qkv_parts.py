"""Attention whose q, k and v are cut out of one tensor of rank 5: Slice, Squeeze, split weights."""

import numpy as np
import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import grouped_by_pass, groups_of, members, prepared
from tests.local.groups import run_grouped
from tests.local.test_local_transformer import NONE, linear, matmul, reshape, softmax

from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.passes.layer_group.values import Secs

WINDOWS, TOKENS, HEADS, WIDTH = 6, 49, 3, 32


def part(case: Case, qkv: str, index: int, name: str) -> str:
    """Slice along d, Squeeze of d."""
    shape = (WINDOWS, TOKENS, 1, HEADS, WIDTH)
    attributes = {
        "offset": f"[0, 0, {index}, 0, 0]",
        "steps": "[1, 1, 1, 1, 1]",
        "ends": str([WINDOWS, TOKENS, index + 1, HEADS, WIDTH]),
    }
    cut = case.op("tpu.Slice", [qkv, *[NONE] * 4], attributes, f"{name}_slice", shape)
    return case.op("tpu.Squeeze", [cut], {"axes": "[2]"}, name, (WINDOWS, TOKENS, HEADS, WIDTH))


def window_attention(kind: str) -> Case:
    """From qkv [windows, tokens, 3, heads, width] to the projection."""
    case = Case(kind, 12)
    qkv = case.input("qkv", (WINDOWS, TOKENS, 3, HEADS, WIDTH))
    q, k, v = (part(case, qkv, index, name) for index, name in enumerate(("q", "k", "v")))
    split, scores = (WINDOWS, TOKENS, HEADS, WIDTH), (WINDOWS, TOKENS, HEADS, TOKENS)
    scaled = case.op("tpu.MulConst", [q], {"const_val": f"{WIDTH**-0.5} : f64"}, "scaled", split)
    s = matmul(case, [scaled, k], "s", scores, heads=True, turned=True)
    table = case.weight("table", (1, TOKENS, HEADS, TOKENS), 0.5)
    biased = case.op("tpu.Add", [s, table], {}, "biased", scores)
    mask = case.weight("mask", scores, 0.5)
    masked = case.op("tpu.Add", [biased, mask], {}, "masked", scores)
    p = softmax(case, masked, "p", scores)
    o = matmul(case, [p, v], "o", split, heads=True)
    size = HEADS * WIDTH
    joined = reshape(case, o, "joined", (WINDOWS, TOKENS, size))
    linear(case, joined, "y", (WINDOWS, TOKENS), (size, size))
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=3)], ids=str)
def test_qkv_is_cut_in_local_memory(kind: str, secs: Secs) -> None:
    """In slices of the windows; the mask has one for each window and is cut with them."""
    outcome = run_grouped(window_attention(kind), GroupType.NORMAL, secs)
    kinds = {layer.op for layer in outcome.program.layers}
    assert {"tpu.Slice", "tpu.Softmax", "tpu.MatMul"} <= kinds


def test_a_squeeze_costs_nothing() -> None:
    """Its result is its operand's memory."""
    outcome = run_grouped(window_attention("f16"), GroupType.NORMAL)
    used = {outcome.program.layers[i].op for i in outcome.program.tiu_layers if i >= 0}
    assert "tpu.Squeeze" not in used


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [14]),
        ({"split_weights": False}, [8, 4]),
        ({"keep_global": ("tpu.Squeeze",)}, [8]),
        ({"keep_global": ("tpu.Slice", "tpu.Squeeze")}, [8]),
    ],
)
def test_what_each_of_the_three_adds_to_a_group(
    options: dict[str, object], expected: list[int]
) -> None:
    """Sizes of the groups with all three, and without one. Slice alone gains nothing: between
    the Slices are the Squeezes.
    """
    case = window_attention("f16")
    module = grouped_by_pass(case, opt=1, **options)
    assert [len(members(group)) for group in groups_of(module)] == expected
    before = run_module(prepared(case), case.inputs)
    after = run_module(module, case.inputs)
    assert all(np.array_equal(before[name], after[name]) for name in before)
