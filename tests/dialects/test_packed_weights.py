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
    matrix[4] = np.round(matrix[4] * 100) / 4  # halves, and what keeps them from being a grid
    matrix[4, ::32] = 0.61
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


def on_grid(
    bits: int, group: int, kind: type[np.float32] | type[np.float16]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """q - z from below 0 to above it, scales, and numbers as a model in `kind` would hold them."""
    generator = np.random.default_rng(bits * group)
    zero = generator.integers(0, 1 << bits, (6, 256 // group, 1))
    numbers = generator.integers(0, 1 << bits, (6, 256 // group, group)) - zero
    scale = generator.uniform(1e-3, 0.1, (6, 256 // group)).astype(np.float16)
    products = numbers.astype(kind) * scale[..., None].astype(kind)
    return numbers, scale.astype(np.float32), products.astype(np.float32).reshape(6, 256)


@pytest.mark.parametrize("group", [32, 64, 128])
@pytest.mark.parametrize(("bits", "into"), [(4, 4), (8, 8), (4, 8)])
def test_integers_of_a_model_are_kept(bits: int, into: int, group: int) -> None:
    numbers, scale, matrix = on_grid(bits, group, np.float32)
    packed = quantise(np.asfortranarray(matrix), into, group)
    found = unpack(packed.values, into).reshape(numbers.shape).astype(int)
    np.testing.assert_array_equal(found - packed.zero[..., None], numbers)
    np.testing.assert_array_equal(packed.scale.astype(np.float32), scale)
    np.testing.assert_array_equal(packed.floats(), matrix)


def test_groups_within_a_models_groups_keep_its_integers() -> None:
    matrix = on_grid(4, 128, np.float32)[2]
    np.testing.assert_array_equal(quantise(matrix, 4, 32).floats(), matrix)


def test_integers_are_seen_through_the_rounding_of_f16() -> None:
    numbers, scale, matrix = on_grid(4, 32, np.float16)
    packed = quantise(matrix, 4, 32)
    found = unpack(packed.values, 4).reshape(numbers.shape).astype(int)
    np.testing.assert_array_equal(found - packed.zero[..., None], numbers)
    np.testing.assert_allclose(packed.scale.astype(np.float32), scale, rtol=2e-3)


def test_numbers_far_apart_on_a_grid() -> None:
    """No two are neighbours; the formula would make 15 steps of 11."""
    matrix = np.tile(np.array([0, 2, 5, -6, 5, 2, 0, -6], np.float32) / 4, 4)[None]
    packed = quantise(matrix, 4, 32)
    np.testing.assert_array_equal(packed.floats(), matrix)
    assert packed.scale.item() == 0.25


def test_three_numbers_are_a_grid_and_a_symmetric_one() -> None:
    matrix = np.random.default_rng(0).integers(-1, 2, (4, 64)).astype(np.float32) * 0.25
    for symmetric in (False, True):
        packed = quantise(matrix, 4, 64, symmetric)
        np.testing.assert_array_equal(packed.floats(), matrix)
        assert (packed.zero == 8).all()


def test_symmetric_packings_have_their_zero_in_the_middle_all_the_same() -> None:
    matrix = on_grid(4, 64, np.float32)[2]
    assert (quantise(matrix, 4, 64, True).zero == 8).all()
