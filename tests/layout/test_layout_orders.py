"""The orders of the two layouts, whatever the rank."""

import numpy as np
import pytest

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    composed,
    inverse,
    layout_order,
    moves_data,
)

FIRST, LAST = Layout.CHANNEL_FIRST, Layout.CHANNEL_LAST


@pytest.mark.parametrize(
    ("rank", "channel", "last", "first"),
    [
        (4, 1, (0, 2, 3, 1), (0, 3, 1, 2)),
        (3, 1, (0, 2, 1), (0, 2, 1)),
        (5, 1, (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)),
        (3, 0, (1, 2, 0), (2, 0, 1)),
        (2, 1, (0, 1), (0, 1)),
        (1, 1, (0,), (0,)),
        (0, 1, (), ()),
    ],
)
def test_orders(rank: int, channel: int, last: tuple[int, ...], first: tuple[int, ...]) -> None:
    assert layout_order(rank, LAST, channel) == last
    assert layout_order(rank, FIRST, channel) == first
    assert inverse(last) == first
    assert composed(last, first) == tuple(range(rank))


def test_composition_is_that_of_transpositions() -> None:
    x = np.arange(24).reshape(1, 2, 3, 4)
    one, two = (0, 2, 3, 1), (3, 1, 0, 2)
    assert np.array_equal(x.transpose(one).transpose(two), x.transpose(composed(one, two)))
    assert np.array_equal(x.transpose(two).transpose(inverse(two)), x)


@pytest.mark.parametrize(
    ("shape", "order", "moves"),
    [
        ((2, 3, 4, 5), (0, 2, 3, 1), True),
        ((2, 3, 1, 1), (0, 2, 3, 1), False),
        ((2, 1, 4, 5), (0, 2, 3, 1), False),
        ((2, 3, 1, 5), (0, 2, 3, 1), True),
        ((1, 7), (1, 0), False),
    ],
)
def test_only_ones_change_places(
    shape: tuple[int, ...], order: tuple[int, ...], moves: bool
) -> None:
    assert moves_data(shape, order) is moves
    x = np.arange(np.prod(shape)).reshape(shape)
    same = np.array_equal(x.transpose(order).ravel(), x.ravel())
    assert same is not moves
