"""Moving elements about: slices, pads, block and channel shuffles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = Sequence[int]


def strided_slice(x: Array, starts: Ints, ends: Ints, steps: Ints) -> Array:
    """One start, end and step for each leading dimension, by ONNX's rules.

    Negative positions count from the end, positions beyond an end are clamped, and with a
    negative step an end before the first element includes that element.
    """
    index: list[slice] = []
    for start, end, step, size in zip(starts, ends, steps, x.shape, strict=False):
        if not step:
            raise ValueError("a slice needs a step other than 0")
        low, high = (0, size) if step > 0 else (-1, size - 1)
        start, end = (p + size if p < 0 else p for p in (start, end))
        start, end = min(max(start, max(low, 0)), high), min(max(end, low), high)
        index.append(slice(start, None if end < 0 else end, step))
    return x[tuple(index)]


def slice_to_shape(x: Array, starts: Ints, steps: Ints, shape: Ints) -> Array:
    """The slice of known result shape that begins at `starts`; ValueError if it leaves `x`."""
    index: list[slice] = []
    for start, step, count, size in zip(starts, steps, shape, x.shape, strict=True):
        first = min(max(start + size if start < 0 else start, 0), size)
        last = first + (count - 1) * step
        if count and not 0 <= last < size:
            raise ValueError(f"{count} steps of {step} from {first} leave a dimension of {size}")
        stop = last + (1 if step > 0 else -1)
        index.append(slice(first, stop if stop >= 0 else None, step) if count else slice(0, 0))
    return x[tuple(index)]


def pad(x: Array, paddings: Ints, value: float, mode: str) -> Array:
    """`paddings` is all beginnings, then all ends; negative ones crop."""
    rank = x.ndim
    begins, ends = paddings[:rank], paddings[rank:]
    x = x[
        tuple(
            slice(max(-b, 0), n - max(-e, 0)) for b, e, n in zip(begins, ends, x.shape, strict=True)
        )
    ]
    widths = [(max(b, 0), max(e, 0)) for b, e in zip(begins, ends, strict=True)]
    if mode == "constant":
        return np.pad(x, widths, constant_values=value)
    if mode == "reflect":
        return np.pad(x, widths, mode="reflect")
    return np.pad(x, widths, mode="symmetric" if mode == "symmetric" else "edge")


@dataclass(frozen=True)
class BlockShuffle:
    """Depth-to-space by blocks of `block_h` x `block_w`, or (inversed) space-to-depth.

    The deep channel number counts (block row, block column, channel), or with `crd`
    (channel, block row, block column); `swap_cr` exchanges row and column in it. Each side may
    be `[.., C, H, W]` or `[.., H, W, C]`.
    """

    block_h: int
    block_w: int
    crd: bool
    inversed: bool
    in_nchw: bool = True
    out_nchw: bool = True
    swap_cr: bool = False

    def __call__(self, x: Array) -> Array:
        nchw = np.moveaxis(x, -1, -3) if not self.in_nchw else x
        out = self._to_depth(nchw) if self.inversed else self._to_space(nchw)
        return out if self.out_nchw else np.moveaxis(out, -3, -1)

    def _block(self) -> tuple[int, int]:
        return (self.block_w, self.block_h) if self.swap_cr else (self.block_h, self.block_w)

    def _to_space(self, x: Array) -> Array:
        *lead, deep, h, w = x.shape
        channels = deep // (self.block_h * self.block_w)
        n = len(lead)
        split = (channels, *self._block()) if self.crd else (*self._block(), channels)
        c, row, column = (0, 1, 2) if self.crd else (2, 0, 1)
        if self.swap_cr:
            row, column = column, row
        order = (*range(n), n + c, n + 3, n + row, n + 4, n + column)
        return (
            x.reshape(*lead, *split, h, w)
            .transpose(order)
            .reshape(*lead, channels, h * self.block_h, w * self.block_w)
        )

    def _to_depth(self, x: Array) -> Array:
        *lead, channels, height, width = x.shape
        h, w, n = height // self.block_h, width // self.block_w, len(lead)
        blocks = x.reshape(*lead, channels, h, self.block_h, w, self.block_w)
        row, column = (n + 4, n + 2) if self.swap_cr else (n + 2, n + 4)
        deep = (n, row, column) if self.crd else (row, column, n)
        return blocks.transpose(*range(n), *deep, n + 1, n + 3).reshape(
            *lead, channels * self.block_h * self.block_w, h, w
        )


def shuffle_channels(x: Array, group: int) -> Array:
    """`[n, group * k, ..]` -> channels read across the groups first."""
    n, channels, *rest = x.shape
    return x.reshape(n, group, channels // group, *rest).swapaxes(1, 2).reshape(x.shape)


def rotate(x: Array, offsets: Ints) -> Array:
    """Each dimension cut at its offset and put together the other way round."""
    moved = [axis for axis, offset in enumerate(offsets) if offset]
    return np.roll(x, [-offsets[axis] for axis in moved], moved) if moved else x


@dataclass(frozen=True)
class SliceMasks:
    """The bit masks of a TensorFlow strided slice; bit i speaks of specification entry i."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int


def masked_slice(x: Array, starts: Ints, ends: Ints, strides: Ints, masks: SliceMasks) -> Array:
    """TensorFlow's StridedSlice."""
    index: list[slice | int | None] = []
    used = sum(1 for i in range(len(starts)) if not (masks.new_axis | masks.ellipsis) >> i & 1)
    for i, (start, end, stride) in enumerate(zip(starts, ends, strides, strict=True)):
        if masks.ellipsis >> i & 1:
            index += [slice(None)] * (x.ndim - used)
        elif masks.new_axis >> i & 1:
            index.append(None)
        elif masks.shrink_axis >> i & 1:
            index.append(start)
        else:
            first = None if masks.begin >> i & 1 else start
            index.append(slice(first, None if masks.end >> i & 1 else end, stride))
    return x[tuple(index)]
