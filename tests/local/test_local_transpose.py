"""Channels moved to the end or to the front in local memory against the interpreter."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs

Shape = tuple[int, int, int, int]


def turned(kind: str, shape: Shape, order: Shape) -> Case:
    """Relu, Permute, Relu."""
    case = Case(kind)
    target = tuple(shape[axis] for axis in order)
    x = case.op("tpu.Relu", [case.input("x", shape)], {}, "before", shape)
    x = case.op("tpu.Permute", [x, "none"], {"order": str(list(order))}, "turned", target)
    case.op("tpu.Relu", [x], {}, "y", target)
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("order", [(0, 2, 3, 1), (0, 3, 1, 2)], ids=["end", "front"])
@pytest.mark.parametrize(
    "shape",
    [(1, 96, 14, 10), (1, 5, 70, 3), (2, 130, 3, 7), (1, 3, 2, 150), (1, 1, 4, 5)],
    ids=str,
)
def test_all_lane_groups(kind: str, order: Shape, shape: Shape) -> None:
    run_grouped(turned(kind, shape, order))


def test_images_one_by_one() -> None:
    run_grouped(turned("f16", (4, 20, 6, 9), (0, 2, 3, 1)), secs=Secs(n=2))
