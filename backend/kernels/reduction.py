"""Sums and maxima along the height or the rows of a local tensor.

A pool with a kernel of k rows and one column, moved by k, reduces the height k-fold at full
width; a few such steps reduce it to 1. Rows of a matrix are reduced by viewing (1, r, 1, w) as
(1, r, w, 1), which is the same memory; many rows per lane by viewing (n, c, h, w) as
(n, c, h * w, 1), if the steps multiply to w exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, ceil_div


@dataclass(frozen=True, slots=True)
class Rows:
    """The kernel heights that reduce `size` elements to one: the height of a tensor, or each of the
    rows of a lane. Rows stand `slot` elements apart, which the steps multiply to; what is between
    is padding. Along the height there is none."""

    size: int
    slot: int
    steps: tuple[int, ...]
    along_width: bool

    def _kind(self, dtype: DType, left: int) -> Scratch:
        return Scratch(dtype, width=left) if self.along_width else Scratch(dtype, left)

    def tile(self, dtype: DType) -> Scratch:
        """Room for a tensor that can be reduced."""
        return self._kind(dtype, self.slot) if self.along_width else Scratch(dtype)

    def stages(self, dtype: DType) -> tuple[Scratch, ...]:
        """Room for the intermediate results and the final one."""
        return tuple(self._kind(dtype, rest) for rest in _rests(self.slot, self.steps))

    def statistic(self, dtype: DType) -> Scratch:
        """Room for one result of the reduction."""
        return self._kind(dtype, 1)

    def inner(self, tensor: LocalTensor) -> LocalTensor:
        """The part of a reducible tensor that is not padding."""
        if self.slot == self.size:
            return tensor
        n, c, h, _ = tensor.shape
        return replace(tensor.free(), shape=(n, c, h, self.size))

    def pad(self, emitter: Emitter, tensor: LocalTensor, value: float) -> None:
        """Set the padding of a reducible tensor."""
        if self.slot == self.size:
            return
        n, c, h, _ = tensor.shape
        shape = (n, c, h, self.slot - self.size)
        emitter.copy(tensor.window((0, 0, 0, self.size), shape, emitter.chip), value)

    def widened(
        self, emitter: Emitter, room: LocalTensor, x: LocalTensor, padding: float | None
    ) -> LocalTensor:
        """x in f32 as a reducible tensor: in `room`, where any padding is set that is given, or
        where it lies."""
        inner = self.inner(room)
        if x.dtype is DType.F32 and inner is room:
            return x
        emitter.convert(inner, x)
        if padding is not None:
            self.pad(emitter, room, padding)
        return room

    def reduce(
        self, emitter: Emitter, x: LocalTensor, stages: Sequence[LocalTensor], maximum: bool = False
    ) -> LocalTensor:
        """Reduce x, (n, c, size, w) or (n, c, h, slot) with its padding, to (n, c, 1, w) or
        (n, c, h, 1) by sum or maximum; returns the last stage.

        `stages` are the tensors of `stages()`. A size of 1 returns x itself.
        """
        for step, stage in zip(self.steps, stages, strict=True):
            out, rows = (column(emitter, t) if self.along_width else t for t in (stage, x))
            _pool(emitter, out, rows, step, maximum)
            x = stage
        return x


def plan_reduction(height: int, width: int, eu: int) -> Rows:
    """The cheapest chain of pools for `height` rows of `width` elements, `eu` of them a cycle."""
    return Rows(height, height, _steps(height, width, eu)[1], along_width=False)


def plan_rows(size: int, rows: int, eu: int) -> Rows:
    """The cheapest chain of pools for `rows` rows of `size` elements in each lane.

    Up to a third of padding is considered; every element costs some twenty passes elsewhere.
    """
    best: tuple[int, Rows] | None = None
    for slot in range(size, size + size // 3 + LIMITS.window_stride):
        found = _exact(slot, rows, eu)
        if found is None:
            continue
        cycles = found[0] + 20 * ceil_div(slot * rows, eu)
        if best is None or cycles < best[0]:
            best = (cycles, Rows(size, slot, found[1], along_width=True))
    assert best is not None  # a product of small numbers is never far away
    return best[1]


@cache
def _steps(height: int, width: int, eu: int) -> tuple[int, tuple[int, ...]]:
    """Cycles and kernel heights of the cheapest chain (docs/hardware/cycles.md: PorD)."""
    if height == 1:
        return 0, ()
    best: tuple[int, tuple[int, ...]] | None = None
    for step in range(2, LIMITS.window_stride + 1):
        rest = ceil_div(height, step)
        cycles, steps = _steps(rest, width, eu)
        cycles += ceil_div(rest * width, eu) * step
        if best is None or cycles < best[0]:
            best = (cycles, (step, *steps))
    assert best is not None
    return best


@cache
def _exact(size: int, rows: int, eu: int) -> tuple[int, tuple[int, ...]] | None:
    """As `_steps` for many rows, with steps that multiply to `size`; None when there are none."""
    if size == 1:
        return 0, ()
    best: tuple[int, tuple[int, ...]] | None = None
    for step in range(2, min(size, LIMITS.window_stride) + 1):
        found = _exact(size // step, rows, eu) if size % step == 0 else None
        if found is None:
            continue
        cycles = found[0] + ceil_div(size // step * rows, eu) * step
        if best is None or cycles < best[0]:
            best = (cycles, (step, *found[1]))
    return best


def _rests(size: int, steps: Sequence[int]) -> list[int]:
    """What is left of `size` after each step."""
    rests: list[int] = []
    for step in steps:
        size = ceil_div(size, step)
        rests.append(size)
    return rests


def column(emitter: Emitter, x: LocalTensor) -> LocalTensor:
    """(n, c, h, w) as one column (n, c, h * w, 1), the same memory."""
    n, c, h, w = x.shape
    return aligned(emitter.chip, x.address, (n, c, h * w, 1), x.dtype)


def _pool(emitter: Emitter, out: LocalTensor, x: LocalTensor, step: int, maximum: bool) -> None:
    missing = out.shape[2] * step - x.shape[2]
    window = Window((step, 1), (step, 1), (0, missing, 0, 0))
    if maximum:
        emitter.max_pool(out, x, window)
    else:
        emitter.avg_pool(out, x, window, 1.0)


def dense_statistics(
    emitter: Emitter, room: LocalTensor, shape: Shape4
) -> tuple[LocalTensor, LocalTensor]:
    """A tensor for one number per row, (n, c, p), dense over images, as two views of `room`.

    The first is (1, c, n, p), for computing at full width; the second has the given `shape`
    (n, c, h, w) with h * w = p, for reading and writing beside the tensors that it describes.
    """
    n, c, h, w = shape
    p = math.prod(shape[2:])
    dense = aligned(emitter.chip, room.address, (1, c, n, p), room.dtype)
    strides = (p, dense.strides[1], w, 1)
    return dense, replace(dense.free(), shape=(n, c, h, w), strides=strides)
