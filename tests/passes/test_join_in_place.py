"""Concats in DDR whose operands are stored in their place: the same values in fewer cycles."""

from itertools import accumulate
from math import prod

import numpy as np
import pytest
from tests.kernels.harness import Case, Shape, check_encoding, execute, final

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.address_assign.assign import address_of

SIZES = [
    (((1, 700, 3, 64), (1, 154, 3, 64)), 1),
    (((1, 128, 16, 16), (1, 3, 16, 16), (1, 64, 16, 16)), 1),
    (((2, 70, 64), (6, 70, 64)), 0),
]


def joined(sizes: tuple[Shape, ...], axis: int) -> Case:
    """Parts that are computed, and a function of all of them."""
    case, whole = Case("f16", seed=3), list(sizes[0])
    whole[axis] = sum(size[axis] for size in sizes)
    shape = tuple(whole)
    parts = [
        case.op("tpu.Relu", [case.input(f"x{n}", size)], {}, f"a{n}", size)
        for n, size in enumerate(sizes)
    ]
    value = case.op("tpu.Concat", parts, {"axis": f"{axis} : si32"}, "c", shape)
    softmax = [value, *["none"] * 5]
    case.op("tpu.Softmax", softmax, {"axis": f"{len(shape) - 1} : si32"}, "y", shape)
    return case


@pytest.mark.parametrize(("sizes", "axis"), SIZES, ids=str)
def test_values_stay_the_same(sizes: tuple[Shape, ...], axis: int) -> None:
    case, chip = joined(sizes, axis), load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    cycles: list[int] = []
    for disabled in (("layer-group",), ("layer-group", "join-in-place")):
        module = final(case, *disabled)
        joins = [op for op in module.walk() if isinstance(op, tpu.JoinOp)]
        for join in joins:
            starts = [address_of(part) - address_of(join.output) for part in join.inputs]
            assert starts == [2 * n for n in accumulate(map(prod, sizes[:-1]), initial=0)]
        assert len(joins) == (1 if len(disabled) == 1 else 0)
        program = generate(module, weights_of(module), chip)
        check_encoding(program)
        early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
        assert np.array_equal(early, late)
        assert np.allclose(early, expected, rtol=4e-3, atol=4e-3)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
    assert cycles[0] < cycles[1]
