"""Sums of products in the order and precision of the chip's multipliers.

docs/hardware/instructions.md#sconv. Every function takes `left` (m, k) and `right`
(k, p) in f32 and works in tiles of rows that stay in the cache.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.machine.elements import FLOAT32_TINY, Array, flushed, product, settled

Float32 = npt.NDArray[np.float32]

_TILE = 1 << 15
_MANTISSA_BITS = 23
_ALIGNED_BITS = 24
_BIAS = 127
_SAFE_PRODUCT = np.float32(2.0**-102)
_TOO_LARGE = 2.0**128
_NAN = np.uint32(0xFFC0_0000).view(np.float32)


def block_accumulate(start: Array, left: Float32, right: Float32, width: int) -> Float32:
    """start + sum over blocks of `width` products, one f32 addition per block.

    Within a block the exact products are aligned to the largest: with 2^E <= max|p| < 2^(E+1)
    each is truncated toward zero to a multiple of 2^(E-24); their exact sum is rounded once.
    Products below 2^-126 count as zero, those of 2^128 and above as infinite. Infinite products
    decide over a NaN; infinities of both signs, or a NaN alone, give one NaN (0xffc00000).
    """
    out = np.empty((left.shape[0], right.shape[1]), np.float32)
    out[...] = start
    for rows in _tiles(*out.shape):
        for k in range(0, left.shape[1], width):
            block = slice(k, k + width)
            out[rows] = _sum_once(out[rows], _block_sum(left[rows, block], right[block]))
    return out


def _sum_once(total: Float32, block: Float32) -> Float32:
    """The sum flushed; of two NaNs it is the unit's own one."""
    total = flushed(total + block)
    unordered = np.isnan(total)
    if unordered.any():
        total[unordered] = _NAN
    return total


def _block_sum(left: Float32, right: Float32) -> Float32:
    largest = np.zeros((left.shape[0], right.shape[1]), np.float32)
    product = np.empty_like(largest)
    magnitude_left, magnitude_right = np.abs(left), np.abs(right)
    for k in range(left.shape[1]):
        np.multiply(magnitude_left[:, k, None], magnitude_right[k], out=product)
        np.maximum(largest, product, out=largest)
    exponent = largest.view(np.int32) >> _MANTISSA_BITS
    exponent[largest == 0] = _BIAS
    scale = ((2 * _BIAS + _ALIGNED_BITS - exponent) << _MANTISSA_BITS).view(np.float32)
    unscale = ((exponent - _ALIGNED_BITS) << _MANTISSA_BITS).view(np.float32)
    total = np.zeros(largest.shape, np.int32)
    aligned = np.empty_like(total)
    for k in range(left.shape[1]):
        np.multiply(left[:, k, None], right[k], out=product)
        np.multiply(product, scale, out=product)
        np.copyto(aligned, product, casting="unsafe")
        np.add(total, aligned, out=total)
    result = total.astype(np.float32) * unscale
    # Normal products of normal operands: else the scale above is out of range.
    plain = (largest == 0) | ((largest >= _SAFE_PRODUCT) & (largest < np.inf))
    if not plain.all():
        rows, columns = np.nonzero(~plain)
        result[rows, columns] = _careful_sums(left[rows], right[:, columns].T)
    return result


def _careful_sums(left: Float32, right: Float32) -> Float32:
    """The block sums of row pairs (p, k), for products of any size."""
    product = left.astype(np.float64) * right
    product[np.abs(product) < float(FLOAT32_TINY)] = 0.0
    product[np.abs(product) >= _TOO_LARGE] *= np.inf
    finite = np.where(np.isfinite(product), product, 0.0)
    exponent = np.frexp(np.abs(finite).max(1))[1] - 1
    aligned = np.trunc(np.ldexp(finite, (_ALIGNED_BITS - exponent)[:, None])).sum(1)
    total = flushed(np.ldexp(aligned, exponent - _ALIGNED_BITS).astype(np.float32))
    up, down = ((product == limit).any(1) for limit in (np.inf, -np.inf))
    total[np.isnan(product).any(1)] = _NAN
    total[up] = np.inf
    total[down] = -np.inf
    total[up & down] = _NAN
    return total


def parity_accumulate(
    first: list[Array], left: Float32, right: Float32, right_first: bool = False
) -> Float32:
    """The sequence [*first, products] in two accumulators, added at the end.

    Element q goes to accumulator q mod 2; products and additions are rounded to f32. Of two NaNs
    in a product that of the left operand wins, unless the right one is `right_first`.
    """
    out = np.empty((left.shape[0], right.shape[1]), np.float32)
    firsts = [np.broadcast_to(value, out.shape) for value in first]
    flush = _may_underflow(left, right)
    unordered = bool(np.isnan(left).any() and np.isnan(right).any())
    for rows in _tiles(*out.shape):
        sums = np.zeros((2, *out[rows].shape), np.float32)
        term = np.empty(out[rows].shape, np.float32)
        for q, value in enumerate(firsts):
            sums[q % 2] += value[rows]
        for q in range(left.shape[1]):
            total = sums[(q + len(firsts)) % 2]
            if flush:
                term = product(left[rows, q, None], right[q])
            else:
                np.multiply(left[rows, q, None], right[q], out=term)
            if unordered:
                a = np.broadcast_to(left[rows, q, None], term.shape)
                b = np.broadcast_to(right[q], term.shape)
                term = settled(term, *((b, a) if right_first else (a, b)))
            if flush:
                total[...] = flushed(total + flushed(term))
            else:
                np.add(total, term, out=total)
        out[rows] = flushed(sums[1] + sums[0])  # of two NaNs the second one wins
    return out


def _may_underflow(left: Float32, right: Float32) -> bool:
    """Whether a product or a sum of products may be subnormal.

    Products of at least 2^-102 are multiples of 2^-126, so their sums never are.
    """
    smallest = _smallest(left) * _smallest(right)
    return bool(smallest < _SAFE_PRODUCT)


def _smallest(values: Float32) -> np.float32:
    magnitude = np.abs(values)
    return np.min(magnitude, where=magnitude >= FLOAT32_TINY, initial=np.float32(1.0))


def _tiles(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _TILE // columns)
    return (slice(row, row + step) for row in range(0, rows, step))
