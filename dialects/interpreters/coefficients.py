"""The merged coefficients of a quantised convolution: requantisation, bias and filter in one row
of bytes for each lane.

docs/hardware/quantization.md#weight-images. On a chip of L lanes, W bytes wide (64 and 64),
channel c belongs to lane c mod L, place c div L. A lane holds

| part | bytes | begins |
|---|---|---|
| (multiplier, -shift, zero point) i32 of each place | W apart, the last one 12 (*) | 0 |
| of chips with two words: the multiplier; -shift (8 bits), zero point above | 8 | 0 |
| or (factor, offset) f32 of each place, and a word that is not read | as three words | 0 |
| bias i32 of each place (when there is one) | 4 | behind it |
| filter of each place | its bytes | at a multiple of W, of depthwise filters at once |

and the whole is `[1, min(channels, L), 1, bytes]`; rows longer than 65535 are split over
dimension 2. (*) Where W is less than 12, the next multiple of it apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.layouts import WIDEST_ROW
from xdsl_tpu.dialects.lanes import Lanes

Array = npt.NDArray[Any]

_REQUANT_PARTS = 3
_PACKED_WORDS = 2
_WORD = 4
_WIDEST_LANE = 1 << 16


@dataclass(frozen=True)
class CoefficientLayout:
    """Where the parts lie in a lane, for filters of `row` bytes per channel."""

    channels: int
    row: int
    has_bias: bool
    depthwise: bool
    of_chip: Lanes

    def fitted(self, shape: tuple[int, ...]) -> CoefficientLayout:
        """The layout for the chip with rows like this one's whose merged weights of these channels
        have this shape.

        The larger a lane's width is, the more bytes the parts take, so that the size tells it.
        Raises TpuError when no chip has such weights.
        """
        lanes, size = shape[1], math.prod(shape[2:])
        width = _WORD
        while width <= _WIDEST_LANE:
            layout = replace(self, of_chip=replace(self.of_chip, count=lanes, width=width))
            if (layout.lanes, layout.lane_bytes) == (lanes, size):
                return layout
            width *= 2
        raise TpuError(
            f"merged coefficients of {self.channels} channels take {self.shape}, not {shape}"
        )

    @property
    def lanes(self) -> int:
        """Lanes that hold channels."""
        return min(self.channels, self.of_chip.count)

    @property
    def places(self) -> int:
        """Channels of one lane."""
        return -(-self.channels // self.of_chip.count)

    @property
    def bias(self) -> int:
        """Byte at which the biases begin."""
        return (self.places - 1) * self.requant_step + self.requant_bytes

    @property
    def requant_bytes(self) -> int:
        """Bytes of one place's words of requantisation."""
        return self.of_chip.words * _WORD

    @property
    def requant_step(self) -> int:
        """Bytes from one place's words to the next one's: two lie side by side, three begin where
        the lane's width does."""
        if self.of_chip.words == _PACKED_WORDS:
            return self.requant_bytes
        width = self.of_chip.width
        return -(-self.requant_bytes // width) * width

    @property
    def filter(self) -> int:
        """Byte at which the filters begin."""
        end = self.bias + (self.places * _WORD if self.has_bias else 0)
        width = self.of_chip.width
        return end if self.depthwise else -(-end // width) * width

    @property
    def lane_bytes(self) -> int:
        """Bytes of a lane."""
        return self.filter + self.places * self.row

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of the merged weight; TpuError when no dimension can share its rows."""
        size = self.lane_bytes
        if size <= WIDEST_ROW:
            return (1, self.lanes, 1, size)
        least = -(-size // WIDEST_ROW)
        rows = next((n for n in range(least, size) if size % n == 0), None)
        if rows is None:
            raise TpuError(f"{size} bytes of coefficients cannot be split into equal rows")
        return (1, self.lanes, rows, size // rows)


@dataclass(frozen=True)
class Coefficients:
    """The parts: `requant` i32 `[channels, 3]`, `bias` i32 `[channels]`, `filter` 8 bits
    `[channels, row]`."""

    requant: Array
    bias: Array | None
    filter: Array

    def layout(self, depthwise: bool, of_chip: Lanes) -> CoefficientLayout:
        """How they are merged."""
        channels, row = self.filter.shape
        return CoefficientLayout(channels, row, self.bias is not None, depthwise, of_chip)


def float_words(requant: Array, bias: Array) -> Array:
    """Factor and offset f32 of each channel, and a word of zeros, in the place of `requant` (words
    of multiplier, -shift, zero point) and `bias`: all i32, one row for each channel."""
    factor = requant[:, 0] * np.exp2(requant[:, 1].astype(np.float64))
    offset = bias.reshape(-1) * factor + requant[:, 2]
    words = np.zeros(requant.shape, np.float32)
    words[:, 0], words[:, 1] = factor, offset
    return words.view(np.int32)


def merge_coefficients(parts: Coefficients, depthwise: bool, of_chip: Lanes) -> Array:
    """The parts as one array of the filter's type and the layout's shape; gaps are zero."""
    layout = parts.layout(depthwise, of_chip)
    lanes = np.zeros((layout.lanes, layout.lane_bytes), np.uint8)
    for place in range(layout.places):
        count = of_chip.count
        some = slice(place * count, min((place + 1) * count, layout.channels))
        count = some.stop - some.start
        words = _as_words(parts.requant[some], of_chip.words).view(np.uint8)
        begin = place * layout.requant_step
        lanes[:count, begin : begin + words.shape[1]] = words
        if parts.bias is not None:
            word = np.ascontiguousarray(parts.bias[some, None], np.int32).view(np.uint8)
            begin = layout.bias + place * _WORD
            lanes[:count, begin : begin + _WORD] = word
        begin = layout.filter + place * layout.row
        rows = np.ascontiguousarray(parts.filter[some]).view(np.uint8)
        lanes[:count, begin : begin + layout.row] = rows
    return lanes.reshape(layout.shape).view(parts.filter.dtype)


def split_coefficients(merged: Array, layout: CoefficientLayout) -> Coefficients:
    """The inverse of `merge_coefficients`; TpuError for an array of another size."""
    if merged.size != layout.lanes * layout.lane_bytes:
        raise TpuError(
            f"merged coefficients of {layout.channels} channels take {layout.shape}, "
            f"not {merged.shape}"
        )
    lanes = np.ascontiguousarray(merged).view(np.uint8).reshape(layout.lanes, -1)

    def gathered(begin: int, step: int, size: int) -> Array:
        places = [
            lanes[:, begin + p * step : begin + p * step + size] for p in range(layout.places)
        ]
        return np.ascontiguousarray(np.concatenate(places)[: layout.channels])

    requant = _parts(gathered(0, layout.requant_step, layout.requant_bytes).view(np.int32))
    bias = gathered(layout.bias, _WORD, _WORD).view(np.int32)[:, 0] if layout.has_bias else None
    rows = gathered(layout.filter, layout.row, layout.row).view(merged.dtype)
    return Coefficients(requant, bias, rows)


def _as_words(requant: Array, words: int) -> Array:
    """(multiplier, -shift, zero point) of each channel as `words` i32."""
    requant = np.ascontiguousarray(requant, np.int32)
    if words != _PACKED_WORDS:
        return requant
    packed = requant[:, 1] & 0xFF | requant[:, 2] << 16
    return np.ascontiguousarray(np.stack([requant[:, 0], packed], axis=1))


def _parts(words: Array) -> Array:
    """The inverse of `_as_words`."""
    if words.shape[1] == _REQUANT_PARTS:
        return words
    shift = (words[:, 1] & 0xFF).astype(np.int8)
    return np.stack([words[:, 0], shift, words[:, 1] >> 16], axis=1).astype(np.int32)
