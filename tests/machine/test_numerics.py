"""Rounding, Newton iterations and sums against independent definitions."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.machine.convert import convert
from xdsl_tpu.backend.machine.elements import (
    BF16,
    F16,
    F32,
    I8,
    I16,
    I32,
    U8,
    U16,
    Element,
    flushed,
    widened,
)
from xdsl_tpu.backend.machine.memory import Memory
from xdsl_tpu.backend.machine.newton import divide, rsqrt
from xdsl_tpu.backend.machine.rounding import shift, shift_right
from xdsl_tpu.backend.machine.sums import block_accumulate, parity_accumulate
from xdsl_tpu.backend.machine.table import state_of
from xdsl_tpu.dialects.errors import TpuError

CHIP = load_chip("bm1684x")
_HALF = Fraction(1, 2)


def _away(x: Fraction) -> int:
    return floor(x + _HALF) if x > 0 else ceil(x - _HALF)


_MODES: dict[int, Callable[[Fraction], int]] = {
    0: round,
    1: _away,
    2: int,
    3: floor,
    4: ceil,
    5: lambda x: floor(x + _HALF),
    6: lambda x: ceil(x - _HALF),
}


@given(st.integers(-(2**40), 2**40), st.integers(0, 45), st.sampled_from(sorted(_MODES)))
def test_shift_right_rounds_by_mode(value: int, amount: int, mode: int) -> None:
    got = shift_right(np.array([value], np.int64), np.array(amount), mode)[0]
    assert got == _MODES[mode](Fraction(value, 2**amount))


@given(st.integers(-(2**34), 2**34), st.integers(-128, 127))
def test_shift_saturates(value: int, amount: int) -> None:
    got = shift(np.array([value], np.int64), np.array(amount), 5, -(2**31), 2**31 - 1)[0]
    exact = _MODES[5](Fraction(value) * Fraction(2) ** amount)
    assert got == min(max(exact, -(2**31)), 2**31 - 1)


def test_unknown_rounding_mode_is_refused() -> None:
    with pytest.raises(TpuError, match="rounding mode 7"):
        shift_right(np.array([3], np.int64), np.array(1), 7)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (0, [0x3C00, 0x3C02, 0xBC00, 0x7C00]),
        (1, [0x3C01, 0x3C02, 0xBC01, 0x7C00]),
        (2, [0x3C00, 0x3C01, 0xBC00, 0x7BFF]),
        (3, [0x3C00, 0x3C01, 0xBC01, 0x7BFF]),
        (4, [0x3C01, 0x3C02, 0xBC00, 0x7C00]),
        (6, [0x3C00, 0x3C01, 0xBC00, 0x7BFF]),
    ],
)
def test_f32_to_f16_modes(mode: int, expected: list[int]) -> None:
    # Ties around 1 and the overflow 65520, halfway between the largest f16 and 2^16.
    ulp = 2.0**-10
    values = np.array([1 + ulp / 2, 1 + 1.5 * ulp, -1 - ulp / 2, 65520.0], np.float32)
    with np.errstate(over="ignore"):
        got = convert(values, F32, F16, mode)
    assert got.view(np.uint16).tolist() == expected


def test_float_to_integer_saturates_and_forgets_nan() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 127.6, -0.5, 2.5], np.float32)
    with np.errstate(invalid="ignore"):
        assert convert(values, F32, I8, 0).tolist() == [0, 127, -128, 127, 0, 2]
        assert convert(values, F32, I8, 1).tolist() == [0, 127, -128, 127, -1, 3]


def test_directed_rounding_of_large_integers_stays_finite() -> None:
    values = np.array([100_000, -100_000], np.int32)
    with np.errstate(over="ignore"):
        assert convert(values, I32, F16, 0).tolist() == [np.inf, -np.inf]
    assert convert(values, I32, F16, 2).tolist() == [65504.0, -65504.0]


def test_nan_keeps_only_its_sign() -> None:
    narrow = np.array([0x7E01, 0xFE01], np.uint16).view(np.float16)
    wide = convert(narrow, F16, F32, 0)
    assert wide.view(np.uint32).tolist() == [0x7FFF_FFFF, 0xFFFF_FFFF]
    assert convert(wide, F32, F16, 0).view(np.uint16).tolist() == [0x7FFF, 0xFFFF]


def test_bf16_rounds_to_nearest_even() -> None:
    bits = np.array([0x3F808000, 0x3F818000, 0x3F808001], np.uint32)
    assert BF16.store(bits.view(np.float32)).tolist() == [0x3F80, 0x3F82, 0x3F81]


def test_subnormals_are_flushed_with_their_sign() -> None:
    values = np.array([1e-40, -1e-40, 2.0**-126, 0.0, np.inf], np.float32)
    got = flushed(values)
    assert got.tolist() == [0.0, 0.0, 2.0**-126, 0.0, np.inf]
    assert np.signbit(got).tolist() == [False, True, False, False, False]


def test_newton_edge_cases() -> None:
    # docs/hardware/instructions.md#reciprocals-and-roots.
    one = np.ones((), np.float32)
    divisors = np.array([0.0, -0.0, np.inf, 3e38], np.float32)
    with np.errstate(all="ignore"):
        assert divide(one, divisors, 3).tolist() == [np.inf, -np.inf, np.inf, 0.0]
        assert rsqrt(np.array([0.0], np.float32), 2)[0] == np.float32(4.4589946e19)
        assert np.isnan(divide(one, np.array([np.nan], np.float32), 3))[0]


def test_newton_is_accurate() -> None:
    values = np.random.default_rng(0).uniform(1e-3, 1e3, 1000).astype(np.float32)
    assert np.abs(rsqrt(values, 2) * np.sqrt(values) - 1).max() < 1e-6
    assert np.abs(divide(np.ones((), np.float32), values, 3) * values - 1).max() < 1e-6


def _block_reference(products: list[Fraction]) -> np.float32:
    """Aligned to the largest product, truncated, summed, rounded once."""
    largest = max(abs(p) for p in products)
    exponent = 0
    while Fraction(2) ** exponent > largest:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= largest:
        exponent += 1
    step = Fraction(2) ** (exponent - 24)
    return np.float32(float(sum((int(p / step) for p in products), 0) * step))


def test_block_sum_follows_the_reference() -> None:
    # Magnitudes spread over 2^20, so that alignment drops bits of the small products.
    rng = np.random.default_rng(1)
    scale = 2.0 ** rng.integers(-10, 10, (4, 70))
    left = (rng.standard_normal((4, 70)) * scale).astype(np.float16).astype(np.float32)
    right = rng.standard_normal((70, 5)).astype(np.float16).astype(np.float32)
    got = block_accumulate(np.zeros((1, 1), np.float32), left, right, 32)
    plain = left @ right
    assert not np.array_equal(got, plain)
    for m, p in np.ndindex(4, 5):
        total = np.float32(0)
        for k in (0, 32, 64):
            pairs = zip(left[m, k : k + 32], right[k : k + 32, p], strict=True)
            total += _block_reference([Fraction(float(a)) * Fraction(float(b)) for a, b in pairs])
        assert got[m, p] == total


def test_parity_sum_uses_two_accumulators() -> None:
    # 1 goes to the even accumulator, the small numbers alternate: only half of them get lost.
    tiny = np.full((8, 1), 2.0**-25, np.float32)
    got = parity_accumulate([np.ones((1, 1), np.float32)], np.ones((1, 8), np.float32), tiny)
    assert got[0, 0] == np.float32(1 + 4 * 2.0**-25)


@pytest.mark.parametrize("mode", range(7))
@pytest.mark.parametrize("target", [I8, U8, I16, I32, F16, BF16, F32])
@pytest.mark.parametrize("source", [I8, U8, I16, U16, F16])
def test_many_casts_are_those_of_one(source: Element, target: Element, mode: int) -> None:
    """Large tensors are looked up in a table of all values."""
    every = np.arange(1 << 16, dtype=np.uint16).astype(f"u{source.size}").view(source.storage)
    with np.errstate(all="ignore"):
        found = convert(every, source, target, mode)
        parts = [convert(part, source, target, mode) for part in np.split(every, 16)]
    np.testing.assert_array_equal(found.view(np.uint8), np.concatenate(parts).view(np.uint8))


def test_f16_is_widened_and_computed_with_as_numpy_does() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(
        widened(every).view(np.uint32), every.astype(np.float32).view(np.uint32)
    )
    state = state_of(CHIP, Memory(CHIP, b""), False)
    other = np.random.default_rng(2).permutation(every)
    with np.errstate(all="ignore"):
        for operation in (np.add, np.subtract, np.multiply):
            found, wanted = state.computed(operation, every, other), operation(every, other)
            numbers = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.isnan(found), ~numbers)
            np.testing.assert_array_equal(
                found[numbers].view(np.uint16), wanted[numbers].view(np.uint16)
            )
