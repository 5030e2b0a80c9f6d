"""Lines whose elements lie between gathered ones are resized lines, with the same numbers."""

from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters.numerics.resize import neighbours


def taken(
    net: Net, name: str, x: SSAValue, indices: np.ndarray[Any, Any], permuted: bool
) -> SSAValue:
    """Elements of the lines, as PyTorch's exporter gathers them or by a Gather."""
    if not permuted:
        return net.op(top.GatherOp, name, (x, net.weight(f"{name}_i", values=indices)), axis=2)
    first = net.op(top.PermuteOp, f"{name}_t", (x,), order=[2, 0, 1])
    index = net.weight(f"{name}_i", values=indices[:, None])
    rows = net.op(top.GatherNDOp, f"{name}_g", (first, index), batch_dims=0)
    return net.op(top.PermuteOp, name, (rows,), order=[1, 2, 0])


def lines(
    rule: str, size: int, count: int, permuted: bool = True, swapped: bool = False, off: float = 0.0
) -> ModuleOp:
    """Lines resized to `count` elements; `off` is added to the shares."""
    net = Net()
    x = net.input("x", 2, 3, size)
    below, share = neighbours(size, count, count / size, "linear", rule)
    low = taken(net, "low", x, below, permuted)
    high = taken(net, "high", x, np.minimum(below + 1, size - 1), permuted)
    difference = net.op(top.SubOp, "d", (low, high) if swapped else (high, low))
    shares = net.weight("w", values=(share + off).reshape(1, 1, -1))
    return net.module(net.op(top.AddOp, "y", (low, net.op(top.MulOp, "m", (difference, shares)))))


@pytest.mark.parametrize("rule", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize(("size", "count"), [(7, 14), (7, 28), (10, 16), (9, 6)])
@pytest.mark.parametrize("permuted", [False, True])
def test_resized_lines(rule: str, size: int, count: int, permuted: bool) -> None:
    after = assert_same_numbers(lines(rule, size, count, permuted), "canonicalize")
    assert kinds(after) == ["Reshape", "Interp", "Reshape"]
    (resized,) = ops_of(after, top.InterpOp)
    assert resized.coord_mode.data == rule


@pytest.mark.parametrize(
    "module",
    [
        lines("half_pixel", 7, 14, swapped=True),
        lines("half_pixel", 7, 14, off=0.01),
        lines("asymmetric", 7, 14, permuted=False, off=-0.01),
    ],
)
def test_other_sums_of_gathered_elements_stay(module: ModuleOp) -> None:
    assert "Interp" not in kinds(assert_same_numbers(module, "canonicalize"))
