"""Formats of a network's ops by cycles: the least of all choices, and prices near measured ones."""

import math
import random
from itertools import product

import pytest
from xdsl.dialects.builtin import ModuleOp, NoneType, TensorType, f16, f32
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.passes.layout.min_cut import minimum_cut
from xdsl_tpu.passes.layout.problem import total_cost
from xdsl_tpu.passes.lowering.int8.faster_in_floats import formats
from xdsl_tpu.passes.lowering.int8.prices import Prices
from xdsl_tpu.passes.tensors import functions, shape_of

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
    (func,) = functions(network(seed, 8))
    ops = [op for op in func.body.block.ops if op.results]
    modes = dict.fromkeys(ops, "INT8")

    def floating(op: Operation) -> bool:
        return isinstance(op, top.InputOp | top.SoftmaxOp)

    prices = Prices(CHIP, {op.results[0] for op in ops})
    problem, variables = formats(func, modes, prices, floating, lambda op: False)
    found = total_cost(problem, minimum_cut(problem).labels)
    choices = product((0, 1), repeat=len(problem.fixed))
    costs = [cost for labels in choices if (cost := total_cost(problem, labels)) is not None]
    assert len(variables) == len(ops)
    assert found == min(costs)


def cycles(op: Operation) -> int:
    def sizes(value: SSAValue) -> Ncdhw:
        n, c, h, w = shape_of(value)
        return Ncdhw(n, c, 1, h, w)

    return measure(op, sizes, GroupType.NORMAL, CHIP).cycles


def test_prices_are_those_of_commands() -> None:
    shape = (1, 128, 20, 20)
    eight, half, plain = (
        TensorType(kind, shape) for kind in (UniformType.of(8, f32, 1.0), f16, f32)
    )
    a, b, c, d, x, y = Block(arg_types=[eight, eight, half, half, plain, plain]).args
    for op, *made in (
        (
            top.AddOp.make("x", [x, y], result_types=[plain]),
            tpu.AddOp.make("e", [a, b], result_types=[eight], multipliers=[77, 93], rshifts=[7, 7]),
            tpu.AddOp.make("h", [c, d], result_types=[half]),
        ),
        (
            top.MulOp.make("x", [x, y], result_types=[plain]),
            tpu.MulOp.make("e", [a, b], result_types=[eight], multiplier=77, rshift=7),
            tpu.MulOp.make("h", [c, d], result_types=[half]),
        ),
    ):
        price = Prices(CHIP, {op.results[0]}).of(op)
        for expected, one in zip(price, made, strict=True):
            assert math.isclose(expected, cycles(one), rel_tol=0.05)


@pytest.mark.parametrize(
    ("kernel", "stride", "group", "in_f16", "apart"),
    [
        # Patches: rows of an image are channels of it, loaded as f32 for F16.
        (16, 16, 1, False, False),
        # The array takes as long for so few channels: F16 has no sums to bring to 8 bits.
        (3, 2, 1, False, True),
        (3, 1, 3, True, True),  # exact sums of single channels have four bytes
    ],
)
def test_prices_of_convolutions_on_images(
    kernel: int, stride: int, group: int, in_f16: bool, apart: bool
) -> None:
    """With copies of the image as part of the convolution, and `apart`, beside other work."""
    channels, size = 64 if group == 1 else 3, 224 // stride
    whole = TensorType(f32, (1, 3, 224, 224))
    argument = Block(arg_types=[whole]).args[0]
    image = top.InputOp.make("image", [argument], result_types=[whole]).output
    shape = (channels, 3 // group, kernel, kernel)
    filter_ = top.WeightOp.make("w", (), result_types=[TensorType(f32, shape)]).output
    none = top.NoneOp.make("none", (), result_types=[NoneType()]).output
    pads = (kernel - stride + 1) // 2
    op = top.ConvOp.make(
        *("conv", [image, filter_, none]),
        result_types=[TensorType(f32, (1, channels, size, size))],
        kernel_shape=[kernel] * 2,
        strides=[stride] * 2,
        pads=[pads] * 4,
        group=group,
    )
    price = Prices(CHIP, {op.output}).of(op)
    assert (price.half < price.eight) == in_f16
    beside = Prices(CHIP, {op.output}, apart=True).of(op)
    assert (beside.half < beside.eight) == apart
