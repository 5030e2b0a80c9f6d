"""Max and average pooling over any number of spatial dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.numerics.windows import pad_spatial, tap

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PoolGeometry:
    """How a pooling window moves: `pads` is all beginnings, then all ends."""

    kernel: Sequence[int]
    strides: Sequence[int]
    pads: Sequence[int]
    ceil_mode: bool = False

    def counts(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Windows per dimension of an unpadded input.

        With `ceil_mode` a last partial window counts when it starts inside the input or its
        leading padding (ONNX operator specification, MaxPool).
        """
        rank = len(self.kernel)
        counts: list[int] = []
        for size, k, s, begin, end in zip(
            sizes, self.kernel, self.strides, self.pads[:rank], self.pads[rank:], strict=True
        ):
            room = size + begin + end - k
            count = (-(-room // s) if self.ceil_mode else room // s) + 1
            if count < 1:
                raise ValueError(f"a window of {tuple(self.kernel)} does not fit {tuple(sizes)}")
            if self.ceil_mode and (count - 1) * s >= size + begin:
                count -= 1
            counts.append(count)
        return tuple(counts)

    def padded(self, x: Array, value: float) -> tuple[Array, tuple[int, ...]]:
        """`x` padded so that every window is whole, and the window counts."""
        rank = len(self.kernel)
        sizes = x.shape[x.ndim - rank :]
        counts = self.counts(sizes)
        ends = [
            (n - 1) * s + k - size - begin
            for n, s, k, size, begin in zip(
                counts, self.strides, self.kernel, sizes, self.pads[:rank], strict=True
            )
        ]
        ends = [max(need, end) for need, end in zip(ends, self.pads[rank:], strict=True)]
        return pad_spatial(x, (*self.pads[:rank], *ends), value), counts


def max_pool(x: Array, geometry: PoolGeometry) -> Array:
    """The largest of each window; padding never wins."""
    padded, counts = geometry.padded(x, -np.inf)
    ones = (1,) * len(counts)
    out: Array | None = None
    for position in itertools.product(*map(range, geometry.kernel)):
        seen = tap(padded, position, counts, geometry.strides, ones)
        out = seen.copy() if out is None else np.maximum(out, seen, out=out)
    assert out is not None
    return out


def window_sums(x: Array, geometry: PoolGeometry) -> Array:
    """The sum of each window; padding counts as 0."""
    padded, counts = geometry.padded(x, 0.0)
    ones = (1,) * len(counts)
    if tuple(geometry.kernel) == padded.shape[-len(counts) :]:
        axes = tuple(range(-len(counts), 0))
        return padded.sum(axis=axes, keepdims=True)
    out = np.zeros((*x.shape[: -len(counts)], *counts), x.dtype)
    for position in itertools.product(*map(range, geometry.kernel)):
        out += tap(padded, position, counts, geometry.strides, ones)
    return out


def avg_pool(x: Array, geometry: PoolGeometry, count_include_pad: bool) -> Array:
    """The mean of each window.

    Without `count_include_pad` only elements of the input are counted. With it the declared
    padding counts too, but not what `ceil_mode` adds beyond it.
    """
    rank = len(geometry.kernel)
    sizes = x.shape[x.ndim - rank :]
    pads = geometry.pads
    if not geometry.ceil_mode and (count_include_pad or not any(pads)):
        return window_sums(x, geometry) / np.float32(np.prod(geometry.kernel))
    if count_include_pad:
        inside = np.pad(
            np.ones(sizes, x.dtype),
            list(zip(pads[:rank], pads[rank:], strict=True)),
            constant_values=1.0,
        )
        bare = PoolGeometry(geometry.kernel, geometry.strides, (0,) * (2 * rank), True)
        counts = geometry.counts(sizes)
        weights = window_sums(inside, bare)[tuple(slice(n) for n in counts)]
    else:
        weights = window_sums(np.ones(sizes, x.dtype), geometry)
    return window_sums(x, geometry) / np.maximum(weights, 1.0)


def adaptive_avg_pool(x: Array, output_size: Sequence[int]) -> Array:
    """Means over `floor(i * n / m) .. ceil((i + 1) * n / m)` of each trailing dimension."""
    first = x.ndim - len(output_size)
    for axis, parts in enumerate(output_size, first):
        size = x.shape[axis]
        pieces = [
            np.take(x, range(i * size // parts, -(-(i + 1) * size // parts)), axis).mean(
                axis, keepdims=True
            )
            for i in range(parts)
        ]
        x = np.concatenate(pieces, axis)
    return x


def max_pool_with_mask(x: Array, geometry: PoolGeometry) -> tuple[Array, Array]:
    """`max_pool` of `[n, c, h, w]` and where each maximum was, as an index into `h * w`."""
    rank = len(geometry.kernel)
    sizes = x.shape[x.ndim - rank :]
    index = np.arange(np.prod(sizes), dtype=x.dtype).reshape(sizes)
    values, counts = geometry.padded(x, -np.inf)
    places, _ = geometry.padded(index, -1.0)
    ones = (1,) * rank
    best = np.full((*x.shape[:-rank], *counts), -np.inf, x.dtype)
    where = np.zeros_like(best)
    for position in itertools.product(*map(range, geometry.kernel)):
        seen = tap(values, position, counts, geometry.strides, ones)
        place = tap(places, position, counts, geometry.strides, ones)
        better = seen > best
        best = np.where(better, seen, best)
        where = np.where(better, place, where)
    return best, where
