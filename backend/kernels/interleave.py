"""Moving between pixels and planes when a pixel has few channels: 224x224x3 to 3x224x224 and back.

A transposition through the lanes loads or stores one pixel at a time, 6 bytes of 256 for three
16-bit channels. Here each lane takes a long run of pixels, and the TIU takes them apart, or puts
them together, by a copy whose elements are a pixel apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import LocalMemory, pipelined
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
    ceil_div,
    strided,
)

FULL_RUN = 256
"""Bytes in a row from which on the GDMA moves at full speed."""

LARGEST_RUN = 16384
"""Elements in a row of one command; sizes and strides are 16-bit fields."""


@dataclass(frozen=True)
class Interleaving:
    """A move of `pixels` of `channels` elements, one side of which has them one behind the other.

    `apart` says that this is the source. `planes` is the distance between the planes of the other
    side, where the elements of each channel are one behind the other; in elements.
    """

    pixels: int
    channels: int
    planes: int
    apart: bool

    @staticmethod
    def of(
        sizes: Sequence[int], to: Sequence[int], back: Sequence[int], plane: tuple[int, int]
    ) -> "Interleaving | None":
        """The interleaving in dimensions `plane`, those contiguous in the source and the target.

        None when neither side has its pixels one behind the other. A matrix that is transposed
        as a whole has on both: then the shorter ones are the pixels.
        """
        source, target = plane
        found: list[Interleaving] = []
        if back[target] == sizes[source]:
            found.append(Interleaving(sizes[target], sizes[source], to[source], True))
        if to[source] == sizes[target]:
            found.append(Interleaving(sizes[source], sizes[target], back[target], False))
        return min(found, key=lambda one: one.channels, default=None)

    def pays(self, chip: Chip, dtype: DType) -> bool:
        """Whether this is faster than a transposition through the lanes, by the traffic of both."""
        straight = self._traffic(chip, dtype, self.channels, self.pixels)
        return self._cycles(chip, dtype, self._run(chip, dtype)) < straight

    def _traffic(self, chip: Chip, dtype: DType, pixels_run: int, planes_run: int) -> float:
        """Cycles of the GDMA when rows on the side of pixels and of planes have these elements."""
        size = self.pixels * self.channels * dtype.bytes
        rates = chip.load_bytes_per_cycle, chip.store_bytes_per_cycle
        runs = (pixels_run, planes_run) if self.apart else (planes_run, pixels_run)
        return sum(
            size / rate * max(1.0, FULL_RUN / (run * dtype.bytes))
            for rate, run in zip(rates, runs, strict=True)
        )

    def _cycles(self, chip: Chip, dtype: DType, run: int) -> float:
        """Cycles with `run` pixels on each lane; an element costs as many as it is apart."""
        unit = chip.eu(dtype.bytes)
        copies = ceil_div(self.pixels, run * chip.lanes) * ceil_div(run * self.channels, unit)
        copying = copies * min(self.channels, unit)
        return copying + self._traffic(chip, dtype, run * self.channels, run)

    def _run(self, chip: Chip, dtype: DType) -> int:
        """The pixels for each lane: spread over all lanes, or in longer rows, as far as it fits."""
        fits = chip.local_bytes // 4 - chip.eu_bytes  # two buffers before and after the copy
        longest = min(fits // dtype.bytes, LARGEST_RUN) // self.channels
        spread, full = ceil_div(self.pixels, chip.lanes), FULL_RUN // dtype.bytes
        runs = {max(1, min(run, longest)) for run in (spread, max(spread, full // 2), full)}
        return min(sorted(runs), key=lambda run: self._cycles(chip, dtype, run))

    def emit(self, emitter: Emitter, places: Sequence[tuple[int, int]], dtype: DType) -> None:
        """Emit the moves between places: pairs of byte addresses, target and source."""
        _Moves(self, emitter, dtype).emit(places)

    def tiles(self, chip: Chip, dtype: DType) -> Iterator[tuple[int, int, int]]:
        """(first pixel, lanes, pixels of each lane)."""
        run = self._run(chip, dtype)
        start = 0
        while (left := self.pixels - start) > 0:
            lanes = min(left // run, chip.lanes)
            count, length = (lanes, run) if lanes else (1, left)
            yield start, count, length
            start += count * length


Tile = tuple[int, int, int, int, int]
"""Byte addresses of the first pixel in target and source, number of it, lanes, pixels in each."""


class _Moves:
    """Load, take apart or put together, store."""

    def __init__(self, what: Interleaving, emitter: Emitter, dtype: DType) -> None:
        self.what, self.emitter, self.dtype = what, emitter, dtype
        self.chip = emitter.chip
        self.before: list[int] = []
        self.after: list[int] = []

    def emit(self, places: Sequence[tuple[int, int]]) -> None:
        """All tiles of the moves from `places`, pairs of target and source."""
        shapes = list(self.what.tiles(self.chip, self.dtype))
        longest = max(pixels for _, _, pixels in shapes) * self.what.channels
        size = align(longest * self.dtype.bytes, self.chip.eu_bytes)
        memory = LocalMemory(self.chip)
        self.before, self.after = ([memory.take(size) for _ in range(2)] for _ in range(2))
        tiles = [(*place, *shape) for place, shape in product(places, shapes)]
        pipelined(tiles, self._load, self._compute, self._store)

    def _local(self, address: int, tile: Tile) -> tuple[LocalTensor, LocalTensor]:
        """The planes of a place, one behind the other and with elements a pixel apart."""
        *_, lanes, pixels = tile
        channels = self.what.channels
        planes = aligned(self.chip, address, (1, lanes, channels, pixels), self.dtype)
        step = planes.strides[1]
        return planes, strided(address, planes.shape, (step, step, 1, channels), self.dtype)

    def _whole(self, address: int, tile: Tile) -> LocalTensor:
        *_, lanes, pixels = tile
        return aligned(self.chip, address, (1, lanes, 1, pixels * self.what.channels), self.dtype)

    def _ddr(self, address: int, tile: Tile, apart: bool) -> GlobalTensor:
        """A side of a tile: pixels one behind the other, or planes."""
        *_, start, lanes, pixels = tile
        channels = self.what.channels
        if apart:
            run = pixels * channels
            place = address + start * channels * self.dtype.bytes
            return GlobalTensor(place, (1, lanes, 1, run), (0, run, 0, 1), self.dtype)
        shape, strides = (1, lanes, channels, pixels), (0, pixels, self.what.planes, 1)
        return GlobalTensor(address + start * self.dtype.bytes, shape, strides, self.dtype)

    def _load(self, tile: Tile, slot: int) -> None:
        address = self.before[slot]
        local = self._whole(address, tile) if self.what.apart else self._local(address, tile)[0]
        self.emitter.load(local, self._ddr(tile[1], tile, self.what.apart))

    def _compute(self, tile: Tile, slot: int) -> None:
        before, after = self._local(self.before[slot], tile), self._local(self.after[slot], tile)
        if self.what.apart:
            self.emitter.copy(after[0].free(), before[1])
        else:
            self.emitter.copy(after[1], before[0].free())

    def _store(self, tile: Tile, slot: int) -> None:
        address = self.after[slot]
        local = self._local(address, tile)[0] if self.what.apart else self._whole(address, tile)
        self.emitter.store(self._ddr(tile[0], tile, not self.what.apart), local)
