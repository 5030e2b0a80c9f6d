"""The memories of the chip and the placement of tensors in them.

docs/hardware/machine.md and docs/hardware/machine.md#placement.
"""

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.machine.elements import Array
from xdsl_tpu.dialects.errors import TpuError

Quad: TypeAlias = tuple[int, int, int, int]
"""Sizes or element strides in the order n, c, h, w."""


@dataclass(frozen=True, slots=True)
class Span:
    """Channels [start, start + groups * lanes) of a tensor: `groups` rows of `lanes` lanes."""

    start: int
    lane: int
    group: int
    groups: int
    lanes: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A tensor in some memory: one view of shape (n, groups, lanes, h, w) per span.

    In a linear memory there is one span of one group with the channels as its lanes.
    """

    shape: Quad
    spans: tuple[Span, ...]
    views: tuple[Array, ...]

    def read(self) -> Array:
        """The elements as (n, c, h, w): a view of the memory where that is possible."""
        n, c, h, w = self.shape
        if len(self.views) == 1:
            return self.views[0].reshape(n, c, h, w)
        out = np.empty(self.shape, self.views[0].dtype)
        for span, view in zip(self.spans, self.views, strict=True):
            count = span.groups * span.lanes
            part = out[:, span.start : span.start + count]
            part.reshape(view.shape, copy=False)[...] = view
        return out

    def write(self, values: Array) -> None:
        """Store (n, c, h, w) values, converted as numpy converts to the stored type."""
        if len(self.views) > 1 and any(np.may_share_memory(values, v) for v in self.views):
            values = values.copy()  # writing one view must not change what the next one reads
        for span, view in zip(self.spans, self.views, strict=True):
            count = span.groups * span.lanes
            view[...] = values[:, span.start : span.start + count].reshape(view.shape)


def spans_of(lane: int, channels: int, lanes: int) -> tuple[Span, ...]:
    """Cut channels that start on `lane` into at most three spans: head, full groups, tail.

    >>> [(s.start, s.lane, s.groups, s.lanes) for s in spans_of(60, 72, 64)]
    [(0, 60, 1, 4), (4, 0, 1, 64), (68, 0, 1, 4)]
    """
    head = min(channels, lanes - lane)
    if channels == head:
        return (Span(0, lane, 0, 1, channels),)
    spans: list[Span] = []
    done = group = 0
    if lane:
        spans.append(Span(0, lane, 0, 1, head))
        done, group = head, 1
    if full := (channels - done) // lanes:
        spans.append(Span(done, 0, group, full, lanes))
        done, group = done + full * lanes, group + full
    if tail := channels - done:
        spans.append(Span(done, 0, group, 1, tail))
    return tuple(spans)


def sparse_zeros(count: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Zeros of which a program may touch few, far apart.

    numpy asks the system for huge pages, and the first byte written in each costs as much as all
    of it: a tile in every lane would cost the whole memory.
    """
    return np.frombuffer(
        mmap.mmap(-1, count * np.dtype(dtype).itemsize, access=mmap.ACCESS_COPY), dtype
    )


class LocalMemory:
    """The lanes' memories, back to back: byte `offset` of `lane` is at lane * size + offset."""

    def __init__(self, chip: Chip) -> None:
        self.lanes = chip.lanes
        self.lane_bytes = chip.local_bytes
        self.bytes: npt.NDArray[np.uint8] = sparse_zeros(chip.lanes * chip.local_bytes, np.uint8)

    def split(self, address: int) -> tuple[int, int]:
        """Lane and byte within the lane of an address (an offset in local memory)."""
        return divmod(address, self.lane_bytes)

    def place(self, address: int, shape: Quad, strides: Quad, dtype: np.dtype[Any]) -> Placed:
        """The tensor at `address` with element strides; the channel stride joins lane groups.

        Raises TpuError when it leaves the lane's memory or is not element aligned.
        """
        lane, offset = divmod(address, self.lane_bytes)
        n, c, h, w = shape
        sn, sc, sh, sw = (stride * dtype.itemsize for stride in strides)
        groups = (lane + c - 1) // self.lanes
        last = offset + (n - 1) * sn + groups * sc + (h - 1) * sh + (w - 1) * sw + dtype.itemsize
        if last > self.lane_bytes or lane >= self.lanes or min(shape) < 1:
            raise TpuError(
                f"tensor {shape} with strides {strides} at local address {address:#x} does not "
                f"fit in a lane: it ends at byte {last} of {self.lane_bytes}"
            )
        if offset % dtype.itemsize:
            raise TpuError(f"local address {address:#x} is not aligned to {dtype.itemsize} bytes")
        spans = spans_of(lane, c, self.lanes)
        steps = (sn, sc, self.lane_bytes, sh, sw)
        views: list[Array] = []
        for span in spans:
            start = span.lane * self.lane_bytes + offset + span.group * sc
            sizes = (n, span.groups, span.lanes, h, w)
            views.append(np.ndarray(sizes, dtype, self.bytes, start, steps))
        return Placed(shape, spans, tuple(views))

    def rows(self, offset: int, count: int, dtype: np.dtype[Any]) -> Array:
        """`count` elements from byte `offset` of every lane, shape (lanes, count)."""
        shape = (self.lanes, count)
        return np.ndarray(shape, dtype, self.bytes, offset, (self.lane_bytes, dtype.itemsize))


