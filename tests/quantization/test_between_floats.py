"""Ops of few instructions run in floats between ops that compute on floats."""

import pytest
from tests.passes.semantics import Net
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.between_floats import between_floats
from xdsl_tpu.passes.tensors import functions, required_name

FLOATS = (top.GatherOp, top.InputOp, top.LayerNormOp, top.SoftmaxOp)


def found(first: str, last: str) -> set[str]:
    """What is found of a factor, a sum, a shape and a permutation, behind an op of floats or what
    the host gives, and before an op of floats, of 8 bits, or nothing."""
    net = Net()
    x: SSAValue = net.input("x", 1, 4, 8)
    if first == "softmax":
        x = net.op(top.SoftmaxOp, "shares", (x,), axis=2)
    y: SSAValue = net.op(top.MulConstOp, "times", (x,), const_val=8.0)
    y = net.op(top.AddConstOp, "plus", (y,), const_val=1.0)
    y = net.op(top.ReshapeOp, "shape", (y,), shape=(1, 8, 4))
    y = net.op(top.PermuteOp, "order", (y,), order=(0, 2, 1))
    if last == "softmax":
        y = net.op(top.SoftmaxOp, "end", (y,), axis=2)
    elif last == "product":
        y = net.op(top.MatMulOp, "end", (y, net.weight("w", 8, 8), net.none))
    (func,) = functions(net.module(y))
    modes = dict.fromkeys(func.body.block.ops, "INT8")
    modes = {op: mode for op, mode in modes.items() if op.results and op.operands}
    made = between_floats(func, modes, lambda op: isinstance(op, FLOATS), lambda op: False)
    return {required_name(op) for op in made}


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("softmax", "softmax", {"times", "plus", "order"}),  # a Reshape follows what is before it
        ("softmax", "product", set[str]()),
        ("host", "softmax", set[str]()),
        ("softmax", "host", set[str]()),  # a movement to the host has fewer bytes in 8 bits
    ],
)
def test_between_floats(first: str, last: str, expected: set[str]) -> None:
    assert found(first, last) == expected


def test_arithmetic_for_the_host_keeps_its_numbers() -> None:
    net = Net()
    shares = net.op(top.SoftmaxOp, "shares", (net.input("x", 1, 4, 8),), axis=2)
    (func,) = functions(net.module(net.op(top.MulConstOp, "times", (shares,), const_val=8.0)))
    modes = {op: "INT8" for op in func.body.block.ops if op.results and op.operands}
    made = between_floats(func, modes, lambda op: isinstance(op, FLOATS), lambda op: False)
    assert [required_name(op) for op in made] == ["times"]
