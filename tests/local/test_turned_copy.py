"""Copies whose rows become columns: two passes write the same, where they take less."""

from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.turned_copy import Copy, cheapest, runs_of, two_passes

CHIP = load_chip()
WIDTH = 2


def turned(rows: int, columns: int, apart: int = 0) -> Copy:
    """Rows of columns, `apart` elements behind each, to columns of rows."""
    far = columns + apart
    return Copy((1, 36, columns, rows), 0, (0, 0, rows, 1), 0, (0, 0, 1, far))


def carry_out(copy: Copy, memory: npt.NDArray[np.int64]) -> None:
    """On one lane, with addresses in elements."""
    places = list(product(*(range(size) for axis, size in enumerate(copy.shape) if axis != 1)))
    steps = [
        np.array([s for axis, s in enumerate(strides) if axis != 1])
        for strides in (copy.to_strides, copy.at_strides)
    ]
    to, at = (np.array(places) @ one for one in steps)
    memory[copy.to // WIDTH + to] = memory[copy.at // WIDTH + at]


@pytest.mark.parametrize(("rows", "columns", "apart"), [(64, 56, 0), (16, 100, 4), (28, 12, 0)])
def test_two_passes_write_what_one_does(rows: int, columns: int, apart: int) -> None:
    size = rows * (columns + apart)
    source = np.arange(size) + 1
    whole = turned(rows, columns, apart)._replace(to=size * WIDTH)
    found: list[npt.NDArray[np.int64]] = []
    for passes in ((whole,), *(two_passes(whole, run, 3 * size * WIDTH) for run in runs_of(whole))):
        memory = np.concatenate([source, np.zeros(4 * size, np.int64)])
        for one in passes:
            carry_out(one, memory)
        found.append(memory[size : size + rows * columns])
    expected = source.reshape(rows, -1)[:, :columns].T.ravel()
    assert len(found) > 1
    assert all(np.array_equal(one, expected) for one in found)


def test_two_passes_take_less_than_half() -> None:
    whole = turned(64, 56)
    run = cheapest(whole, WIDTH, CHIP)
    assert run is not None
    passes = two_passes(whole, run, 0)
    assert whole.cycles(WIDTH, CHIP) == prod(whole.shape[2:])
    assert sum(one.cycles(WIDTH, CHIP) for one in passes) < whole.cycles(WIDTH, CHIP) / 2


@pytest.mark.parametrize(
    "whole",
    [
        Copy((1, 64, 16, 32), 0, (0, 0, 32, 1), 0, (0, 0, 32, 1)),  # rows stay rows
        Copy((2, 64, 56, 64), 0, (0, 0, 64, 1), 0, (0, 0, 1, 56)),  # several images
        turned(64, 7),  # no equal parts
    ],
    ids=("rows", "images", "prime"),
)
def test_one_pass(whole: Copy) -> None:
    assert cheapest(whole, WIDTH, CHIP) is None
