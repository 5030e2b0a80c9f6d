"""Multipliers and shifts, rounding, filter scales, tables: the arithmetic of the lowering."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.passes.lowering.int8.conv import filter_scales
from xdsl_tpu.passes.lowering.int8.scales import (
    multiplier_and_shift,
    multipliers_and_shifts,
    positive_multiplier_and_shift,
    round_half_away,
    saturate,
)


@settings(max_examples=60, deadline=None)
@given(st.floats(2.0**-20, 2.0**20, width=32))
def test_32_bit_pairs_are_as_near_as_30_places_allow(scale: float) -> None:
    multiplier, shift = multiplier_and_shift(scale)
    assert abs(multiplier * 2.0**-shift - scale) <= 2.0**-31
    assert 0 < multiplier < 2**31 - 1
    # The smallest shift wins: an even multiplier would have had a smaller one.
    assert multiplier % 2 == 1 or shift == -32


@settings(max_examples=60, deadline=None)
@given(st.floats(2.0**-16, 100, width=32))
def test_8_bit_pairs_are_the_best_there_are(scale: float) -> None:
    multiplier, shift = positive_multiplier_and_shift(scale)
    assert 0 <= multiplier < 127
    every = [m * 2.0**-n for n in range(31) for m in range(127)]
    best = min(np.float32(abs(one - scale)) for one in every)
    assert np.float32(abs(multiplier * 2.0**-shift - scale)) == best


def test_known_pairs() -> None:
    """Values that tpu-mlir 1.30.2 printed: an average pool, a sum, a factor of 1."""
    assert positive_multiplier_and_shift(0.02077466 / (0.023107334 * 49)) == (75, 12)
    assert multiplier_and_shift(1.0, 8) == (1, 0)
    assert positive_multiplier_and_shift(0.023529411764705882 / (0.023107334117647059 * 49)) == (
        85,
        12,
    )
    assert multipliers_and_shifts([0.5, 0.75, 3.0], 8) == ([1, 3, 3], [1, 2, 0])


def test_halves_go_away_from_zero() -> None:
    values = np.array([-2.5, -0.5, -0.49, 0.5, 1.5, 2.4])
    assert round_half_away(values).tolist() == [-3, -1, 0, 1, 2, 2]


def test_saturation() -> None:
    values = np.array([-200.0, -128.5, 127.5, 300.0])
    assert saturate(values, signed=True).tolist() == [-128, -128, 127, 127]
    assert saturate(values, signed=False).tolist() == [0, 0, 128, 255]


def weights(*channels: list[float]) -> npt.NDArray[np.float32]:
    return np.array(channels, np.float32).reshape(len(channels), -1, 1, 1)


@pytest.mark.parametrize(
    ("filters", "signed", "scales"),
    [
        (weights([0.0, 0.0]), True, [1.0]),
        (weights([127.0, -128.0]), True, [1.0]),
        (weights([0.5, 1.0], [2.0, 0.25]), True, [0.25, 0.25]),
        (weights([128.0, 1.0]), True, [128.0 / 127]),
        (weights([255.0, 1.0]), False, [1.0]),
        (weights([0.1, 0.0], [0.0, 0.0]), True, [np.float32(0.1) / np.float32(127), 1e-5]),
        (
            weights([0.1, 0.0], [0.0, 1e-9]),
            True,
            [np.float32(one) / np.float32(127) for one in (0.1, 1e-9)],
        ),
    ],
)
def test_filter_scales(filters: npt.NDArray[np.float32], signed: bool, scales: list[float]) -> None:
    expected = [float(np.float32(one)) for one in scales]
    assert filter_scales(filters, signed).tolist() == expected
