"""Convolutions whose channels Slices share out become one for each: the same numbers."""

from collections.abc import Sequence
from itertools import accumulate

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.tensors import shape_of

PASS = "processor-top-optimize"


def shared(counts: Sequence[int], steps: int = 1, links: Sequence[str] = ()) -> ModuleOp:
    """A convolution, `links` behind it, and Slices of so many channels each."""
    net = Net()
    x, channels = net.input("x", 2, 5, 6, 7), sum(counts)
    window = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    operands = (x, net.weight("w", channels, 5, 3, 3), net.weight("b", channels))
    value = net.op(top.ConvOp, "c", operands, do_relu=True, **window)
    for index, link in enumerate(links):
        if link == "depthwise":
            filters = net.weight(f"w{index}", channels, 1, 3, 3)
            bias = net.weight(f"b{index}", channels)
            operands = (value, filters, bias)
            value = net.op(top.ConvOp, f"d{index}", operands, group=channels, **window)
        else:
            value = net.op(top.SiLUOp, f"s{index}", (value,))
    results: list[SSAValue] = []
    for index, (count, end) in enumerate(zip(counts, accumulate(counts), strict=True)):
        cut = {"offset": [0, end - count, 0, 0], "ends": [2, end, 6, 7], "steps": [1, steps, 1, 1]}
        operands = (value, net.none, net.none, net.none)
        results.append(net.op(top.SliceOp, f"y{index}", operands, axes=[], **cut))
    return net.module(*results)


@pytest.mark.parametrize("links", [(), ("depthwise",), ("silu", "depthwise", "silu")])
@pytest.mark.parametrize("counts", [(48, 48, 48), (63, 67), (127, 127)])
def test_each_part_is_made_by_itself(counts: tuple[int, ...], links: tuple[str, ...]) -> None:
    after = assert_same_numbers(shared(counts, links=links), PASS)
    chain = ["Conv", *("Conv" if link == "depthwise" else "SiLU" for link in links)]
    assert kinds(after) == chain * len(counts)
    made = [shape_of(conv.output)[1] for conv in ops_of(after, top.ConvOp)]
    assert made == [count for count in counts for link in chain if link == "Conv"]


def test_parts_have_the_names_of_the_slices() -> None:
    after = assert_same_numbers(shared((48, 48, 48), links=("depthwise",)), PASS)
    names = [name_of(conv) for conv in ops_of(after, top.ConvOp) if conv.group.value.data > 1]
    assert names == ["y0", "y1", "y2"]


@pytest.mark.parametrize(
    ("counts", "steps"),
    [((64, 66), 1), ((32, 32), 1), ((65, 63), 1), ((48, 48, 48), 2), ((96,), 1)],
    ids=["in-their-lanes", "one-group", "one-more-group", "with-gaps", "one-slice"],
)
def test_what_gains_nothing_stays(counts: tuple[int, ...], steps: int) -> None:
    after = assert_same_numbers(shared(counts, steps), PASS)
    assert kinds(after).count("Conv") == 1
