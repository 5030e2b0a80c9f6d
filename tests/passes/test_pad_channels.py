"""A constant beside channels is a weight beside them: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top

OPTIMIZE = "processor-top-optimize"


@pytest.mark.parametrize(
    ("shape", "paddings", "expected"),
    [
        ((1, 24, 8), [0, 1, 0, 0, 0, 0], "Concat"),
        ((2, 24, 8), [0, 2, 0, 0, 3, 0], "Concat"),
        ((1, 6, 5, 7), [0, 0, 0, 0, 0, 6, 0, 0], "Concat"),
        ((1, 6, 5, 7), [0, 0, 0, 0, 0, 7, 0, 0], "Pad"),  # more of it than of the operand
        ((1, 6, 5, 7), [0, 1, 1, 0, 0, 0, 0, 0], "Pad"),  # along two axes
        ((1, 6, 5, 7), [0, 0, 1, 0, 0, 0, 0, 0], "Pad"),
        ((1, 6, 5, 7), [0, 1, 0, 0, 0, -1, 0, 0], "Pad"),
        ((24, 8), [0, 1, 0, 0], "Pad"),
    ],
)
def test_pads_of_channels(shape: tuple[int, ...], paddings: list[int], expected: str) -> None:
    net = Net()
    x = net.op(top.AbsOp, "x_abs", (net.input("x", *shape),))
    y = net.op(top.PadOp, "y", (x, net.none), paddings=paddings, val=0.5, mode="constant")
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert kinds(after) == ["Abs", expected]


def test_copies_of_channels_stay() -> None:
    net = Net()
    x = net.op(top.AbsOp, "x_abs", (net.input("x", 1, 6, 5, 7),))
    y = net.op(top.PadOp, "y", (x, net.none), paddings=[0, 1] + [0] * 6, mode="edge")
    assert kinds(assert_same_numbers(net.module(y), OPTIMIZE)) == ["Abs", "Pad"]
