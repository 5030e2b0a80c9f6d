"""Col2Im: columns of overlapping blocks added up to images, as the frames of an inverse short-time
Fourier transform."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.graph import Array
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

PIXELS_A_CHANNEL = 8
"""A product with a constant matrix is the faster way for images of at most so many pixels for each
channel: it reads a number of the matrix for each element of a column and each pixel, sums move
short rows of all channels. Measured for blocks of 3x3 in 14x14 and 28x28 pixels, and for lines."""

LARGEST_MATRIX = 1 << 24
"""Elements that a constant is allowed."""


@dataclass(frozen=True)
class _Axis:
    """Blocks of `taps` elements, `apart` from each other, that start every `stride` elements of an
    image of `size` with `before` elements of padding in front."""

    size: int
    taps: int
    stride: int
    apart: int
    before: int
    after: int

    @property
    def places(self) -> int:
        """How many blocks there are."""
        reach = (self.taps - 1) * self.apart + 1
        return (self.size + self.before + self.after - reach) // self.stride + 1

    @property
    def parts(self) -> int:
        """How many strides a block and the zeros behind it take."""
        return -(-self.taps * self.apart // self.stride)

    @property
    def length(self) -> int:
        """What all blocks, zeros included, cover together."""
        return (self.places + self.parts - 1) * self.stride

    def pixels(self) -> Array:
        """Which element of the image tap and block are, (taps, places); others are outside."""
        taps, places = np.arange(self.taps)[:, None], np.arange(self.places)
        return places * self.stride + taps * self.apart - self.before


def col2im(body: Body) -> None:
    """Col2Im -> the sum of the strides that a block takes, each moved to where it belongs.

        x  1x16x4, blocks of 16, 8 apart     ->     parts  1x2x8x4: 1x8x4 and 1x8x4
                                                    sum of 1x8x(4+1) and 1x8x(1+4)
                                                    Transpose  1x5x8, Reshape  1x40

    Small images of many channels: MatMul of a channel's columns with the pixels of each element.
    """
    node, (batch, rows, _) = body.node, body.shape(0)
    image, block = body.numbers(1, "image shape") or [], body.numbers(2, "block shape") or []
    rank = len(image)
    pads = node.attribute("pads", [0] * 2 * rank)
    strides, dilations = (node.attribute(name, [1] * rank) for name in ("strides", "dilations"))
    columns = zip(image, block, strides, dilations, pads[:rank], pads[rank:], strict=True)
    axes = [_Axis(*column) for column in columns]
    if min(one.places for one in axes) < 1:
        raise UnsupportedNode("its blocks do not fit into the image")
    channels = rows // prod(block)
    places = prod(one.places for one in axes)
    overlap = any(one.parts > 1 for one in axes)
    few = prod(image) <= PIXELS_A_CHANNEL * batch * channels
    if overlap and few and prod(block) * places * prod(image) <= LARGEST_MATRIX:
        x = body.reshape(node.inputs[0], (batch, channels, prod(block) * places))
        y = body.add("MatMul", x, body.constant(_matrix(axes)))
    else:
        y = _sum(body, (batch, channels), axes)
    body.reshape(y, (batch, channels, *image), node.output)


def _matrix(axes: Sequence[_Axis]) -> Array:
    """1 where a column's element is added to a pixel: (taps * places, pixels)."""
    matrix = np.ones((), np.float32)
    for axis in axes:
        hits = (axis.pixels()[..., None] == np.arange(axis.size)).astype(np.float32)
        matrix = np.multiply.outer(matrix, hits)
    rank = len(axes)
    order = [3 * axis + part for part in range(3) for axis in range(rank)]
    size = prod(one.size for one in axes)
    return np.ascontiguousarray(matrix.transpose(order).reshape(-1, size))


def _sum(body: Body, outer: tuple[int, int], axes: Sequence[_Axis]) -> str:
    """Blocks in parts of a stride, added where they overlap: (batch, channels, image)."""
    places = [one.places for one in axes]
    x = body.reshape(body.node.inputs[0], (*outer, *(one.taps for one in axes), *places))
    x = _with_zeros(body, x, outer, axes)
    parts = [n for one in axes for n in (one.parts, one.stride)]
    x = body.reshape(x, (prod(outer), *parts, *places))
    total = ""
    for which in product(*(range(one.parts) for one in axes)):
        part = x
        for axis, at in enumerate(which):
            if axes[axis].parts > 1:
                part = body.slice(part, 1 + 2 * axis, at, at + 1)
        part = body.reshape(part, (*outer, *(one.stride for one in axes), *places))
        still = [0] * (2 + len(axes))
        after = [one.parts - 1 - at for one, at in zip(axes, which, strict=True)]
        part = _padded(body, part, [*still, *which], [*still, *after])
        total = body.add("Add", total, part) if total else part
    rank = len(axes)
    order = [0, 1, *(n for axis in range(rank) for n in (2 + rank + axis, 2 + axis))]
    y = body.transpose(total, order)
    y = body.reshape(y, (*outer, *(one.length for one in axes)))
    missing = [max(0, one.before + one.size - one.length) for one in axes]
    y = _padded(body, y, [0] * (2 + rank), [0, 0, *missing])
    for axis, one in enumerate(axes):
        if one.before or one.size < one.length:
            y = body.slice(y, 2 + axis, one.before, one.before + one.size)
    return y


def _with_zeros(body: Body, x: str, outer: tuple[int, int], axes: Sequence[_Axis]) -> str:
    """Columns, (batch, channels, taps, places), with zeros between taps and behind them, so that
    they take whole strides."""
    places = [one.places for one in axes]
    kept = [0] * (2 + len(axes))
    if any(one.apart > 1 for one in axes):
        apart = [n for one in axes for n in (one.taps, 1)]
        x = body.reshape(x, (*outer, *apart, *places))
        more = [n for one in axes for n in (0, one.apart - 1)]
        begin, end = [0] * (2 + len(more) + len(axes)), [0, 0, *more, *(0 for _ in axes)]
        x = _padded(body, x, begin, end)
        x = body.reshape(x, (*outer, *(one.taps * one.apart for one in axes), *places))
    behind = [one.parts * one.stride - one.taps * one.apart for one in axes]
    return _padded(body, x, kept + [0 for _ in axes], [0, 0, *behind, *(0 for _ in axes)])


def _padded(body: Body, x: str, before: Sequence[int], after: Sequence[int]) -> str:
    """x with zeros around it; itself where there are none."""
    if not any((*before, *after)):
        return x
    return body.add("Pad", x, body.constant([*before, *after]))


COMPOSED: dict[str, Composition] = {"Col2Im": col2im}
