"""Chains of movement ops as index maps, beside numpy doing the same to the elements' numbers."""

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap

Numbers = npt.NDArray[np.int64]


def carried_out(moves: IndexMap) -> list[int]:
    """The source's element for each of the result's, every one of them given once."""
    found: dict[int, int] = {}
    for box in moves.boxes:
        assert all(digit.to > 0 for digit in box.digits)
        for to, at in box.points():
            assert to not in found
            found[to] = at
    assert sorted(found) == list(range(len(found)))
    return [found[i] for i in range(len(found))]


@st.composite
def factors(draw: st.DrawFn, size: int) -> list[int]:
    """A shape of `size` elements."""
    shape: list[int] = []
    while size > 1:
        shape.append(draw(st.sampled_from([n for n in range(2, size + 1) if size % n == 0])))
        size //= shape[-1]
    return shape or [1]


@st.composite
def steps(draw: st.DrawFn, x: Numbers) -> tuple[Numbers, IndexMap]:
    """What a random movement op makes of an array, and its map."""
    match draw(st.sampled_from(["permute", "roll", "reshape"])):
        case "permute":
            order = draw(st.permutations(range(x.ndim)))
            return x.transpose(order), IndexMap.permuted(x.shape, order)
        case "roll":
            offsets = [draw(st.integers(-size, size)) for size in x.shape]
            rolled = np.roll(x, [-offset for offset in offsets], range(x.ndim))
            return rolled, IndexMap.rolled(x.shape, offsets)
        case _:
            return x.reshape(draw(factors(x.size))), IndexMap.identity(x.size)


@st.composite
def chains(draw: st.DrawFn) -> tuple[Numbers, list[IndexMap]]:
    """The numbers of a source's elements after up to five ops, and the ops' maps."""
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    x: Numbers = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    maps = [IndexMap.identity(x.size)]
    for _ in range(draw(st.integers(1, 5))):
        x, moves = draw(steps(x))
        maps.append(moves)
    return x, maps


@settings(max_examples=120, deadline=None)
@given(chains())
def test_a_chain_is_one_map_in_whatever_order_it_is_composed(
    chain: tuple[Numbers, list[IndexMap]],
) -> None:
    x, maps = chain
    forwards = maps[0]
    for moves in maps[1:]:
        forwards = moves.after(forwards)
    backwards = maps[-1]
    for moves in reversed(maps[:-1]):
        backwards = backwards.after(moves)
    assert carried_out(forwards) == carried_out(backwards) == x.ravel().tolist()


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_any_boxes_compose(data: st.DataObject) -> None:
    """Reads that repeat, go backwards or overlap, of a map in pieces without a common grid."""
    digits = st.builds(Digit, st.integers(1, 5), st.just(0), st.integers(-7, 7))
    read = [data.draw(digits) for _ in range(data.draw(st.integers(0, 3)))]
    strides = np.cumprod([1, *(digit.extent for digit in read)]).tolist()
    read = [Digit(d.extent, to, d.at) for d, to in zip(read, strides, strict=False)]
    low = sum(min(0, (digit.extent - 1) * digit.at) for digit in read)
    high = sum(max(0, (digit.extent - 1) * digit.at) for digit in read)
    outer = IndexMap((Box(0, -low, tuple(read)),))
    cuts = sorted({0, high - low + 1, *data.draw(st.lists(st.integers(0, high - low)))})
    pieces = [
        Box(start, data.draw(st.integers(0, 99)), (Digit(stop - start, 1, step),))
        for start, stop in pairwise(cuts)
        for step in [data.draw(st.integers(-3, 3))]
    ]
    inner = dict(point for box in pieces for point in box.points())
    expected = {to: inner[at] for box in outer.boxes for to, at in box.points()}
    made = outer.after(IndexMap(tuple(pieces)))
    assert dict(point for box in made.boxes for point in box.points()) == expected


def test_equal_strides_on_both_sides_merge() -> None:
    assert IndexMap.permuted((2, 3, 4, 5), (2, 3, 0, 1)).boxes == (
        Box(0, 0, (Digit(20, 6, 1), Digit(6, 1, 20))),
    )
    assert Box(0, 0, (Digit(3, -1, 1), Digit(1, 9, 9))).simplified() == Box(
        -2, 2, (Digit(3, 1, -1),)
    )


@pytest.mark.parametrize(("shift", "count"), [(0, 1), (3, 9)])
def test_windows_of_an_image_are_few_boxes(shift: int, count: int) -> None:
    """The window partition of Swin: whole windows, those that the roll cuts, and the corner."""
    rolled = IndexMap.rolled((56, 56, 96), (shift, shift, 0))
    windows = IndexMap.permuted((8, 7, 8, 7, 96), (0, 2, 1, 3, 4))
    image = np.arange(56 * 56 * 96).reshape(56, 56, 96)
    image = np.roll(image, (-shift, -shift), (0, 1)).reshape(8, 7, 8, 7, 96)
    moves = windows.after(rolled)
    assert len(moves.boxes) == count
    points = dict(p for b in moves.boxes for p in Box(b.to, b.at, b.digits[:-1]).points())
    expected = image.transpose(0, 2, 1, 3, 4).ravel()
    assert all(expected[to] == at for to, at in points.items())


def test_a_chain_that_undoes_itself_is_the_identity() -> None:
    there = IndexMap.permuted((6, 4, 10), (2, 0, 1))
    back = IndexMap.permuted((10, 6, 4), (1, 2, 0))
    assert back.after(there) == IndexMap.identity(240)
    assert IndexMap.rolled((7, 9), (-2, 4)).after(IndexMap.rolled((7, 9), (2, -4))).boxes


@pytest.mark.parametrize(
    ("moves", "images", "kept"),
    [
        (IndexMap.identity(6 * 20), 6, True),
        (IndexMap.permuted((6, 4, 5), (0, 2, 1)), 6, True),
        (IndexMap.permuted((6, 4, 5), (0, 2, 1)), 3, True),  # of two each
        (IndexMap.permuted((6, 4, 5), (0, 2, 1)), 12, False),
        (IndexMap.permuted((2, 3, 20), (1, 0, 2)), 6, False),
        (IndexMap.rolled((6, 20), (0, 3)), 6, True),
        (IndexMap.rolled((6, 20), (1, 0)), 6, False),
        (IndexMap((Box(0, 19, (Digit(6, 20, 20), Digit(20, 1, -1))),)), 6, True),  # backwards
        (IndexMap((Box(0, 100, (Digit(6, 20, -20), Digit(20, 1, 1))),)), 6, False),
    ],
)
def test_images_that_are_moved_one_by_one(moves: IndexMap, images: int, kept: bool) -> None:
    made = sum(box.size for box in moves.boxes) // images
    assert moves.keeps_images(images, made, made) == kept


def test_images_that_change_their_size() -> None:
    """Every second column of 3 rows of each image."""
    some = IndexMap((Box(0, 0, (Digit(5, 12, 24), Digit(12, 1, 2))),))
    assert some.keeps_images(5, 12, 24)
    assert not some.keeps_images(5, 12, 20)
    assert not some.keeps_images(4, 15, 30)
