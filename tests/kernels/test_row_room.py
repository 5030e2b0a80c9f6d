"""The scratch memory of rows has room for all statistics, however wide a lane is."""

from dataclasses import replace
from itertools import pairwise

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.kernels.sequences.row_room import RowRoom, RowShape, row_scratch
from xdsl_tpu.backend.kernels.sequences.row_set import rows_at
from xdsl_tpu.backend.tensor import DType, aligned, aligned_bytes

F16, F32 = DType.F16, DType.F32


@pytest.mark.parametrize("along_width", [False, True])
@pytest.mark.parametrize("width", [4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 9, 13, 16, 17, 28, 33, 65])
def test_statistics_stay_within_their_room(count: int, width: int, along_width: bool) -> None:
    chip = replace(load_chip(), eu_bytes=width)
    shape = (1, 1, count, 64) if along_width else (count, 1, 64, 1)
    tensors, at = [aligned(chip, 0, shape, F16)], 0
    for one in row_scratch(chip, RowShape(64, along_width), (F16,)):
        at += aligned_bytes(chip, tensors[-1].shape, tensors[-1].dtype)
        tensors.append(aligned(chip, at, one.shape(shape), one.dtype))
    x, *scratch = tensors
    room = RowRoom(chip, rows_at(0, x, chip), 1, scratch)
    places = [room.dense(index, F32).address for index in range(4)]
    size = aligned_bytes(chip, (1, 1, 1, count), F32)
    assert all(b - a >= size for a, b in pairwise(places))
    (home,) = [one for one in scratch if one.address == places[0]]
    assert places[3] + size <= home.address + aligned_bytes(chip, home.shape, home.dtype)
