"""Convolutions whose taps mostly see the border: each by itself, with the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top

PASS = "processor-top-optimize"


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(
    ("channels", "sizes", "kernel", "dilations", "pads", "taps"),
    [
        (3, (9, 9), (3, 3), (6, 6), (6, 6, 6, 6), 9),
        (3, (9, 10), (3, 3), (3, 3), (3, 3, 3, 3), 9),
        (3, (9, 10), (3, 3), (2, 2), (2, 2, 2, 2), 0),  # most of what they see is there
        (3, (9, 9), (3, 3), (12, 12), (12, 12, 12, 12), 1),  # only the middle sees any
        (3, (9, 9), (5, 1), (4, 1), (8, 0, 8, 0), 5),
        (3, (9, 9), (3, 3), (6, 6), (6, 6, 5, 5), 9),
        (3, (9, 9), (3, 3), (6, 6), (7, 7, 7, 7), 0),  # no tap sees all that is made
        (3, (3, 3), (3, 3), (1, 1), (1, 1, 1, 1), 0),  # neighbours
        (3, (1, 1), (3, 3), (1, 1), (1, 1, 1, 1), 1),
        (400, (64, 65), (3, 3), (36, 36), (36, 36, 36, 36), 9),
    ],
)
def test_taps(
    channels: int,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: tuple[int, ...],
    taps: int,
    has_bias: bool,
) -> None:
    net = Net()
    weights = net.weight("w", 4, channels, *kernel), net.weight("b", 4) if has_bias else net.none
    options = {"kernel_shape": [*kernel], "strides": [1, 1], "pads": [*pads]}
    x = net.input("x", 2, channels, *sizes)
    y = net.op(top.ConvOp, "y", (x, *weights), dilations=[*dilations], do_relu=True, **options)
    after = kinds(assert_same_numbers(net.module(y), PASS, tolerance=1e-4))
    assert after.count("Conv") == max(1, taps)
    assert after.count("Add") == max(0, taps - 1)


def test_many_channels_are_read_some_at_a_time() -> None:
    """3,000 of 65x65 pixels do not fit local memory: all taps read some, then the next ones."""
    net = Net()
    options = {"kernel_shape": [3, 1], "strides": [1, 1], "pads": [60, 0, 60, 0]}
    operands = net.input("x", 1, 700, 65, 65), net.weight("w", 1, 700, 3, 1), net.none
    y = net.op(top.ConvOp, "y", operands, dilations=[60, 1], **options)
    after = kinds(assert_same_numbers(net.module(y), PASS, tolerance=1e-4))
    assert after.count("Conv") == 6
    assert after.count("Slice") == 6
