"""A matrix of 16-bit floats that passes through local memory tile by tile.

What `packed_stream` is for packed ones, so that a kernel need not know which it has.
"""

from dataclasses import dataclass

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.packed_stream import Cut, PackedStream
from xdsl_tpu.backend.kernels.packed_weight import PackedWeight, unpack_bytes
from xdsl_tpu.backend.kernels.support import KernelContext, Ring
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    aligned,
    aligned_bytes,
    ceil_div,
    contiguous,
)
from xdsl_tpu.dialects.errors import NoKernel


@dataclass(frozen=True, slots=True)
class FloatWeight:
    """[outputs, depth] of 16-bit floats in DDR; `lanes` are those of the chip."""

    address: int
    outputs: int
    depth: int
    kind: DType
    lanes: int

    @property
    def rounds(self) -> int:
        """Rows that a lane holds of the whole matrix."""
        return ceil_div(self.outputs, self.lanes)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.depth * self.kind.bytes

    def rows(self, outputs: Piece) -> GlobalTensor:
        """Rows as (1, rows, 1, depth)."""
        start = self.address + outputs.start * self.row_bytes
        return contiguous(start, (1, outputs.size, 1, self.depth), self.kind)


Weight = PackedWeight | FloatWeight


def float_weight(context: KernelContext, operand: SSAValue, depth: int, kind: DType) -> FloatWeight:
    """The matrix [N, `depth`] of an operand. Raises NoKernel where sizes or types do not fit."""
    value = context.value(operand)
    if value.shape[-1] != depth or value.dtype is not kind or kind.bytes != DType.F16.bytes:
        raise NoKernel(f"a matrix of {value.shape} {value.dtype.label} for rows of {depth}")
    return FloatWeight(value.address, value.elements // depth, depth, kind, context.chip.lanes)


def cut_of(weight: Weight, rounds: int, factor_bytes: int) -> Cut:
    """Tiles of `rounds` rows a lane; of packed ones with their scales (`Cut.of`)."""
    if isinstance(weight, PackedWeight):
        return Cut.of(weight, rounds, factor_bytes)
    return Cut(min(rounds, weight.rounds), 1)


@dataclass(frozen=True, slots=True)
class Rooms:
    """Bytes of a lane: of a tile as it is in DDR, for unpacking it, for its scales."""

    tile: int
    unpacked: int
    factors: int

    @classmethod
    def of(cls, chip: Chip, weight: Weight, cut: Cut) -> "Rooms":
        """Floats are not unpacked, and have no scales."""
        tile = cut.tile_bytes(chip, weight.row_bytes)
        if isinstance(weight, FloatWeight):
            return cls(tile, 0, 0)
        return cls(tile, unpack_bytes(chip, weight, cut.rounds), cut.factor_bytes(chip, weight))


class FloatStream:
    """Tiles of a float matrix, in order; loads go to a ring so that they run ahead."""

    def __init__(self, e: Emitter, weight: FloatWeight, tiles: Ring) -> None:
        self.e = e
        self.weight = weight
        self._tiles = tiles

    def tile(self, outputs: Piece, address: int) -> LocalTensor:
        """Rows (1, outputs, 1, depth), where they were loaded; nothing is done at `address`."""
        del address
        source = self.weight.rows(outputs)
        size = aligned_bytes(self.e.chip, source.shape, source.dtype)
        tile = aligned(self.e.chip, self._tiles.take(size), source.shape, source.dtype)
        fetch(self.e, tile, source)
        return tile


def stream(
    e: Emitter, weight: Weight, cut: Cut, tiles: Ring, factors: Ring
) -> PackedStream | FloatStream:
    """The tiles of a matrix of either kind."""
    if isinstance(weight, FloatWeight):
        return FloatStream(e, weight, tiles)
    return PackedStream(e, weight, cut, tiles, factors)
