"""Convolutions in groups with large filters: the same numbers in parts."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import StringAttr

from xdsl_tpu.dialects import top

PASS = "processor-top-optimize"


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(
    ("groups", "depth", "width", "parts"),
    [
        (8, 128, 128, [5, 3]),  # groups begin in the first lane anyhow
        (36, 72, 72, [16, 16, 4]),  # every fourth does
        (2, 700, 700, [1, 1]),  # none but the first: as few as fit
        (8, 96, 96, [8]),  # fit
    ],
)
def test_parts(groups: int, depth: int, width: int, parts: list[int], has_bias: bool) -> None:
    net = Net()
    weights = net.weight("w", groups * width, depth, 3, 3), net.none
    if has_bias:
        weights = weights[0], net.weight("b", groups * width)
    x = net.input("x", 1, groups * depth, 4, 3)
    options = {"kernel_shape": [3, 3], "strides": [1, 2], "pads": [1, 1, 1, 1], "group": groups}
    module = net.module(net.op(top.ConvOp, "y", (x, *weights), do_relu=True, **options))
    module.attributes["module.chip"] = StringAttr("bm1688")
    after = assert_same_numbers(module, PASS)
    assert [op.group.value.data for op in ops_of(after, top.ConvOp)] == parts
    assert kinds(after).count("Concat") == (len(parts) > 1)
