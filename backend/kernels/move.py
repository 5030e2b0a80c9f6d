"""Moving whole tensors in DDR: any strided box to any other, by the GDMA alone or, when the
innermost dimensions trade places, through the lanes (or, where these are pixels of few channels,
as `interleave` does it).

A DMA whose innermost stride is not 1 moves single elements, at 1/128 of the speed for 16-bit
ones; the TIU's transposition costs a few cycles per row instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from xdsl_tpu.backend.kernels.interleave import Interleaving
from xdsl_tpu.backend.kernels.regions import merge
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    ceil_div,
)

LARGEST_SIZE = 65535
"""Sizes of a GDMA command are 16-bit fields."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a move: byte address and element strides, outermost first."""

    address: int
    strides: tuple[int, ...]


def move(
    context: KernelContext, sizes: Sequence[int], target: Side, source: Side, dtype: DType
) -> None:
    """Copy a box of any rank from `source` to `target`."""
    merged_sizes, (to, back) = merge(sizes, [target.strides, source.strides])
    target, source = replace(target, strides=tuple(to)), replace(source, strides=tuple(back))
    swaps = to[-1] != 1 or back[-1] != 1
    plane = _plane(merged_sizes, to, back) if swaps else None
    if plane is not None:
        pixels = Interleaving.of(merged_sizes, to, back, plane)
        if pixels is not None and pixels.pays(context.chip, dtype):
            places = list(_places(merged_sizes, plane, target, source, dtype))
            pixels.emit(context.emitter, places, dtype)
            return
        _Transposition(context, merged_sizes, target, source, dtype, plane).emit()
        return
    for shape, start in _boxes(merged_sizes):
        context.emitter.move(
            _place(target, shape, start, dtype), _place(source, shape, start, dtype)
        )


def _places(
    sizes: Sequence[int], plane: tuple[int, int], target: Side, source: Side, dtype: DType
) -> Iterator[tuple[int, int]]:
    """Byte addresses in target and source of every index of the dimensions beside `plane`."""
    ranges = [range(1 if axis in plane else size) for axis, size in enumerate(sizes)]
    for index in product(*ranges):
        offsets = (
            sum(i * s for i, s in zip(index, side.strides, strict=True))
            for side in (target, source)
        )
        to, back = (offset * dtype.bytes for offset in offsets)
        yield target.address + to, source.address + back


def _place(side: Side, shape: Sequence[int], start: Sequence[int], dtype: DType) -> GlobalTensor:
    """A piece of rank at most 4 of one side of a move."""
    offset = sum(i * s for i, s in zip(start, side.strides, strict=True))
    axes = [a for a in range(len(shape)) if shape[a] != 1][-4:] or [len(shape) - 1]
    pad = 4 - len(axes)
    sizes = [1] * pad + [shape[a] for a in axes]
    strides = [0] * pad + [side.strides[a] for a in axes]
    if shape[axes[-1]] == 1:
        strides[-1] = 1
    address = side.address + offset * dtype.bytes
    return GlobalTensor(address, _four(sizes), _four(strides), dtype)


def _four(values: Sequence[int]) -> Shape4:
    n, c, h, w = values
    return n, c, h, w


