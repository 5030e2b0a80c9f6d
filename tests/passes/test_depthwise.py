"""Several filters for each channel become as many depthwise convolutions: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

PASS = "processor-top-optimize"
PARALLEL = {mode: load_chip("bm1684x").weight_lanes.channels(n) for mode, n in
            (("F16", 2), ("INT8", 1), ("F32", 4))}  # fmt: skip


def multiplied(
    count: int, channels: int, mode: str = "F16", bias: bool = True, group: int = 0
) -> ModuleOp:
    net = Net()
    x, group = net.input("x", 2, channels, 6, 7), group or channels
    window = {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 1, 1, 0]}
    weight = net.weight("w", count * channels, channels // group, 3, 3)
    added = net.weight("b", count * channels) if bias else net.none
    conv = net.op(top.ConvOp, "y", (x, weight, added), do_relu=True, group=group, **window)
    module = net.module(conv)
    module.attributes["module.mode"] = StringAttr(mode)
    return module


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("bias", [True, False])
def test_filters_of_each_channel_are_told_apart(count: int, bias: bool) -> None:
    channels = PARALLEL["F16"] + 1
    after = assert_same_numbers(multiplied(count, channels, bias=bias), PASS)
    assert kinds(after) == [*["Conv"] * count, "Concat", "ShuffleChannel"]
    for conv in ops_of(after, top.ConvOp):
        assert shape_of(conv.filter) == (channels, 1, 3, 3)
        assert bool(conv.do_relu.value.data)


@pytest.mark.parametrize("mode", list(PARALLEL))
def test_what_the_matrix_unit_takes_in_at_once_stays(mode: str) -> None:
    most = PARALLEL[mode]
    assert kinds(assert_same_numbers(multiplied(2, most, mode), PASS)) == ["Conv"]
    assert len(kinds(assert_same_numbers(multiplied(2, most + 1, mode), PASS))) == 4


@pytest.mark.parametrize(("count", "group"), [(1, 40), (2, 20), (2, 1)])
def test_other_groups_stay(count: int, group: int) -> None:
    after = assert_same_numbers(multiplied(count, 40, group=group), PASS)
    assert kinds(after) == ["Conv"]
