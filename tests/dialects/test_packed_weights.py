"""Quantisation to 4 and 8 bits: the formulas, their borders, what refuses."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import dequantised, pack, quantise, unpack


def half_away(x: float) -> int:
    return math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)


def by_hand(
    row: npt.NDArray[np.float32], bits: int, group: int, symmetric: bool
) -> list[list[int]]:
    """q, zero point and float16 bits of the scale of a row, in Python's exact arithmetic."""
    levels = (1 << bits) - 1
    found: list[list[int]] = []
    for start in range(0, len(row), group):
        some = row[start : start + group]
        low, high = min(some.min(), np.float32(0)), max(some.max(), np.float32(0))
        span = 2 * max(high, -low) if symmetric else high - low
        s = np.float32(max(np.float32(span), np.float32(1e-5))) / np.float32(levels)
        z = 1 << (bits - 1) if symmetric else min(half_away(float(-low / s)), levels)
        numbers = [min(max(half_away(float(w / s)) + z, 0), levels) for w in some]
        found.append([*numbers, z, int(np.float16(s).view(np.uint16))])
    return found


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("group", [32, 64, 128])
def test_the_formulas(bits: int, symmetric: bool, group: int) -> None:
    generator = np.random.default_rng(bits + group)
    matrix = (generator.standard_normal((5, 256)) * 0.02).astype(np.float32)
    matrix[1] = np.abs(matrix[1]) + 1  # of one sign
    matrix[2, :128] = 0
    matrix[3, 3] = 40
    matrix[4] = np.round(matrix[4] * 100) / 4  # halves
    packed = quantise(matrix, bits, group, symmetric)
    numbers = unpack(packed.values, bits).reshape(5, -1, group)
    bit_patterns = packed.scale.view(np.uint16)
    for n in range(5):
        expected = by_hand(matrix[n], bits, group, symmetric)
        found = [
            [*map(int, numbers[n, g]), int(packed.zero[n, g]), int(bit_patterns[n, g])]
            for g in range(256 // group)
        ]
        assert found == expected


def test_a_group_of_one_sign_keeps_its_values() -> None:
    matrix = np.linspace(1.01, 3.62, 64, dtype=np.float32)[None]
    packed = quantise(matrix, 4, 64)
    assert np.abs(packed.floats() - matrix).max() <= 3.62 / 15 / 2 + 1e-3


def test_blocks_of_rows_are_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(0).standard_normal((37, 64), np.float32)
    whole = quantise(matrix, 4, 32)
    monkeypatch.setattr("xdsl_tpu.dialects.packed_weights._BLOCK", 128)
    parts = quantise(matrix, 4, 32)
    for name in ("values", "scale", "zero"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    np.testing.assert_array_equal(whole.floats(), parts.floats())


def test_low_half_first() -> None:
    numbers = np.array([[1, 2, 15, 0]], np.uint8)
    assert pack(numbers, 4).tolist() == [[0x21, 0x0F]]
    np.testing.assert_array_equal(unpack(pack(numbers, 4), 4), numbers)


def test_restored_numbers() -> None:
    values = np.array([[0x21, 0x0F]], np.uint8)
    scale, zero = np.array([[0.5, 2.0]]), np.array([[1, 8]])
    assert dequantised(values, scale, zero, 4, 2).tolist() == [[0.0, 0.5, 14.0, -16.0]]


@pytest.mark.parametrize(("bits", "group"), [(3, 32), (4, 3), (4, 48), (8, 0)])
def test_other_packings_are_refused(bits: int, group: int) -> None:
    with pytest.raises(TpuError):
        quantise(np.ones((2, 64), np.float32), bits, group)


def test_weights_without_finite_scales_are_refused() -> None:
    matrix = np.full((1, 32), 3e6, np.float32)
    with pytest.raises(TpuError, match="float16"):
        quantise(matrix, 4, 32)