def _boxes(sizes: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Pieces (shape, start) with at most four dimensions and 16-bit sizes."""
    whole = [min(size, LARGEST_SIZE) for size in sizes]
    whole[: max(0, len(sizes) - 4)] = [1] * max(0, len(sizes) - 4)
    starts: list[list[int]] = [[]]
    for size, piece in zip(sizes, whole, strict=True):
        starts = [[*start, i] for start in starts for i in range(0, size, piece)]
    for start in starts:
        shape = [min(piece, size - i) for piece, size, i in zip(whole, sizes, start, strict=True)]
        yield shape, start


def _plane(sizes: Sequence[int], to: Sequence[int], back: Sequence[int]) -> tuple[int, int] | None:
    """The dimensions contiguous in the source and in the target, when they differ and exist."""
    axes = range(len(sizes))
    inner_source = next((a for a in axes if back[a] == 1), None)
    inner_target = next((a for a in axes if to[a] == 1), None)
    if inner_source is None or inner_target is None or inner_source == inner_target:
        return None
    return inner_source, inner_target


class _Transposition:
    """Load (n, c = target's run, h, w = source's run), transpose c and w, store."""

    def __init__(
        self,
        context: KernelContext,
        sizes: Sequence[int],
        target: Side,
        source: Side,
        dtype: DType,
        plane: tuple[int, int],
    ) -> None:
        self.chip = context.chip
        self.emitter = context.emitter
        self.sizes, self.target, self.source, self.dtype = list(sizes), target, source, dtype
        self.w_axis, self.c_axis = plane
        rest = [a for a in range(len(sizes)) if a not in plane]
        self.h_axis = rest[-1] if rest else None
        self.n_axis = rest[-2] if len(rest) > 1 else None
        self.buffers: list[int] = []

    def emit(self) -> None:
        """Emit the whole move."""
        pieces = self._piece()
        tiles = list(_starts(self.sizes, pieces))
        memory = LocalMemory(self.chip)
        before, after = self._bytes(pieces)
        self.buffers = [memory.take(size) for size in (before, before, after, after)]
        pipelined(tiles, self._load, self._compute, self._store)

    def _piece(self) -> list[int]:
        """The largest tile that fits twice, cut along n, h, then c and w."""
        piece = [1] * len(self.sizes)
        for axis in (self.w_axis, self.c_axis, self.h_axis, self.n_axis):
            if axis is not None:
                piece[axis] = self.sizes[axis]
        order = [a for a in (self.n_axis, self.h_axis) if a is not None]
        order += [self.c_axis, self.w_axis]
        while 2 * sum(self._bytes(piece)) > self.chip.local_bytes:
            axis = next(a for a in order if piece[a] > self._unit(a))
            units = ceil_div(piece[axis], self._unit(axis))
            piece[axis] = ceil_div(units, 2) * self._unit(axis)
        return piece

    def _unit(self, axis: int) -> int:
        return self.chip.lanes if axis in (self.w_axis, self.c_axis) else 1

    def _shape(self, piece: Sequence[int], c_axis: int, w_axis: int) -> Shape4:
        n = piece[self.n_axis] if self.n_axis is not None else 1
        h = piece[self.h_axis] if self.h_axis is not None else 1
        return n, piece[c_axis], h, piece[w_axis]

    def _bytes(self, piece: Sequence[int]) -> tuple[int, int]:
        before = self._shape(piece, self.c_axis, self.w_axis)
        after = self._shape(piece, self.w_axis, self.c_axis)
        return (
            aligned_bytes(self.chip, before, self.dtype),
            aligned_bytes(self.chip, after, self.dtype),
        )

    def _tensors(self, piece: Sequence[int], slot: int) -> tuple[LocalTensor, LocalTensor]:
        before = self._shape(piece, self.c_axis, self.w_axis)
        after = self._shape(piece, self.w_axis, self.c_axis)
        return (
            aligned(self.chip, self.buffers[slot], before, self.dtype),
            aligned(self.chip, self.buffers[2 + slot], after, self.dtype),
        )

    def _ddr(
        self, side: Side, tile: tuple[list[int], list[int]], c_axis: int, w_axis: int
    ) -> GlobalTensor:
        shape, start = tile
        offset = sum(i * s for i, s in zip(start, side.strides, strict=True))
        n = side.strides[self.n_axis] if self.n_axis is not None else 0
        h = side.strides[self.h_axis] if self.h_axis is not None else 0
        strides = (n, side.strides[c_axis], h, side.strides[w_axis])
        address = side.address + offset * self.dtype.bytes
        return GlobalTensor(address, self._shape(shape, c_axis, w_axis), strides, self.dtype)

    def _load(self, tile: tuple[list[int], list[int]], slot: int) -> None:
        source = self._ddr(self.source, tile, self.c_axis, self.w_axis)
        self.emitter.load(self._tensors(tile[0], slot)[0], source)

    def _compute(self, tile: tuple[list[int], list[int]], slot: int) -> None:
        before, after = self._tensors(tile[0], slot)
        self.emitter.transpose_cw(after, before)

    def _store(self, tile: tuple[list[int], list[int]], slot: int) -> None:
        target = self._ddr(self.target, tile, self.w_axis, self.c_axis)
        self.emitter.store(target, self._tensors(tile[0], slot)[1])


def _starts(sizes: Sequence[int], piece: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """(shape, start) of every tile."""
    starts: list[list[int]] = [[]]
    for size, step in zip(sizes, piece, strict=True):
        starts = [[*start, i] for start in starts for i in range(0, size, step)]
    for start in starts:
        yield (
            [min(p, size - i) for p, size, i in zip(piece, sizes, start, strict=True)],
            start,
        )
