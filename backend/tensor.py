"""Where a tensor lies: in DDR (`GlobalTensor`) or spread over the lanes (`LocalTensor`).

Both are plain values with explicit element strides; the placement rules are those of the
docs/hardware/machine.md#placement.
"""

import math
import struct
from dataclasses import replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.records import record

Shape4 = tuple[int, int, int, int]
"""(n, c, h, w)."""


class DType(Enum):
    """Element type: (name, precision code, bytes, signed)."""

    I8 = ("i8", 0, 1, True)
    U8 = ("u8", 0, 1, False)
    F16 = ("f16", 1, 2, True)
    F32 = ("f32", 2, 4, True)
    I16 = ("i16", 3, 2, True)
    U16 = ("u16", 3, 2, False)
    I32 = ("i32", 4, 4, True)
    U32 = ("u32", 4, 4, False)
    BF16 = ("bf16", 5, 2, True)

    def __init__(self, label: str, code: int, bytes: int, signed: bool) -> None:
        self.label = label
        """Name as in the IR."""
        self.code = code
        """Precision code in commands."""
        self.bytes = bytes
        """Bytes of one element."""
        self.signed = signed
        """Whether the element has a sign."""

    __hash__ = object.__hash__  # that of Enum is a function in Python, and keys are many

    @property
    def is_float(self) -> bool:
        """f16, bf16 or f32."""
        return self in (DType.F16, DType.BF16, DType.F32)

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The storage type; bf16 is stored as its 16 bits."""
        return np.dtype("u2") if self is DType.BF16 else np.dtype(_NUMPY[self.label])

    def bits(self, value: float) -> int:
        """The bit pattern of a constant operand, in the low bits of a 32-bit word.

        A number too large for f16 becomes its largest, as those of weights do."""
        if self is DType.BF16:
            word = struct.unpack("<I", struct.pack("<f", value))[0]
            return (word + 0x7FFF + ((word >> 16) & 1)) >> 16
        if not self.is_float:
            return int(value) & ((1 << 8 * self.bytes) - 1)
        if self is DType.F16 and math.isfinite(value):
            value = min(max(value, -LARGEST_F16), LARGEST_F16)
        array: npt.NDArray[np.generic] = np.asarray(value).astype(self.numpy)
        return int.from_bytes(array.tobytes(), "little")


LARGEST_F16 = 65504.0

_NUMPY = {
    "i8": "i1",
    "u8": "u1",
    "f16": "f2",
    "f32": "f4",
    "i16": "i2",
    "u16": "u2",
    "i32": "i4",
    "u32": "u4",
}


class Layout(Enum):
    """How a command describes a local tensor's strides; the value is the code in `*_str`."""

    ALIGNED = 0  # rows of h*w padded to the EU width
    COMPACT = 1  # no padding: filters, biases, tables
    FREE = 3  # explicit strides


WORD_BYTES = 4
"""Bytes are moved in words where rows begin with whole ones."""