class LinearMemory:
    """A plain memory of `size` bytes at `base`; space is taken as it is first touched."""

    def __init__(self, name: str, base: int, size: int, initial: int) -> None:
        self.name = name
        self.base = base
        self.size = size
        self.bytes: npt.NDArray[np.uint8] = np.zeros(initial, np.uint8)

    def reserve(self, count: int) -> None:
        """Make the first `count` bytes usable; raises TpuError beyond the memory's end."""
        if count <= self.bytes.size:
            return
        if count > self.size:
            raise TpuError(f"byte {count} is beyond the end of {self.name} ({self.size} bytes)")
        grown = np.zeros(min(self.size, max(count, 2 * self.bytes.size)), np.uint8)
        grown[: self.bytes.size] = self.bytes
        self.bytes = grown

    def place(self, offset: int, shape: Quad, strides: Quad, dtype: np.dtype[Any]) -> Placed:
        """The tensor at byte `offset` from the base, with element strides."""
        if min(shape) < 1:
            raise TpuError(f"tensor {shape} at {self.name} + {offset:#x} is empty")
        sn, sc, sh, sw = (stride * dtype.itemsize for stride in strides)
        n, c, h, w = shape
        last = offset + (n - 1) * sn + (c - 1) * sc + (h - 1) * sh + (w - 1) * sw
        self.reserve(last + dtype.itemsize)
        steps = (sn, sn, sc, sh, sw)
        view: Array = np.ndarray((n, 1, c, h, w), dtype, self.bytes, offset, steps)
        return Placed(shape, (Span(0, 0, 0, 1, c),), (view,))


class Memory:
    """All memories of a chip.

    `read` and `write` take addresses of the GDMA's 40-bit map (DDR, L2, static, local).
    """

    def __init__(self, chip: Chip, static_image: bytes, beside: "Memory | None" = None) -> None:
        """`beside` are those of another core, which has the same DDR and L2."""
        self.chip = chip
        self.local = LocalMemory(chip)
        self.static = LinearMemory(
            "static memory", chip.static_base, chip.static_bytes, chip.static_bytes
        )
        self.static.bytes[: len(static_image)] = np.frombuffer(static_image, np.uint8)
        if beside is not None:
            self.l2, self.windows = beside.l2, beside.windows
        else:
            self.l2 = LinearMemory("L2 memory", chip.l2_base, chip.l2_bytes, 0)
            self.windows = tuple(
                LinearMemory("DDR", start, chip.ddr_bytes, 0) for start in chip.ddr_windows
            )
        self.ddr = self.windows[0]

    def write(self, address: int, values: Array) -> None:
        """Copy the bytes of an array (in C order) to `address`."""
        data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        if data.size:
            self._bytes(address, data.size)[...] = data

    def reserve(self, address: int, count: int) -> None:
        """Make `count` bytes from `address` usable at once: growing later copies what there is.

        Raises TpuError beyond the end of a memory.
        """
        linear = self._linear(address)
        linear.reserve(address - linear.base + count)

    def read(self, address: int, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        """A copy of a dense array at `address`."""
        kind: np.dtype[Any] = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        data = self._bytes(address, count * kind.itemsize).tobytes() if count else b""
        return np.frombuffer(data, kind).reshape(shape).copy()

    def place(self, address: int, shape: Quad, strides: Quad, dtype: np.dtype[Any]) -> Placed:
        """The tensor at an address of the GDMA's map: lane formula in local memory, else linear."""
        if self.is_local(address):
            return self.local.place(address - self.chip.local_base, shape, strides, dtype)
        linear = self._linear(address)
        return linear.place(address - linear.base, shape, strides, dtype)

    def is_local(self, address: int) -> bool:
        """Whether an address of the GDMA's map is in local memory."""
        return 0 <= address - self.chip.local_base < self.local.bytes.size

    def _linear(self, address: int) -> LinearMemory:
        for memory in (*self.windows, self.l2, self.static):
            if memory.base <= address < memory.base + memory.size:
                return memory
        raise TpuError(f"address {address:#x} is in no memory of {self.chip.name}")

    def _bytes(self, address: int, count: int) -> npt.NDArray[np.uint8]:
        if self.is_local(address):
            data, start = self.local.bytes, address - self.chip.local_base
        else:
            linear = self._linear(address)
            linear.reserve(address - linear.base + count)
            data, start = linear.bytes, address - linear.base
        if start + count > data.size:
            raise TpuError(f"{count} bytes at {address:#x} leave their memory")
        return data[start : start + count]
