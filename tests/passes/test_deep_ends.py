"""Where numbers end, in networks deeper than calls may be."""

import sys

import pytest
from tests.passes.semantics import Net

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.ends import Ends, bounded_names
from xdsl_tpu.passes.tensors import functions

DEPTH = sys.getrecursionlimit()


@pytest.mark.parametrize("last", [top.SigmoidOp, top.ExpOp])
def test_sums_follow_each_other_through_a_network(last: type) -> None:
    """Each reads the one before twice: once itself, once moved."""
    net = Net()
    value = net.op(top.AbsOp, "x", (net.input("i", 1, 4, 4),))
    for number in range(DEPTH):
        moved = net.op(top.ReshapeOp, f"r{number}", (value,), shape=(1, 4, 4))
        value = net.op(top.AddOp, f"a{number}", (value, moved))
    module = net.module(net.op(last, "y", (value,)))
    (func,) = functions(module)
    names = bounded_names(func.body.block.ops)
    assert len(names) == (2 * DEPTH + 1 if last is top.SigmoidOp else 0)
    first = next(op for op in func.body.block.ops if isinstance(op, top.AbsOp))
    assert Ends().is_bounded(first.output) == (last is top.SigmoidOp)
    assert Ends().is_added(first.output)
