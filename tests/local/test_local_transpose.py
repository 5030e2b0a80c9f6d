"""Channels moved to the end or to the front in local memory against the interpreter."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs

Shape = tuple[int, ...]


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


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("shape", [(1, 96, 140), (2, 130, 33), (1, 5, 256), (1, 64, 1)], ids=str)
def test_matrices(kind: str, shape: Shape) -> None:
    run_grouped(turned(kind, shape, (0, 2, 1)))


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (0, 3, 1, 2)], ids=["end", "front"])
@pytest.mark.parametrize("pixels", [(640, 4), (130, 2), (64, 8), (1024, 3)], ids=str)
@pytest.mark.parametrize("channels", [32, 64, 48])
def test_pixels_of_several_lane_groups(order: Shape, pixels: Shape, channels: int) -> None:
    """All in one command where they lie without gaps; the last lane group may be short."""
    rows, width = pixels
    shape = (1, channels, rows, width) if order[1] == 2 else (1, rows, width, channels)
    run_grouped(turned("f16", shape, order))


def test_images_one_by_one() -> None:
    run_grouped(turned("f16", (4, 20, 6, 9), (0, 2, 3, 1)), secs=Secs(n=2))


EXCHANGED = (0, 3, 2, 1)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    "shape",
    [(1, 32, 5, 64), (2, 130, 3, 7), (1, 5, 70, 3), (1, 70, 130, 66)],
    ids=str,
)
def test_columns_and_channels_change_places(kind: str, shape: Shape) -> None:
    run_grouped(turned(kind, shape, EXCHANGED))


@pytest.mark.parametrize("shape", [(1, 40, 12, 32), (1, 40, 12, 96), (1, 96, 13, 40)], ids=str)
def test_their_lines_in_slices(shape: Shape) -> None:
    run_grouped(turned("f16", shape, EXCHANGED), secs=Secs(h=3))
