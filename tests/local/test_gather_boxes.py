"""Decomposing a reordered read into strided boxes: every element once, and few boxes."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.backend.local.gather_boxes import MOST_RUNS, GatherBox, gather_boxes
from xdsl_tpu.backend.tensor import Shape4, ceil_div

LANES = 64


def strides_of(shape: Shape4, pad: int, lanes: int = LANES) -> Shape4:
    """Strides of a local tensor whose channels are padded by `pad` elements."""
    _, c, h, w = shape
    return ceil_div(c, lanes) * (h * w + pad), h * w + pad, w, 1


def delivered(box: GatherBox, lanes: int) -> dict[tuple[int, int], int]:
    """(lane, offset) -> source element, for all that a box copies."""
    found: dict[tuple[int, int], int] = {}
    for i, j, k, m in np.ndindex(*box.shape):
        group, lane = divmod(box.lane + j, lanes)
        steps = zip((i, group, k, m), box.local, strict=True)
        place = lane, box.offset + sum(a * b for a, b in steps)
        assert place not in found
        steps = zip((i, j, k, m), box.source, strict=True)
        found[place] = box.base + sum(a * b for a, b in steps)
    return found


def boxes_of(
    order: npt.NDArray[np.int64], pad: int = 0, lanes: int = LANES
) -> tuple[GatherBox, ...]:
    """The boxes, proven to bring every element to its place, and nothing else."""
    n, c, h, w = order.shape
    strides = strides_of((n, c, h, w), pad, lanes)
    boxes = gather_boxes(order, strides, lanes)
    assert boxes is not None
    found: dict[tuple[int, int], int] = {}
    for box in boxes:
        assert min(*box.local, *box.source) >= 0
        part = delivered(box, lanes)
        assert not part.keys() & found.keys()
        found |= part
    assert len(found) == order.size
    for i, j, k, m in np.ndindex(n, c, h, w):
        group, lane = divmod(j, lanes)
        steps = zip((i, group, k, m), strides, strict=True)
        assert found[lane, sum(a * b for a, b in steps)] == order[i, j, k, m]
    return boxes


@st.composite
def orders(draw: st.DrawFn) -> npt.NDArray[np.int64]:
    """The order of a tensor after random permutes and rolls, seen as four dimensions."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    values = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    for _ in range(draw(st.integers(0, 2))):
        values = values.transpose(draw(st.permutations(range(len(shape)))))
        shifts = [draw(st.integers(0, size - 1)) for size in values.shape]
        values = np.roll(values, shifts, range(len(shape)))
    cut = [draw(st.integers(0, size - 1)) for size in values.shape]
    values = values[tuple(slice(start, None) for start in cut)]
    sizes = [1, 1, 1, 1]
    for size in values.shape:
        sizes[draw(st.integers(0, 3))] *= size
    return values.reshape(sizes)


@settings(max_examples=150, deadline=None)
@given(orders(), st.sampled_from([0, 3]), st.sampled_from([4, 8, 64]))
def test_boxes_deliver_every_element_once(
    order: npt.NDArray[np.int64], pad: int, lanes: int
) -> None:
    boxes_of(order, pad, lanes)


def partition(side: int, channels: int, shift: int = 0) -> npt.NDArray[np.int64]:
    """The image (side, side, channels) rolled and cut into windows of 7 x 7, one in each n."""
    windows = side // 7
    image = np.arange(side * side * channels).reshape(side, side, channels)
    image = np.roll(image, (-shift, -shift), (0, 1))
    parts = image.reshape(windows, 7, windows, 7, channels).transpose(0, 2, 1, 3, 4)
    return parts.reshape(windows * windows, 49, channels, 1)


def reverse(side: int, channels: int) -> npt.NDArray[np.int64]:
    """Windows back to an image, all of whose tokens are channels."""
    windows = side // 7
    parts = np.arange(side * side * channels).reshape(windows, windows, 7, 7, channels)
    return parts.transpose(0, 2, 1, 3, 4).reshape(1, side * side, channels, 1)


@pytest.mark.parametrize(
    ("side", "shift", "count"), [(56, 0, 7), (28, 0, 7), (14, 0, 7), (56, 3, 30), (14, 3, 30)]
)
def test_a_window_partition_takes_one_box_per_row_of_a_window(
    side: int, shift: int, count: int
) -> None:
    channels = 4  # what a run holds does not matter
    boxes = boxes_of(partition(side, channels, shift))
    assert len(boxes) == count
    assert all(box.shape[3] == channels for box in boxes)


def test_windows_of_tokens_take_two_levels_of_windows() -> None:
    (first, *_) = boxes_of(partition(56, 4))
    assert first.shape == (8, 7, 8, 4)
    assert first.source == (7 * 56 * 4, 4, 7 * 4, 1)


def test_a_window_reverse_joins_rows_that_share_their_lanes() -> None:
    rows = 56 * 56 // 7
    assert len(boxes_of(reverse(56, 4))) < rows / 3


def test_what_is_in_order_is_one_box() -> None:
    assert len(boxes_of(np.arange(3 * 80 * 4 * 5).reshape(3, 80, 4, 5))) == 1


def test_scattered_elements_are_refused() -> None:
    size = 200
    order = np.arange(size * size).reshape(size, size).T.reshape(1, size, 1, size)
    assert size * size > MOST_RUNS
    assert gather_boxes(order, (size, size, size, 1), LANES) is None
