"""Index maps as DMA commands: every element to its place once, in few commands."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.test_index_map import Numbers, chains

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.gather_boxes import MOST_COMMANDS, Piece, pieces, slice_map
from xdsl_tpu.backend.tensor import DType, GlobalTensor, LocalTensor, Shape4, aligned, compact
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap

CHIP = load_chip("bm1684x")
SOURCE = GlobalTensor(0, (1, 1, 1, 1), (0, 0, 0, 1), DType.F16)
Full = tuple[int, int, int, int, int]


def place(local: LocalTensor, index: Shape4) -> tuple[int, int]:
    """(lane, element in the lane) of an element of a tensor."""
    n, c, h, w = index
    lane0, offset = divmod(local.address, CHIP.local_bytes)
    group, lane = divmod(lane0 + c, CHIP.lanes)
    steps = zip((n, group, h, w), local.strides, strict=True)
    return lane, offset // local.dtype.bytes + sum(a * b for a, b in steps)


def delivered(commands: list[Piece]) -> dict[tuple[int, int], int]:
    """(lane, element) -> element of the source, for all that the commands copy."""
    found: dict[tuple[int, int], int] = {}
    for local, ddr in commands:
        assert local.shape == ddr.shape
        assert max(local.shape) <= 0xFFFF
        assert min(*local.strides, *ddr.strides) >= 0
        for i, c, h, w in np.ndindex(*local.shape):
            spot = place(local, (i, c, h, w))
            assert spot not in found
            steps = zip((i, c, h, w), ddr.strides, strict=True)
            found[spot] = ddr.address // ddr.dtype.bytes + sum(a * b for a, b in steps)
    return found


def commands_of(moves: IndexMap, shape: Shape4) -> list[Piece]:
    """What loads a whole tensor (n, c, h, w), EU-aligned."""
    n, c, h, w = shape
    target = aligned(CHIP, 0, shape, DType.F16)
    found = pieces(
        slice_map(target, 1, (0, 0, 0, 0, 0), (n, c, 1, h, w)).after(moves), target, SOURCE, CHIP
    )
    assert found is not None
    return found


@settings(max_examples=80, deadline=None)
@given(chains(), st.data())
def test_commands_deliver_every_element_of_a_slice_once(
    chain: tuple[Numbers, list[IndexMap]],
    data: st.DataObject,
) -> None:
    numbers, maps = chain
    moves = maps[0]
    for step in maps[1:]:
        moves = step.after(moves)
    repeats = data.draw(st.sampled_from([1, 30]))  # more channels than lanes
    shape = [1, 1, 1, 1, 1]
    for size in numbers.shape:
        shape[data.draw(st.integers(0, 4))] *= size
    full: Full = (shape[0], shape[1], shape[2], shape[3], shape[4])
    if repeats > 1:
        full = (1, math.prod(full), 1, 1, 1)
    start = [data.draw(st.integers(0, size - 1)) for size in full]
    n, c, d, h, w = (
        data.draw(st.integers(1, size - i)) for i, size in zip(start, full, strict=True)
    )
    make = data.draw(st.sampled_from([aligned, compact]))
    target = make(CHIP, 0, (d * n, c, h, w), DType.F16)
    part = slice_map(target, d, start, full).after(moves)
    found = pieces(part, target, SOURCE, CHIP)
    assert found is not None
    cut = tuple(slice(i, i + size) for i, size in zip(start, (n, c, d, h, w), strict=True))
    wanted = numbers.reshape(full)[cut].transpose(2, 0, 1, 3, 4).reshape(d * n, c, h, w)
    expected = {
        place(target, (i, j, k, m)): int(wanted[i, j, k, m])
        for i, j, k, m in np.ndindex(*wanted.shape)
    }
    assert delivered(found) == expected


def windows(side: int, channels: int, shift: int = 0) -> IndexMap:
    """An image (side, side, channels), rolled and cut into windows of 7 x 7."""
    count = side // 7
    rolled = IndexMap.rolled((side, side, channels), (shift, shift, 0))
    split = (count, 7, count, 7, channels)
    return IndexMap.permuted(split, (0, 2, 1, 3, 4)).after(rolled)


@pytest.mark.parametrize(
    ("side", "shift", "most"), [(56, 0, 56), (28, 0, 28), (14, 0, 14), (56, 3, 84), (14, 3, 30)]
)
def test_a_window_partition_takes_at_most_one_command_per_row_of_windows(
    side: int, shift: int, most: int
) -> None:
    channels = 4  # what a run holds does not matter
    count = (side // 7) ** 2
    found = commands_of(windows(side, channels, shift), (count, 49, channels, 1))
    assert len(found) <= most
    assert all(local.shape[3] == channels for local, _ in found)


def test_a_window_reverse_joins_rows_that_share_their_lanes() -> None:
    reverse = IndexMap.permuted((8, 8, 7, 7, 4), (0, 2, 1, 3, 4))
    found = commands_of(reverse, (1, 56 * 56, 4, 1))
    assert len(found) < 56 * 56 // 7 / 3


def test_what_is_in_order_is_one_command() -> None:
    assert len(commands_of(IndexMap.identity(3 * 80 * 4 * 5), (3, 80, 4, 5))) == 1


def test_sizes_beyond_a_commands_fields_are_loops() -> None:
    found = commands_of(IndexMap.identity(1 << 17), (1, 1, 1, 1 << 17))
    assert sum(math.prod(local.shape) for local, _ in found) == 1 << 17
    assert len(found) <= 4


def test_what_takes_too_many_commands_is_refused() -> None:
    """Read backwards, every element is a command of its own: no stride is negative."""
    size = MOST_COMMANDS
    target = aligned(CHIP, 0, (1, 1, 1, size + 1), DType.F16)
    for length, possible in ((size, True), (size + 1, False)):
        mirrored = IndexMap((Box(0, length - 1, (Digit(length, 1, -1),)),))
        assert (pieces(mirrored, target, SOURCE, CHIP) is not None) == possible
