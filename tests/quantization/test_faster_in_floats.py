"""Formats of a network's ops by cycles: the least of all choices, and prices near measured ones."""

import math
import random
from itertools import product

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32
from xdsl.ir import Block, Operation

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.interpreters.runner import find_main
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.passes.layout.min_cut import minimum_cut
from xdsl_tpu.passes.layout.problem import total_cost
from xdsl_tpu.passes.lowering.int8.faster_in_floats import formats, images
from xdsl_tpu.passes.lowering.int8.prices import Prices
from xdsl_tpu.passes.tensors import shape_of

CHIP = load_chip("bm1684x")
TYPE = "tensor<1x64x16x16x!quant.calibrated<f32<-4.0:4.0>>>"
KINDS = {
    "top.Relu": 1,
    "top.MulConst": 1,
    "top.Softplus": 1,
    "top.Softmax": 1,
    "top.Add": 2,
    "top.Mul": 2,
}
EXTRA = {"top.MulConst": "{const_val = 0.5 : f64}", "top.Softmax": "{axis = 1 : si32}"}


def network(seed: int, count: int) -> ModuleOp:
    """A few ops on values of one shape, each of any before it."""
    choice = random.Random(seed)
    lines = [f'%0 = "top.Input"(%arg0) : (tensor<1x64x16x16xf32>) -> {TYPE} loc("x")']
    for place in range(1, count + 1):
        kind = choice.choice(list(KINDS))
        taken = [f"%{choice.randrange(place)}" for _ in range(KINDS[kind])]
        types = ", ".join(TYPE for _ in taken)
        lines.append(
            f'%{place} = "{kind}"({", ".join(taken)}) {EXTRA.get(kind, "")} : ({types}) -> {TYPE} '
            f'loc("v{place}")'
        )
    body = "\n".join(lines)
    text = f"""module @net attributes {{module.state = "TOP_CALIBRATED"}} {{
      func.func @main(%arg0: tensor<1x64x16x16xf32>) -> {TYPE} {{
        {body}
        return %{count} : {TYPE}
      }}
    }}"""
    return parse_module(text)


@pytest.mark.parametrize("seed", range(12))
def test_no_other_choice_takes_fewer_cycles(seed: int) -> None:
    _, func = find_main(network(seed, 8))
    ops = [op for op in func.body.block.ops if op.results]
    modes = dict.fromkeys(ops, "INT8")

    def floating(op: Operation) -> bool:
        return isinstance(op, top.InputOp | top.SoftmaxOp)

    prices = Prices(CHIP, images(func))
    problem, variables = formats(func, modes, prices, floating, lambda op: False)
    found = total_cost(problem, minimum_cut(problem).labels)
    choices = product((0, 1), repeat=len(problem.fixed))
    costs = [cost for labels in choices if (cost := total_cost(problem, labels)) is not None]
    assert len(variables) == len(ops)
    assert found == min(costs)


def cycles(op: Operation) -> int:
    def sizes(value: object) -> Ncdhw:
        n, c, h, w = shape_of(value)  # pyright: ignore[reportArgumentType]
        return Ncdhw(n, c, 1, h, w)

    return measure(op, sizes, GroupType.NORMAL, CHIP).cycles


def sums(shape: tuple[int, ...]) -> dict[str, list[Operation]]:
    """A sum and a product of two values, in 8 bits and in F16."""
    eight, half = (TensorType(kind, shape) for kind in (UniformType.of(8, f32, 1.0), f16))
    a, b, c, d = Block(arg_types=[eight, eight, half, half]).args
    factors = {"multipliers": (77, 93), "rshifts": (7, 7)}
    return {
        "top.Add": [
            tpu.AddOp.make("e", [a, b], result_types=[eight], **factors),
            tpu.AddOp.make("h", [c, d], result_types=[half]),
        ],
        "top.Mul": [
            tpu.MulOp.make("e", [a, b], result_types=[eight], multiplier=77, rshift=7),
            tpu.MulOp.make("h", [c, d], result_types=[half]),
        ],
    }


@pytest.mark.parametrize("kind", ["top.Add", "top.Mul"])
def test_prices_are_those_of_commands(kind: str) -> None:
    shape = (1, 128, 20, 20)
    plain = TensorType(f32, shape)
    a, b = Block(arg_types=[plain, plain]).args
    made = {"top.Add": top.AddOp, "top.Mul": top.MulOp}[kind]
    op = made.make("x", [a, b], result_types=[plain])
    price = Prices(CHIP, {op.output}).of(op)
    for expected, one in zip(price, sums(shape)[kind], strict=True):
        assert math.isclose(expected, cycles(one), rel_tol=0.05)
