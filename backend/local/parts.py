"""Cutting local tensors into parts that are EU-aligned tensors themselves.

A lane holds, for each image and channel group, a run of h * w elements that begins on an EU
boundary. A part is a range of images, of channel groups, and perhaps of the run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import Piece, chunks_of, cut
from xdsl_tpu.backend.tensor import Layout, LocalTensor, Shape4, aligned, ceil_div


@dataclass(frozen=True, slots=True)
class Part:
    """A range of a tensor (n, c, h, w).

    `run` counts elements of h * w in whole lines of `line` elements; None stands for all.
    """

    images: Piece
    channels: Piece
    run: Piece | None = None
    line: int = 1

    def shape(self, whole: Shape4) -> Shape4:
        """Its sizes, for a tensor of sizes `whole`."""
        h, w = self._tail(whole)
        return self.images.size, self.channels.size, h, w

    def _tail(self, whole: Shape4) -> tuple[int, int]:
        if self.run is None:
            return whole[2], whole[3]
        return (1, self.run.size) if self.line == 1 else (self.run.size // self.line, self.line)

    def of(self, tensor: LocalTensor, chip: Chip) -> LocalTensor:
        """The part of an EU-aligned tensor, EU-aligned; images, lanes and lines may repeat."""
        n, c, h, w = tensor.shape
        images = self.images if n > 1 else Piece(0, 1)
        channels = self.channels
        if c <= chip.lanes:
            channels = Piece(0, min(c, self.channels.size))
        repeats = self.line > 1 and h == 1
        start = 0 if self.run is None or repeats else self.run.start
        tail = (h, w) if repeats else self._tail(tensor.shape)
        address = tensor.at(images.start, channels.start // chip.lanes)
        address += start * tensor.dtype.bytes
        shape = (images.size, channels.size, tail[0], tail[1])
        return settled(LocalTensor(address, shape, tensor.strides, tensor.dtype, Layout.FREE), chip)


def settled(tensor: LocalTensor, chip: Chip) -> LocalTensor:
    """The tensor described as EU-aligned if it is; otherwise by explicit strides."""
    usual = aligned(chip, tensor.address, tensor.shape, tensor.dtype)
    n, c, h, w = tensor.shape
    groups = ceil_div((tensor.address >> chip.lane_shift) + c, chip.lanes)
    extents = (n, groups, h, w)
    if tensor.address % chip.eu_bytes:
        return tensor.free()
    same = zip(extents, tensor.strides, usual.strides, strict=True)
    return usual if all(e == 1 or a == b for e, a, b in same) else tensor.free()


def parts(
    shape: Shape4,
    fits: Callable[[Shape4], bool],
    chip: Chip,
    unit: int | None,
    line: int = 1,
) -> Sequence[Part] | None:
    """Cut a tensor into as few parts as satisfy `fits`; None when not even the smallest does.

    Images are cut first, then channel groups, then the run of elements in multiples of `unit`
    and of whole lines (None: never).
    """
    n, c, h, w = shape
    for images in chunks_of(n, 1):
        if fits((images, c, h, w)):
            return [Part(some, Piece(0, c)) for some in cut(n, images)]
    groups = ceil_div(c, chip.lanes)
    for count in chunks_of(groups, 1):
        channels = min(c, count * chip.lanes)
        if fits((1, channels, h, w)):
            return [Part(Piece(i, 1), some) for i in range(n) for some in cut(c, channels)]
    return None if unit is None else _runs(shape, fits, chip, math.lcm(unit, line), line)


def _runs(
    shape: Shape4, fits: Callable[[Shape4], bool], chip: Chip, unit: int, line: int
) -> Sequence[Part] | None:
    n, c, h, w = shape
    first = Part(Piece(0, 1), Piece(0, min(c, chip.lanes)))
    for units in chunks_of(ceil_div(h * w, unit), 1):
        size = min(units * unit, h * w)
        if fits(replace(first, run=Piece(0, size), line=line).shape(shape)):
            return [
                Part(Piece(i, 1), some, run, line)
                for i in range(n)
                for some in cut(c, chip.lanes)
                for run in cut(h * w, units * unit)
            ]
    return None
