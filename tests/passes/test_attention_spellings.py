"""Attention as exporters spell it: the same commands, whoever wrote it."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.passes.programs import assert_close_in_program
from tests.passes.semantics import Net
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipelines import lower
from xdsl_tpu.passes.tensors import shape_of

HEADS, DEPTH = 4, 32
WIDTH = HEADS * DEPTH
SCALE = DEPTH**-0.5

Spelling = Callable[[Net, SSAValue, int, int], SSAValue]


def linear(net: Net, name: str, x: SSAValue, width: int) -> SSAValue:
    values = np.random.default_rng(width).standard_normal((WIDTH, width)) * WIDTH**-0.5
    operands = (x, net.weight(f"{name}_w", values=values), net.weight(f"{name}_b", width))
    return net.op(top.MatMulOp, name, operands)


def turned(net: Net, name: str, x: SSAValue, *order: int) -> SSAValue:
    return net.op(top.PermuteOp, name, (x,), order=order)


def seen(net: Net, name: str, x: SSAValue, *shape: int) -> SSAValue:
    return net.op(top.ReshapeOp, name, (x,), shape=shape)


def taken(net: Net, name: str, x: SSAValue, *shape: int) -> list[SSAValue]:
    """What scalar indices take of the first dimension of 3, as a Slice and a Squeeze."""
    found: list[SSAValue] = []
    rank = len(shape) + 1
    for index in range(3):
        part = net.op(
            top.SliceOp,
            f"{name}{index}_part",
            (x, net.none, net.none, net.none),
            offset=[index, *[0] * (rank - 1)],
            ends=[index + 1, *shape],
            steps=[1] * rank,
        )
        found.append(net.op(top.SqueezeOp, f"{name}{index}", (part,), axes=[0]))
    return found


def weighted(net: Net, q: SSAValue, k: SSAValue, v: SSAValue, axis: int) -> SSAValue:
    """softmax(q k^T) v; keys lie along columns."""
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none))
    shares = net.op(top.SoftmaxOp, "shares", (scores,), axis=axis)
    return net.op(top.MatMulOp, "mixed", (shares, v, net.none))


def of_timm(net: Net, x: SSAValue, batch: int, tokens: int) -> SSAValue:
    """One product for three parts, all permuted at once; images first."""
    qkv = seen(net, "split", linear(net, "qkv", x, 3 * WIDTH), batch, tokens, 3, HEADS, DEPTH)
    q, k, v = taken(
        net, "part", turned(net, "parts", qkv, 2, 0, 3, 1, 4), batch, HEADS, tokens, DEPTH
    )
    q = net.op(top.MulConstOp, "scaled", (q,), const_val=SCALE)
    y = weighted(net, q, turned(net, "keys", k, 0, 1, 3, 2), v, 3)
    y = seen(net, "tokens", turned(net, "back", y, 0, 2, 1, 3), batch, tokens, WIDTH)
    return linear(net, "out", y, WIDTH)


def of_pytorch(net: Net, x: SSAValue, batch: int, tokens: int) -> SSAValue:
    """`nn.MultiheadAttention`: tokens first, heads of all images beside each other."""
    x = turned(net, "tokens_first", x, 1, 0, 2)
    qkv = seen(net, "split", linear(net, "qkv", x, 3 * WIDTH), tokens, batch, 3, WIDTH)
    qkv = net.op(top.UnsqueezeOp, "before", (qkv,), axes=[0])
    parts = turned(net, "parts", qkv, 3, 1, 2, 0, 4)
    parts = net.op(top.SqueezeOp, "behind", (parts,), axes=[3])
    q, k, v = (
        seen(net, f"heads{i}", one, tokens, batch * HEADS, DEPTH)
        for i, one in enumerate(taken(net, "part", parts, tokens, batch, WIDTH))
    )
    q = net.op(top.MulConstOp, "scaled", (turned(net, "queries", q, 1, 0, 2),), const_val=SCALE)
    y = weighted(net, q, turned(net, "keys", k, 1, 2, 0), turned(net, "values", v, 1, 0, 2), 2)
    y = seen(net, "rows", turned(net, "back", y, 1, 0, 2), tokens * batch, WIDTH)
    y = seen(net, "tokens", linear(net, "out", y, WIDTH), tokens, batch, WIDTH)
    return turned(net, "images_first", y, 1, 0, 2)


def network(spelling: Spelling, batch: int, tokens: int) -> ModuleOp:
    """An attention behind a norm and in front of a linear layer."""
    net = Net()
    x = net.input("x", batch, tokens, WIDTH)
    x = net.op(
        top.LayerNormOp, "n", (x, net.none, net.none), axis=2, eps=1e-5, normalized_shape=[WIDTH]
    )
    y = spelling(net, x, batch, tokens)
    return net.module(net.op(top.AddOp, "y", (x, y)))


def cycles(module: ModuleOp, mode: str = "F16") -> tuple[int, int]:
    """What a network takes, and how many attentions of one op it has."""
    chip = load_chip("bm1684x")
    lower(module, mode, chip.instruction_set)
    fused = sum(isinstance(op, tpu.FAttentionOp) for op in module.walk())
    program = generate(module, weights_of(module), chip)
    return simulate(program.tiu, program.gdma, chip).total, fused


@pytest.mark.parametrize("batch", [1, 2])
def test_attention_of_pytorch_takes_what_that_of_timm_takes(batch: int) -> None:
    """Tokens that come first are brought to images and back where there are several of these."""
    (one, fused), (other, there) = (cycles(network(f, batch, 512)) for f in (of_timm, of_pytorch))
    assert fused == there == 1
    assert other <= (1.01 if batch == 1 else 1.15) * one


@pytest.mark.parametrize(("batch", "tokens"), [(1, 96), (2, 96), (1, 512)])
@pytest.mark.parametrize("spelling", [of_timm, of_pytorch])
def test_the_numbers_are_those_of_the_interpreter(
    spelling: Spelling, batch: int, tokens: int
) -> None:
    assert_close_in_program(network(spelling, batch, tokens), "F16", 1e-2)


@pytest.mark.parametrize("spelling", [of_timm, of_pytorch])
def test_parts_of_one_product_are_products(spelling: Spelling) -> None:
    module = network(spelling, 2, 512)
    chip = load_chip("bm1684x")
    lower(module, "F16", chip.instruction_set)
    widths = [shape_of(op.output)[-1] for op in module.walk() if isinstance(op, tpu.MatMulOp)]
    assert np.max(widths) == WIDTH
