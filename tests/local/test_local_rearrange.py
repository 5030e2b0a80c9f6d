"""Elements that leave their lanes within local memory against the interpreter and DDR's kernel."""

from math import prod

import numpy as np
import pytest
from tests.kernels.harness import Case, run
from tests.local.groups import run_grouped

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import LaneWay, lane_way, rows_of
from xdsl_tpu.dialects.interfaces.local_gen import Part
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement
from xdsl_tpu.passes.layer_group.values import Secs

Shape = tuple[int, ...]


def moved(kind: str, source: Shape, target: Shape, moves: IndexMap) -> Case:
    """Relu, Rearrange, Relu."""
    case = Case(kind)
    boxes = tpu.RearrangeOp.listed(Movement(prod(target), (Moved(0, moves),)))
    x = case.op("tpu.Relu", [case.input("x", source)], {}, "before", source)
    attributes = {"boxes": str(boxes), "in_lanes": "true"}
    x = case.op("tpu.Rearrange", [x], attributes, "moved", target)
    case.op("tpu.Relu", [x], {}, "y", target)
    return case


def windows(h: int, w: int, size: int, c: int, offset: int = 0) -> IndexMap:
    """An image of rows of pixels, turned by an offset, in windows."""
    parts = (h // size, size, w // size, size, c)
    cut = IndexMap.permuted(parts, (0, 2, 1, 3, 4))
    return cut.after(IndexMap.rolled((h, w, c), (offset, offset, 0)))


def whole(parts: Shape, order: Shape) -> IndexMap:
    return IndexMap.permuted(parts, order)


MOVES = {
    "windows": ((1, 256, 60), (16, 16, 60), windows(16, 16, 4, 60), LaneWay(60, 60)),
    "windows of 49": ((1, 784, 96), (16, 49, 96), windows(28, 28, 7, 96, 3), LaneWay(96, 96)),
    "heads": ((1, 150, 4, 48), (4, 150, 48), whole((150, 4, 48), (1, 0, 2)), LaneWay(0, 0)),
    "to columns": ((12, 70, 32), (70, 32, 12), whole((12, 70, 32), (1, 2, 0)), LaneWay(32, 0)),
    "matrix": ((1, 130, 96), (1, 96, 130), whole((130, 96), (1, 0)), LaneWay(96, 0)),
    "other lanes": ((1, 128, 48), (1, 8, 16, 48), IndexMap.identity(128 * 48), LaneWay(48, 48)),
    "parts": ((3, 100, 64), (2, 50, 3, 64), whole((3, 2, 50, 64), (1, 2, 0, 3)), LaneWay(64, 64)),
    "image": ((1, 20, 6, 35), (2, 105, 20), whole((20, 210), (1, 0)), LaneWay(0, 20)),
}


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("name", MOVES)
def test_whole_values(kind: str, name: str) -> None:
    source, target, moves, way = MOVES[name]
    assert lane_way(moves, rows_of(source), rows_of(target)) == way
    case = moved(kind, source, target, moves)
    np.testing.assert_array_equal(run_grouped(case).simulated, run(case).simulated)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("first", [1, 63, 70])
def test_columns_of_channels_from_another_lane_on(kind: str, first: int) -> None:
    """Some columns of all tokens but the first, those of a head: turned on the way to their lanes,
    not copied channel by channel, which takes some cycles for each."""
    channels, columns, size = 785, 48, 128
    tokens = channels - first
    box = Box(0, first * size + 32, (Digit(tokens, columns, size), Digit(columns, 1, 1)))
    case = moved(kind, (1, channels, size), (1, tokens, columns), IndexMap((box,)))
    result = run_grouped(case)
    np.testing.assert_array_equal(result.simulated, run(case).simulated)
    (op,) = (op for op in case.module().walk() if isinstance(op, tpu.RearrangeOp))
    chip = load_chip()
    measured = measure(op, lambda v: of_value(v, KIND, chip.lanes), KIND, chip)
    assert measured.cycles < tokens


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(
    ("source", "target", "moves"),
    [
        ((4, 26, 26, 16), (4, 676, 16), IndexMap.identity(4 * 676 * 16)),
        ((4, 100, 48), (4, 48, 100), whole((4, 100, 48), (0, 2, 1))),
        ((4, 70, 3, 20), (4, 60, 70), whole((4, 70, 60), (0, 2, 1))),
    ],
)
def test_images_are_moved_one_by_one(
    kind: str, source: Shape, target: Shape, moves: IndexMap
) -> None:
    """A group may have some of the images at a time."""
    case = moved(kind, source, target, moves)
    expected = run(case).simulated
    for secs in (Secs(), Secs(n=2), Secs(n=4)):
        np.testing.assert_array_equal(run_grouped(case, secs=secs).simulated, expected)


def test_images_that_change_places_stay_together() -> None:
    case = moved("f16", (6, 64, 8), (6, 64, 8), whole((2, 3, 512), (1, 0, 2)))
    (op,) = (op for op in case.module().walk() if isinstance(op, tpu.RearrangeOp))
    assert op.local_support(KIND) is None
    assert not op.may_split("n", KIND)
    assert op.backward(Part("n", 0, 3, 6, KIND), 0, 6) is None


def test_what_has_no_way() -> None:
    """Neither channels nor neighbours stay together."""
    moves = whole((8, 6, 10), (2, 0, 1))
    assert lane_way(moves, rows_of((1, 8, 60)), rows_of((1, 32, 15))) is None
