"""Large values that wait for a mean are computed again: the same values in fewer cycles."""

from itertools import takewhile

import numpy as np
from tests.kernels.harness import Case, check_encoding, execute, final
from tests.local.test_local_cnn import conv
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.model import cut_group
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.tensors import functions, shape_of

POOL = {
    "pool_mode": "#tpu<pool_mode Avg>",
    "pads": "[0, 0, 0, 0]",
    "count_include_pad": "true",
    "keepdims": "true",
}


def squeezed(rows: int, narrow: int, wide: int) -> Case:
    """An image whose channels are multiplied by a function of their means."""
    case = Case("f16", seed=11)
    small, large = (1, narrow, rows, rows), (1, wide, rows, rows)
    x = case.input("x", small)
    value = conv(case, x, "a", (small, large), (1, 1), relu=0.0)
    pools = {**POOL, "kernel_shape": "[10, 1]", "strides": "[10, 1]"}
    mean = case.op("tpu.Pool2D", [value], pools, "p", (1, wide, rows // 10, rows))
    pools = {**POOL, "kernel_shape": f"[{rows // 10}, 1]", "strides": f"[{rows // 10}, 1]"}
    mean = case.op("tpu.Pool2D", [mean], pools, "q", (1, wide, 1, rows))
    pools = {**POOL, "kernel_shape": f"[1, {rows}]", "strides": "[1, 1]"}
    mean = case.op("tpu.Pool2D", [mean], pools, "r", (1, wide, 1, 1))
    mode = {"mode": "#tpu<active_mode SIGMOID>"}
    factor = case.op("tpu.Active", [mean], mode, "s", (1, wide, 1, 1))
    value = case.op("tpu.Mul", [value, factor], {"do_relu": "false"}, "m", large)
    conv(case, value, "y", (large, small), (1, 1))
    return case


def convolutions(module: ModuleOp) -> int:
    return len([op for op in module.walk() if isinstance(op, tpu.Conv2DOp)])


def is_left(case: Case) -> bool:
    return convolutions(final(case)) == convolutions(final(case, "rematerialize"))


def test_values_stay_the_same_in_fewer_cycles() -> None:
    chip, case = load_chip(), squeezed(170, 32, 192)
    (expected,) = run_module(case.module(), case.inputs).values()
    cycles: list[int] = []
    for off, made in (("rematerialize", 2), ("", 3)):
        module = final(case, off)
        assert convolutions(module) == made
        program = generate(module, weights_of(module), chip)
        check_encoding(program)
        early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
        assert np.array_equal(early, late)
        assert np.abs(early - expected).max() < 2e-3 * np.abs(expected).max()
        assert not any("_again" in layer.name for layer in program.layers)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
    assert cycles[1] < 0.9 * cycles[0]


def test_what_stays_in_local_memory_is_not_computed_again() -> None:
    assert is_left(squeezed(60, 32, 192))


def test_what_is_read_must_be_smaller() -> None:
    assert is_left(squeezed(150, 96, 96))


def test_scratch_memory_is_that_of_the_slice_that_needs_most() -> None:
    """A convolution that reads from the second row of its slice on works on a copy: another one
    reads the row before."""
    case = Case("f16", seed=3)
    image, half = (1, 32, 60, 60), (1, 32, 30, 30)
    x = case.input("x", image)
    value = conv(case, x, "a", (image, image), (3, 3), pads=(1, 1, 1, 1))
    one = conv(case, value, "b", (image, image), (1, 1))
    one = conv(case, one, "c", (image, half), (3, 3), (2, 2), (1, 1, 1, 1))
    other = conv(case, value, "d", (image, half), (5, 5), (2, 2), (2, 2, 2, 2))
    case.op("tpu.Add", [one, other], {"do_relu": "false"}, "y", half)
    module, chip = case.module(), load_chip()
    for step in takewhile(lambda step: step != "cut-bands", STAGES["final"]):
        make_pass(step, "").apply(make_context(), module)
    ops = max((computing_ops(func.body.block) for func in functions(module)), key=len)
    lone = next(
        op for op in ops if shape_of(op.results[0]) == image and op.operands[0].owner in ops
    )
    cut = cut_group(ops, GroupType.NORMAL, Secs(h=6), chip)
    assert not isinstance(cut, Refusal)
    source, made = (cut.slicing.of[v].h for v in (lone.operands[0], lone.results[0]))
    copied = [end for (start, _), (begin, end) in zip(source, made, strict=True) if start < begin]
    assert copied
    scratch = Prices(chip, module).scratch(lone, GroupType.NORMAL, cut.slicing)
    assert scratch >= max(copied) * 60 * 2
