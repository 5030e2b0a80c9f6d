"""`DivideOnce`: what one number divides is multiplied by its reciprocal; the values stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top, tpu


@pytest.mark.parametrize("mode", ["F16", "F32"])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(
    ("divisor", "once"),
    [
        ((2, 3, 1, 6), True),
        ((2, 3, 4, 1), True),
        ((2, 3, 1, 1), True),
        ((2, 1, 4, 6), False),
        ((2, 3, 4, 6), False),
        ((3, 1, 1), False),
    ],
)
def test_shared_divisors_are_inverted_once(
    divisor: tuple[int, ...], once: bool, relu: bool, mode: str
) -> None:
    net = Net()
    below = net.op(top.AddConstOp, "d", (net.input("b", *divisor),), const_val=8.0)
    y = net.op(top.DivOp, "y", (net.input("x", 2, 3, 4, 6), below), do_relu=relu)
    after = assert_same_numbers(
        net.module(y),
        f"convert-top-to-tpu{{mode={mode} chip=bm1684x}},processor-tpu-optimize",
        tolerance={"F16": 4e-3, "F32": 1e-5}[mode],
    )
    assert len(ops_of(after, tpu.ReciprocalOp)) == once
    assert len(ops_of(after, tpu.DivOp)) == (not once)
