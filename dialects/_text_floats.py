"""How LLVM writes a floating-point number (the rules of APFloat::toString and MLIR's printer)."""

import math
from functools import lru_cache

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, Float32Type, Float64Type

_SIGNIFICANT_BITS: dict[type[AnyFloat], int] = {
    BFloat16Type: 8,
    Float16Type: 11,
    Float32Type: 24,
    Float64Type: 53,
}
_SHORT_DIGITS = 6
_LONGEST_ZERO_RUN = 3  # zeros written out before an exponent takes over


def float_text(value: float, float_type: AnyFloat) -> str:
    """`value` as mlir-opt prints it: six digits when they suffice, otherwise all that matter.

    Infinities, and numbers whose digits would read as an integer, come out as bits: `0x7FC00000`.
    """
    # The sign is part of the cache's key: 0.0 and -0.0 are equal and print differently.
    return _float_text(value, math.copysign(1.0, value), float_type)


@lru_cache(maxsize=4096)
def _float_text(value: float, sign: float, float_type: AnyFloat) -> str:
    if math.isfinite(value):
        short = _scientific(value)
        if _reads_back(short, value, float_type):
            return short
        full = _all_digits(value, 2 + _SIGNIFICANT_BITS.get(type(float_type), 53) * 59 // 196)
        if "." in full:
            return full
    return f"0x{int.from_bytes(float_type.pack([value]), 'little'):X}"


def _reads_back(text: str, value: float, float_type: AnyFloat) -> bool:
    try:
        (stored,) = float_type.unpack(float_type.pack([float(text)]), 1)
    except OverflowError:
        return False
    return stored == value


def _scientific(value: float) -> str:
    """One digit, a point, six digits and an exponent of at least two: `1.500000e+00`."""
    digits, exponent = _decimal(abs(value), _SHORT_DIGITS)
    leading = exponent + len(digits) - 1 if value else 0
    return f"{_sign(value)}{digits[0]}.{digits[1:].ljust(_SHORT_DIGITS, '0')}e{leading:+03d}"


def _all_digits(value: float, precision: int) -> str:
    """`12.5` where few zeros are needed, else `1.25E-6`; no trailing zeros either way."""
    digits, exponent = _decimal(abs(value), precision)
    leading = exponent + len(digits) - 1  # the power of ten of the first digit
    if exponent >= 0:
        if exponent <= _LONGEST_ZERO_RUN and len(digits) + exponent <= precision:
            return f"{_sign(value)}{digits}{'0' * exponent}"
    elif leading >= 0:
        return f"{_sign(value)}{digits[: leading + 1]}.{digits[leading + 1 :]}"
    elif -leading <= _LONGEST_ZERO_RUN:
        return f"{_sign(value)}0.{'0' * (-leading - 1)}{digits}"
    return f"{_sign(value)}{digits[0]}.{digits[1:] or '0'}E{leading:+d}"


def _sign(value: float) -> str:
    return "-" if math.copysign(1, value) < 0 else ""


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """At most `precision` digits, without trailing zeros, and the power of ten of the last one.

    The exact expansion is first cut to about the digits wanted (by an estimate of its bits, as
    LLVM does, which rounds down when it happens to cut all of the rest) and then rounded half up.
    """
    integer, denominator = value.as_integer_ratio()
    halvings = denominator.bit_length() - 1
    integer *= 5**halvings
    exponent = -halvings
    surplus_bits = integer.bit_length() - (precision * 196 + 58) // 59
    if surplus_bits > 0:
        cut = surplus_bits * 59 // 196
        integer //= 10**cut
        exponent += cut
    if (surplus := len(str(integer)) - precision) > 0:
        integer = (integer // 10 ** (surplus - 1) + 5) // 10
        exponent += surplus
    digits = str(integer).rstrip("0") or "0"
    return digits, exponent + len(str(integer)) - len(digits)
