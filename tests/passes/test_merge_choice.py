"""Filter rows are merged into channels where the whole is done earlier with it."""

from functools import cache

import numpy as np
import pytest
from tests.kernels.harness import Case
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.interpreters.layouts import MERGE_BOTH, MERGE_HEIGHT
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.tensors import shape_of
from xdsl_tpu.passes.weight_reorder.merge_choice import choose_merges
from xdsl_tpu.passes.weight_reorder.merge_rule import merges

RULE, NEVER, CHOSEN = "measure=false", "use_3ic=false", ""


def residual(size: int, blocks: int) -> Case:
    """A convolution of an image, then blocks of two convolutions of 16 channels around an Add."""
    case = Case("f16", seed=4)
    image, inner = (1, 3, size, size), (1, 16, size, size)
    pads = (1, 1, 1, 1)
    x = conv(case, case.input("x", image), "first", (image, inner), (3, 3), pads=pads)
    for number in range(blocks):
        y = conv(case, x, f"a{number}", (inner, inner), (3, 3), pads=pads, relu=-1.0)
        y = conv(case, y, f"b{number}", (inner, inner), (3, 3), pads=pads)
        x = case.op("tpu.Add", [x, y], {}, f"sum{number}", inner)
    return case


def stem(size: int) -> Case:
    """7 x 7 windows of a large image."""
    case = Case("f16", seed=5)
    image, out = (1, 3, size, size), (1, 64, size // 2, size // 2)
    small = (1, 64, size // 4, size // 4)
    a = conv(case, case.input("x", image), "a", (image, out), (7, 7), (2, 2), (3, 3, 3, 3))
    conv(case, a, "y", (out, small), (3, 3), (2, 2), (1, 1, 1, 1))
    return case


def modes(module: ModuleOp) -> list[int]:
    convs = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    return [op.use_3ic_optimize.value.data & 3 for op in convs]


@cache
def final(name: str, options: str) -> tuple[list[int], int]:
    """What is merged, and the cycles of the program; nothing is cut into bands."""
    module = (residual(32, 2) if name == "residual" else stem(128)).module()
    for step in (step for step in STAGES["final"] if step != "cut-bands"):
        make_pass(step, options if step == "weight-reorder" else "").apply(make_context(), module)
    chip = load_chip()
    program = generate(module, weights_of(module), chip)
    return modes(module), simulate(program.tiu, program.gdma, chip).total


def test_convolutions_behind_others_stay_in_their_group() -> None:
    assert final("residual", RULE)[0] == [1] * 5
    assert final("residual", CHOSEN)[0][1:] == [0] * 4


def test_an_image_with_large_windows_is_merged() -> None:
    assert final("stem", CHOSEN)[0] == [1, 0]


@pytest.mark.parametrize("name", ["residual", "stem"])
def test_the_choice_is_about_as_fast_as_the_better_rule(name: str) -> None:
    _, cycles = final(name, CHOSEN)
    rules = [final(name, options)[1] for options in (RULE, NEVER)]
    assert cycles <= 1.02 * min(rules)
    assert cycles < 0.8 * max(rules)


def test_results_are_the_same() -> None:
    case = residual(8, 1)
    (before,) = run_module(case.module(), case.inputs).values()
    for options in (RULE, CHOSEN):
        module = case.module()
        make_pass("weight-reorder", options).apply(make_context(), module)
        (after,) = run_module(module, case.inputs).values()
        np.testing.assert_array_equal(before, after)


def test_choosing_changes_nothing() -> None:
    """Ops get the types of both variants while they are measured."""
    module = residual(16, 1).module()
    before = str(module)
    convs = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    (block,) = {op.parent for op in convs}
    assert block is not None
    chip = load_chip()
    possible = {op: merges(op, chip.weight_lanes) for op in convs}
    chosen = choose_merges(block, possible, chip)
    assert list(chosen) == convs
    assert str(module) == before


def heavy(size: int, count: int) -> Case:
    """7 x 7 windows of an image, a pool, and convolutions with many weights."""
    case = Case("f16", seed=7)
    image, out = (1, 3, size, size), (1, 64, size // 2, size // 2)
    small, last = (1, 64, size // 16, size // 16), (1, 512, size // 32, size // 32)
    a = conv(case, case.input("x", image), "a", (image, out), (7, 7), (2, 2), (3, 3, 3, 3))
    pool = {
        "kernel_shape": "[8, 8]",
        "strides": "[8, 8]",
        "pads": "[0, 0, 0, 0]",
        "pool_mode": "#tpu<pool_mode Max>",
    }
    b = case.op("tpu.Pool2D", [a], pool, "b", small)
    y = conv(case, b, "y", (small, last), (3, 3), (2, 2), (1, 1, 1, 1))
    for number in range(count):
        y = conv(case, y, f"y{number}", (last, last), (3, 3), pads=(1, 1, 1, 1))
    return case


@pytest.mark.parametrize(("count", "merged"), [(0, 1), (2, 0)])
def test_an_image_is_loaded_once_where_weights_take_all_the_time(count: int, merged: int) -> None:
    """Rows of the image as channels are loaded seven times, beside the weights."""
    module = heavy(160, count).module()
    make_pass("weight-reorder", "").apply(make_context(), module)
    assert modes(module)[0] == merged


def super_resolution(size: int) -> Case:
    """5 x 5 windows of a grey image given in f32, a function, a convolution."""
    case = Case("f16", seed=8)
    image, out = (1, 1, size, size), (1, 64, size, size)
    cast = {"with_scale": "true", "round_mode": "#tpu<round_mode HalfAwayFromZero>"}
    x = case.op("tpu.Cast", [case.input("x", image, kind="f32")], cast, "q", image)
    a = conv(case, x, "a", (image, out), (5, 5), pads=(2, 2, 2, 2))
    b = case.op("tpu.Active", [a], {"mode": "#tpu<active_mode TANH>"}, "b", out)
    conv(case, b, "y", (out, out), (3, 3), pads=(1, 1, 1, 1))
    return case


def in_bands(case: Case, options: str) -> tuple[list[int], int]:
    """What is merged, and the cycles of the program, in bands where that is faster."""
    module = case.module()
    for step in STAGES["final"]:
        make_pass(step, options if step == "weight-reorder" else "").apply(make_context(), module)
    chip = load_chip()
    program = generate(module, weights_of(module), chip)
    return modes(module), simulate(program.tiu, program.gdma, chip).total


def test_rows_and_columns_are_merged_where_copies_come_beside_other_work() -> None:
    case = super_resolution(160)
    merged, cycles = in_bands(case, CHOSEN)
    assert set(merged) == {MERGE_BOTH, 0}
    rows, more = in_bands(case, RULE)
    assert set(rows) == {MERGE_HEIGHT, 0}
    assert cycles < 0.93 * more
    small = residual(8, 1).module()
    make_pass("weight-reorder", CHOSEN).apply(make_context(), small)
    assert MERGE_BOTH not in modes(small)


def test_all_that_may_be_merged() -> None:
    (op,) = (op for op in stem(32).module().walk() if isinstance(op, tpu.Conv2DOp) and is_image(op))
    assert merges(op, load_chip().weight_lanes) == (MERGE_HEIGHT,), "147 do not fit side by side"
    grey = super_resolution(16).module()
    first, last = (op for op in grey.walk() if isinstance(op, tpu.Conv2DOp))
    assert merges(first, load_chip().weight_lanes) == (MERGE_HEIGHT, MERGE_BOTH)
    assert merges(last, load_chip().weight_lanes) == ()


def is_image(op: tpu.Conv2DOp) -> bool:
    return shape_of(op.input)[1] == 3
