"""Slices of ops by themselves are dealt out to two cores: the numbers of one core, to the bit."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.kernels.harness import PIPELINE, Case
from xdsl.dialects.builtin import IntegerAttr, i64

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass

CHIP = load_chip("bm1688")


def sums(case: Case) -> str:
    """One view is shared; what is left over is one slice, which the first core makes."""
    shape = (1, 64 * 4099 + 5)
    return case.op("tpu.Add", [case.input("x", shape), case.input("y", shape)], {}, "z", shape)


def stretched(case: Case) -> str:
    left, right, shape = (2, 1, 9, 1, 33), (1, 40, 1, 5, 33), (2, 40, 9, 5, 33)
    return case.op("tpu.Sub", [case.input("x", left), case.input("y", right)], {}, "z", shape)


def columns(case: Case) -> str:
    operands = [case.input("x", (8, 70, 128), 2.0), *["none"] * 5]
    return case.op("tpu.Softmax", operands, {"axis": "1 : si32"}, "y", (8, 70, 128))


def rows(case: Case) -> str:
    operands = [case.input("x", (640, 64)), "none", "none"]
    attributes = {"axes": "[1]", "keepdims": "true", "mode": '"ReduceL2"'}
    return case.op("tpu.Reduce", operands, attributes, "y", (640, 1))


def groups(case: Case) -> str:
    shape = (2, 256, 9, 7)
    operands = [case.input("x", shape), *(case.weight(name, (1, 256, 1, 1)) for name in "wb")]
    attributes = {"num_groups": "128 : i64", "eps": "1.0e-5 : f64"}
    return case.op("tpu.GroupNorm", [*operands, "none", "none"], attributes, "y", shape)


def steps(case: Case) -> str:
    """Rows are shared, each with all its steps, of which local memory holds a part."""
    shape = (1, 128, 900, 40)
    operands = [case.input("a", shape, 0.5), case.input("b", shape), "none"]
    return case.op("tpu.LinearScan", operands, {"axis": "2 : i64"}, "y", shape)


def program_of(case: Case, cores: int) -> Program:
    module = case.module()
    module.attributes["module.cores"] = IntegerAttr(cores, i64)
    for name in PIPELINE:
        make_pass(name, "").apply(make_context(), module)
    return generate(module, weights_of(module), CHIP)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("build", [sums, stretched, columns, rows, groups, steps])
def test_two_cores_make_what_one_makes(build: Callable[[Case], str], kind: str) -> None:
    case = Case(kind, chip="bm1688")
    build(case)
    one, two = (program_of(case, cores) for cores in (1, 2))
    assert len(two.others[0].tiu) > 1, "the second core only ends"
    wanted, given = (run_program(one, CHIP, case.inputs, "exact") for one in (one, two))
    for name, values in wanted.items():
        np.testing.assert_array_equal(given[name], values)
