"""A matrix that passes through local memory tile by tile, unpacked on its way if it is packed."""

from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.packed_weight import Factors, PackedWeight, unpack
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, Ring
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import LocalTensor, align, aligned, aligned_bytes, ceil_div

FEW_TILES = 3
"""Packed tiles there must be room for: one in use, one arriving, one to come."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Outputs a lane of a tile, and tiles whose scales and zero points come together."""

    rounds: int
    tiles: int

    @classmethod
    def of(cls, weight: PackedWeight, rounds: int, factor_bytes: int) -> "Cut":
        """Tiles of `rounds`, with about `factor_bytes` of scales and zero points a lane."""
        rounds = min(rounds, weight.rounds)
        if not weight.packed:
            return cls(rounds, 1)
        most = ceil_div(weight.rounds, rounds)
        tiles = max(1, min(most, factor_bytes // (rounds * weight.scale_bytes)))
        if tiles < most:  # whole blocks, if there is one so soon
            whole = (n for n in range(tiles, 0, -1) if n * rounds % weight.block == 0)
            tiles = next(whole, tiles)
        return cls(rounds, tiles)

    def factor_bytes(self, chip: Chip, weight: PackedWeight) -> int:
        """Bytes of a lane for scales and zero points that come together."""
        return Factors.bytes(chip, weight, min(self.rounds * self.tiles, weight.rounds))

    def tile_bytes(self, chip: Chip, row_bytes: int) -> int:
        """Bytes of a lane of a tile as it is in DDR, from those of a row."""
        return align(row_bytes, chip.eu_bytes) * self.rounds


def rings_of(
    context: KernelContext, memory: LocalMemory, tile: int, factors: int
) -> tuple[Ring, Ring]:
    """All the memory that is left for tiles of so many bytes of a lane, but for the end of it: that
    is for scales and zero points, of which so many bytes come together."""
    first = memory.next
    memory.take(FEW_TILES * tile)
    memory.take(3 * factors)
    top = context.top_ring(3 * factors)
    return context.ring(first, top.start), top


class PackedStream:
    """Tiles of a matrix, in order; loads go to rings so that they run ahead.

    `factors` must have room for three times what the streams that share it load together.
    """

    def __init__(
        self, e: Emitter, weight: PackedWeight, cut: Cut, tiles: Ring, factors: Ring
    ) -> None:
        self.e = e
        self.weight = weight
        self.cut = cut
        self._tiles = tiles
        self._factors = factors
        self._group: tuple[Piece, Factors] | None = None

    def tile(self, outputs: Piece, address: int, target: int | None = None) -> LocalTensor:
        """Unpacked rows (1, outputs, 1, depth), as `unpack` makes them, of a tile's beginning; of
        floats where they were loaded."""
        source = self.weight.rows(outputs)
        factors = self._load_factors(outputs) if self.weight.packed else None
        size = aligned_bytes(self.e.chip, source.shape, source.dtype)
        packed = aligned(self.e.chip, self._tiles.take(size), source.shape, source.dtype)
        fetch(self.e, packed, source)
        if factors is None:
            return packed
        first = outputs.start // self.weight.lanes
        return unpack(self.e, address, self.weight, packed, factors, first, target)

    def _load_factors(self, outputs: Piece) -> Factors:
        """Those of a tile, loaded with those of the tiles behind it unless they are there."""
        if self._group is not None and self._group[0].start <= outputs.start < self._group[0].end:
            return self._group[1]
        size = self.cut.rounds * self.cut.tiles * self.weight.lanes
        group = Piece(outputs.start, min(size, self.weight.outputs - outputs.start))
        chip, lanes = self.e.chip, self.weight.lanes
        place = self._factors.take(self.cut.factor_bytes(chip, self.weight))
        blocks = self.weight.blocks(group.start // lanes, ceil_div(group.size, lanes))
        factors = Factors.at(chip, place, self.weight, blocks)
        sources = self.weight.factors(blocks)
        for target, source in zip((factors.scales, factors.points), sources, strict=True):
            fetch(self.e, target, source)
        self._group = group, factors
        return factors
