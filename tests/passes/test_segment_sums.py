"""Sums of all segments of a row are differences of its running sums, and these are in F32."""

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.exact import differences_of_sums
from xdsl_tpu.passes.tensors import shape_of

SIZE = 6


def where(
    net: Net, name: str, mask: npt.NDArray[np.bool_], value: SSAValue, other: float, first: bool
) -> SSAValue:
    """`value` where the mask holds and `other` elsewhere, in one of the two orders."""
    cond = net.weight(f"{name}_mask", values=mask if first else ~mask)
    operands = (cond, value, net.none) if first else (cond, net.none, value)
    letter = "y" if first else "x"
    constant = {f"{letter}_is_const": True, f"{letter}_const_val": other}
    return net.op(top.WhereOp, name, operands, **constant)


def segments(
    rows: int = 2,
    first: bool = True,
    kept: int = -1,
    read: int = 0,
    outside: float = 0.0,
    returned: bool = False,
) -> ModuleOp:
    """exp of the sums of a row's segments: `kept`, `read` are diagonals."""
    net = Net()
    columns = 5 - rows
    x = net.input("x", *(1 if axis == columns else (2, 3, SIZE, SIZE)[axis] for axis in range(4)))
    planes = [np.tri(SIZE, k=diagonal, dtype=bool) for diagonal in (kept, read)]
    below, lower = ((p if rows < columns else p.T)[None, None] for p in planes)
    sums = net.op(
        top.CumSumOp, "s", (where(net, "a", below, x, outside, first), net.none), axis=rows
    )
    y = net.op(top.ExpOp, "y", (where(net, "m", lower, sums, -9.0, first),))
    return net.module(y, sums) if returned else net.module(y)


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("read", [0, -1])
def test_sums_of_segments_are_differences(rows: int, first: bool, read: int) -> None:
    after = assert_same_numbers(segments(rows, first, read=read), "canonicalize")
    assert kinds(after) == ["CumSum", "Reshape", "Sub", "Where", "Exp"]
    (running,) = ops_of(after, top.CumSumOp)
    assert shape_of(running.output)[5 - rows] == 1


@pytest.mark.parametrize(
    "module",
    [
        segments(kept=0),
        segments(kept=-2),
        segments(read=1),
        segments(outside=1.0),
        segments(returned=True),
    ],
)
def test_other_sums_stay(module: ModuleOp) -> None:
    assert kinds(assert_same_numbers(module, "canonicalize")) == ["Where", "CumSum", "Where", "Exp"]


def test_differences_of_running_sums_are_in_f32() -> None:
    net = Net()
    sums = net.op(top.CumSumOp, "s", (net.input("x", 2, 3, 8), net.none), axis=2)
    last = net.op(
        top.SliceOp, "l", (sums, *[net.none] * 3), offset=[0, 0, 7], steps=[1] * 3, ends=[2, 3, 8]
    )
    y = net.op(top.SubOp, "y", (last, sums))
    z = net.op(top.SubOp, "z", (y, net.input("w", 2, 3, 8)))
    module = net.module(net.op(top.ExpOp, "e", (z,)))
    (func,) = (op for op in module.body.block.ops if isinstance(op, FuncOp))
    found = differences_of_sums(func)
    assert sorted(op.name for op in found) == ["top.CumSum", "top.Slice", "top.Sub"]
