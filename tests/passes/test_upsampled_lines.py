"""Depthwise transposed convolutions over lines as convolutions of phases: the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top

OPTIMIZE = "processor-top-optimize"


def line(columns: int = 1, group: int = 6, **options: Any) -> ModuleOp:
    given = {"kernel_shape": [12, 1], "strides": [2, 1], "pads": [0, 0, 0, 0]} | options
    net = Net()
    x = net.input("x", 2, 6, 9, columns)
    weight = net.weight("w", 6, 6 // group, *given["kernel_shape"])
    given = {"dilations": [1, 1], "do_relu": True} | given
    return net.module(
        net.op(top.DeconvOp, "y", (x, weight, net.weight("b", 6)), group=group, **given)
    )


@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 5, 12])
@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize(("pads", "extra"), [((0, 0), 0), ((1, 1), 1), ((1, 2), 0), ((3, 0), 1)])
def test_phases_of_lines(kernel: int, stride: int, pads: tuple[int, int], extra: int) -> None:
    """Also where the result begins or ends within the elements of one place."""
    before, after = pads
    options: dict[str, Any] = {"output_padding": [extra, 0]}
    options |= {"kernel_shape": [kernel, 1], "strides": [stride, 1], "pads": [before, 0, after, 0]}
    found = assert_same_numbers(line(**options), OPTIMIZE)
    if kernel > max(pads) + stride:
        assert len(ops_of(found, top.ConvOp)) == stride


def test_all_phases_are_a_concat_of_columns() -> None:
    after = assert_same_numbers(line(), OPTIMIZE)
    assert kinds(after) == ["Conv", "Conv", "Concat", "Reshape"]


@pytest.mark.parametrize(
    "module",
    [
        line(columns=2),
        line(group=3),
        line(dilations=[2, 1]),
        line(strides=[1, 1]),
        line(strides=[9, 1]),
        line(strides=[2, 2]),
    ],
)
def test_others_stay(module: ModuleOp) -> None:
    assert "Deconv" in kinds(assert_same_numbers(module, OPTIMIZE))
