"""Parts of tensors in floats that are finer than the whole stay in floats."""

import pytest
from tests.passes.semantics import Net, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.calibration.ranges import Range, set_range
from xdsl_tpu.passes.lowering.fine_parts import fine_ops
from xdsl_tpu.passes.tensors import functions

ROWS, WIDE = 9, 8


@pytest.mark.parametrize(
    ("token", "read", "found"),
    [(0.1, 0.5, True), (0.1, 3.0, False), (4.0, 0.6, False), (4.0, 0.2, True)],
)
def test_parts_of_sums_behind_uneven_concats(token: float, read: float, found: bool) -> None:
    """A token of a range among patches up to 5; a sum behind, up to 5; and a part of it."""
    net = Net()
    given = (net.input("cls", 1, 1, WIDE), net.input("patches", 1, ROWS - 1, WIDE))
    parts = [net.op(top.TanhOp, name, (one,)) for name, one in zip("tp", given, strict=True)]
    x = net.op(top.ConcatOp, "x", parts, axis=1)
    total = net.op(top.AddOp, "sum", (x, net.input("z", 1, ROWS, WIDE)))
    sliced = (total, net.none, net.none, net.none)
    options = {"steps": [1, 1, 1], "axes": list[int](), "ends": [1, 1, WIDE]}
    part = net.op(top.SliceOp, "part", sliced, offset=[0, 0, 0], **options)
    module = net.module(net.op(top.AbsOp, "y", (part,)))
    reach = {top.TanhOp: [token, 5.0], top.ConcatOp: [5.0], top.AddOp: [5.0], top.SliceOp: [read]}
    for kind, known in reach.items():
        for op, most in zip(ops_of(module, kind), known, strict=True):
            set_range(op.results[0], Range(-most, most))
    (func,) = functions(module)
    assert (ops_of(module, top.SliceOp)[0] in fine_ops(func)) == found