def align(value: int, unit: int) -> int:
    """The smallest multiple of `unit` that is not below `value`."""
    return -(-value // unit) * unit


def ceil_div(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


@record(frozen=True, slots=True)
class LocalTensor:
    """A tensor in local memory.

    `address` is lane << lane_shift | byte offset in the lane. Channel c lies in lane
    (lane0 + c) mod lanes, group g = (lane0 + c) div lanes; `strides` are in elements for
    n, g, h, w.
    """

    address: int
    shape: Shape4
    strides: Shape4
    dtype: DType
    layout: Layout

    def groups(self, chip: Chip) -> int:
        """Channel groups that one lane holds."""
        lane = self.address >> chip.lane_shift
        return ceil_div(lane + self.shape[1], chip.lanes)

    def span(self, chip: Chip) -> tuple[int, int]:
        """First and last+1 byte used, as offsets within a lane."""
        n, _, h, w = self.shape
        by_n, by_group, by_h, by_w = self.strides
        last = (n - 1) * by_n + (self.groups(chip) - 1) * by_group + (h - 1) * by_h + (w - 1) * by_w
        start = self.address & (chip.local_bytes - 1)
        return start, start + (last + 1) * self.dtype.bytes

    def free(self) -> "LocalTensor":
        """The same tensor described by explicit strides."""
        return replace(self, layout=Layout.FREE)

    def at(self, n: int = 0, g: int = 0, h: int = 0, w: int = 0) -> int:
        """Address of the element at these indices (g counts channel groups)."""
        by_n, by_group, by_h, by_w = self.strides
        elements = n * by_n + g * by_group + h * by_h + w * by_w
        return self.address + elements * self.dtype.bytes

    def window(self, start: Shape4, shape: Shape4, chip: Chip) -> "LocalTensor":
        """The part of `shape` that begins at index `start`; c must start at a lane of group 0
        or on a group boundary (a multiple of the lane count)."""
        n, c, h, w = start
        group, lane = divmod(c, chip.lanes)
        address = self.at(n, group, h, w) + (lane << chip.lane_shift)
        return LocalTensor(address, shape, self.strides, self.dtype, Layout.FREE)


def aligned(chip: Chip, address: int, shape: Shape4, dtype: DType) -> LocalTensor:
    """A tensor in the EU-aligned layout; `address` must be a multiple of the EU width."""
    _, c, h, w = shape
    c_stride = align(h * w, chip.eu(dtype.bytes))
    groups = ceil_div((address >> chip.lane_shift) + c, chip.lanes)
    strides = (groups * c_stride, c_stride, w, 1)
    return LocalTensor(address, shape, strides, dtype, Layout.ALIGNED)


def compact(chip: Chip, address: int, shape: Shape4, dtype: DType) -> LocalTensor:
    """A tensor without padding between channel groups."""
    _, c, h, w = shape
    groups = ceil_div((address >> chip.lane_shift) + c, chip.lanes)
    strides = (groups * h * w, h * w, w, 1)
    return LocalTensor(address, shape, strides, dtype, Layout.COMPACT)


def strided(address: int, shape: Shape4, strides: Shape4, dtype: DType) -> LocalTensor:
    """A tensor with explicit strides (elements; n, g, h, w). A zero stride broadcasts."""
    return LocalTensor(address, shape, strides, dtype, Layout.FREE)


def aligned_bytes(chip: Chip, shape: Shape4, dtype: DType) -> int:
    """Bytes per lane of an EU-aligned tensor that starts on lane 0."""
    n, c, h, w = shape
    return n * ceil_div(c, chip.lanes) * align(h * w * dtype.bytes, chip.eu_bytes)


def compact_bytes(chip: Chip, shape: Shape4, dtype: DType) -> int:
    """Bytes per lane of a compact tensor on lane 0, rounded up to the EU width."""
    n, c, h, w = shape
    return align(n * ceil_div(c, chip.lanes) * h * w * dtype.bytes, chip.eu_bytes)


@record(frozen=True, slots=True)
class GlobalTensor:
    """A tensor in DDR: absolute byte address, element strides for n, c, h, w."""

    address: int
    shape: Shape4
    strides: Shape4
    dtype: DType

    @property
    def bytes(self) -> int:
        """Bytes of the elements (not of the span)."""
        return math.prod(self.shape) * self.dtype.bytes

    def window(self, start: Shape4, shape: Shape4) -> "GlobalTensor":
        """The part of `shape` that begins at index `start`."""
        n, c, h, w = start
        by_n, by_c, by_h, by_w = self.strides
        offset = n * by_n + c * by_c + h * by_h + w * by_w
        address = self.address + offset * self.dtype.bytes
        return GlobalTensor(address, shape, self.strides, self.dtype)

    def view(self, shape: Shape4, strides: Shape4) -> "GlobalTensor":
        """The same memory with another shape and other strides."""
        return GlobalTensor(self.address, shape, strides, self.dtype)


def plain_strides(shape: Shape4, strides: Shape4) -> Shape4:
    """`strides` with those of a single row or column as if it were dense.

    They address nothing, but the vendor's estimate counts a transfer's channels by h times the
    stride of h: a program must not look faster by a number that has no effect.
    """
    w_stride = strides[3] if shape[3] > 1 else 1
    h_stride = strides[2] if shape[2] > 1 else shape[3] * w_stride
    return strides[0], strides[1], h_stride, w_stride


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major element strides of any rank."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def contiguous(address: int, shape: Shape4, dtype: DType) -> GlobalTensor:
    """A row-major tensor in DDR."""
    n, c, h, w = shape
    return GlobalTensor(address, (n, c, h, w), (c * h * w, h * w, w, 1), dtype)
