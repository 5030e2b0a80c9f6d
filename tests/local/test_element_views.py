"""How element-wise work is cut: every element once, and whole stretches of DDR."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import Case, check

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.element_views import MAX_RUN_BYTES, Box, boxes


def elements(box: Box, tensor: int) -> list[int]:
    """The element numbers of a tensor that a box covers, in the box's order."""
    places = np.zeros(box.sizes, dtype=np.int64) + box.starts[tensor]
    for axis, (size, stride) in enumerate(zip(box.sizes, box.strides[tensor], strict=True)):
        shape = [1, 1, 1, 1]
        shape[axis] = size
        places = places + (np.arange(size) * stride).reshape(shape)
    return places.ravel().tolist()


@given(size=st.integers(1, 60000), element_bytes=st.sampled_from([1, 2, 4]))
def test_a_flat_range_is_covered_in_order(size: int, element_bytes: int) -> None:
    covered = [
        element
        for box in boxes(load_chip(), (size,), [(size,)], element_bytes)
        for element in elements(box, 0)
    ]
    assert covered == list(range(size))


def test_lanes_take_short_runs_of_long_ranges() -> None:
    (box,) = boxes(load_chip(), (1, 56, 56, 96), [(1, 56, 56, 96)], 4)
    pieces, lanes, _, run = box.sizes
    assert (pieces, lanes) == (6, 64)
    assert run * 4 <= MAX_RUN_BYTES
    assert box.strides[0] == (lanes * run, run, run, 1)


@pytest.mark.parametrize("pixels", [56 * 56, 56 * 56 + 64])
def test_a_cast_goes_at_the_rate_of_memory(pixels: int) -> None:
    """The bytes of both tensors at the rates of DDR, and a tenth: no tile waits for a channel."""
    chip = load_chip()
    case = Case("f16")
    case.input("x", (1, pixels, 96))
    case.op("tpu.Cast", ["x"], {}, "y", (1, pixels, 96), "f32")
    cycles = check(case).cycles
    moved = (2 / chip.load_bytes_per_cycle, 4 / chip.store_bytes_per_cycle)
    least = pixels * 96 * sum(moved)
    assert 0.999 * least < cycles < 1.15 * least


@given(
    sizes=st.lists(st.sampled_from([1, 2, 3, 7, 64, 300, 1024]), min_size=1, max_size=4),
    repeats=st.lists(st.booleans(), min_size=4, max_size=4),
    element_bytes=st.sampled_from([2, 4]),
)
def test_every_element_meets_the_one_it_is_broadcast_with(
    sizes: list[int], repeats: list[bool], element_bytes: int
) -> None:
    out = tuple(size if np.prod(sizes[:n]) * size < 1 << 18 else 1 for n, size in enumerate(sizes))
    other = tuple(1 if repeat else size for size, repeat in zip(out, repeats, strict=False))
    found = np.full(out, -1).ravel()
    for box in boxes(load_chip(), out, [other, out], element_bytes):
        own, places = elements(box, 0), elements(box, 1)
        assert (found[places] == -1).all()
        found[places] = own
    wanted = np.broadcast_to(np.arange(np.prod(other)).reshape(other), out)
    assert (found == wanted.ravel()).all()


def test_planes_of_few_channels_fill_the_lanes() -> None:
    """3 channels over their length: rows of the planes, not the channels, lie over the lanes."""
    out, other = (1, 3, 224, 224), (1, 1, 224, 224)
    (box,) = boxes(load_chip(), out, [other, out], 4)
    assert box.sizes[1] == 64
    (few,) = boxes(load_chip(), (1, 40, 224, 224), [(1, 1, 224, 224), (1, 40, 224, 224)], 4)
    assert few.sizes[1] == 40
