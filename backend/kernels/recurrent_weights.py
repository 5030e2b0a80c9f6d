"""Gate weights in local memory: all of them, or tile by tile."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.product import multiply
from xdsl_tpu.backend.kernels.recurrent_plan import Sizes
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    aligned,
    compact,
    contiguous,
    strided,
)

F32 = DType.F32


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows of weights of some slots, where they lie."""

    slots: Piece
    address: int


class GateWeights:
    """The weights [gates * units, depth] of one direction, rows on the lanes, a gate's in slots of
    its own.

    `places` are the addresses of two tiles, or of one that holds everything and is loaded once.
    """

    def __init__(
        self, e: Emitter, sizes: Sizes, depth: int, address: int, tile: int, places: list[int]
    ) -> None:
        self.e, self.sizes, self.depth = e, sizes, depth
        self._address, self._tile, self._places = address, tile, places
        self._row = sizes.row_bytes(depth, e.chip)
        self._loaded = False
        self._turn = 0

    @property
    def held(self) -> bool:
        """Whether all weights stay."""
        return self._tile >= self.sizes.slots(self.e.chip)

    def clear(self) -> None:
        """Zeros where lanes of a gate's last slot have no unit, so that all lanes stay finite."""
        if self.sizes.units % self.e.chip.lanes == 0:
            return
        elements = self._tile * self._row // self.sizes.dtype.bytes
        for place in self._places:
            shape = (1, self.e.chip.lanes, 1, elements)
            self.e.copy(strided(place, shape, (elements, elements, elements, 1), self.dtype), 0.0)

    @property
    def dtype(self) -> DType:
        """Element type of the weights."""
        return self.sizes.dtype

    def tiles(self, wanted: Piece) -> Iterator[Tile]:
        """Tiles that hold the wanted slots, each loaded before it is given.

        One tile is loaded ahead of the one that is worked on.
        """
        if self.held:
            self.load()
            first = self._places[0] + wanted.start * self._row
            yield Tile(wanted, first)
            return
        pieces = [
            Piece(wanted.start + part.start, part.size) for part in cut(wanted.size, self._tile)
        ]
        ahead = [self._next(piece) for piece in pieces[:1]]
        for index in range(len(pieces)):
            if index + 1 < len(pieces):
                ahead.append(self._next(pieces[index + 1]))
            yield ahead[index]

    def load(self) -> None:
        """Bring in weights that stay, unless they are there."""
        if self.held and not self._loaded:
            self._loaded = True
            self._fetch(Piece(0, self.sizes.slots(self.e.chip)), self._places[0])

    def _next(self, slots: Piece) -> Tile:
        place = self._places[self._turn % len(self._places)]
        self._turn += 1
        self._fetch(slots, place)
        return Tile(slots, place)

    def _fetch(self, slots: Piece, address: int) -> None:
        """Load rows, of each gate those that the slots hold."""
        chip, sizes = self.e.chip, self.sizes
        per_gate = sizes.per_gate(chip)
        for gate in range(slots.start // per_gate, (slots.end - 1) // per_gate + 1):
            first = max(slots.start - gate * per_gate, 0)
            last = min(slots.end - gate * per_gate, per_gate)
            rows = min(last * chip.lanes, sizes.units) - first * chip.lanes
            number = gate * sizes.units + first * chip.lanes
            place = address + (gate * per_gate + first - slots.start) * self._row
            source = self._rows(number, rows)
            fetch(self.e, self._at(place, rows), source)

    def _rows(self, first: int, count: int) -> GlobalTensor:
        start = self._address + first * self.depth * self.dtype.bytes
        return contiguous(start, (1, count, 1, self.depth), self.dtype)

    def _at(self, address: int, rows: int) -> LocalTensor:
        make = compact if self.dtype is F32 else aligned
        return make(self.e.chip, address, (1, rows, 1, self.depth), self.dtype)

    def multiply(
        self, out: LocalTensor, tile: Tile, right: LocalTensor, turned: bool, accumulate: bool
    ) -> None:
        """out (1, rows, 1, columns) in f32 = the tile's rows times a matrix (1, depth, 1, columns);
        `turned`, of 16 bits only, it lies as (1, columns, 1, depth)."""
        left = self._at(tile.address, tile.slots.size * self.e.chip.lanes)
        multiply(self.e, out, left, right, turned, accumulate)
