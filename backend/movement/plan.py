"""Carrying out a map in the cheapest way, by the cycles of the commands it takes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import LocalMemory, pipelined
from xdsl_tpu.backend.kernels.tiling import pipeline_cycles
from xdsl_tpu.backend.movement.job import Job, Source, jobs_of, widened
from xdsl_tpu.backend.movement.tile import Extents, Tile, Way, moving_cycles, tile_of
from xdsl_tpu.backend.movement.transfers import LARGEST_SIZE, RAW, Copies, direct
from xdsl_tpu.backend.movement.ways import candidates, tiles, transferred
from xdsl_tpu.backend.tensor import DType, contiguous
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit


@dataclass(frozen=True, slots=True)
class _Direct:
    """A job done by copies within DDR."""

    copies: Copies
    source: int
    target_at: int
    source_at: int

    def emit(self, emitter: Emitter, target: int, sources: Sequence[int]) -> None:
        self.copies.emit(emitter, target + self.target_at, sources[self.source] + self.source_at)


@dataclass(frozen=True, slots=True)
class _Staged:
    """A job done in tiles through local memory."""

    way: Way
    extents: Extents
    chip: Chip

    def emit(self, emitter: Emitter, target: int, sources: Sequence[int]) -> None:
        _Stages(self, emitter, target, sources).emit()


@dataclass(frozen=True, slots=True)
class Plan:
    """How a map is carried out, and its cycles."""

    steps: tuple[_Direct | _Staged, ...]
    cycles: int
    width: int
    filled: tuple[int, int] | None
    """Elements of the result to set to a constant first, and its bits."""


def carry_out(
    emitter: Emitter,
    target: int,
    sources: Sequence[int],
    moves: Sequence[Source],
    size: int,
    dtype: DType,
    fill: float | None = None,
    stored: DType | None = None,
) -> None:
    """Make the `size` elements at `target` of those at the addresses `sources`.

    `moves` says which; the rest becomes `fill`, or keeps what is there without one. Nothing of the
    result may lie where a source does. What has no `fill` may be `stored` in another number format.
    """
    plan = _plan(emitter.chip, (target, *sources), moves, size, dtype, fill, stored)
    if plan.filled is not None:
        _fill(emitter, target, plan.filled[0], RAW[plan.width], plan.filled[1])
    for step in plan.steps:
        step.emit(emitter, target, sources)


def movement_cycles(
    chip: Chip,
    moves: Sequence[Source],
    size: int,
    dtype: DType,
    fill: float | None = None,
    stored: DType | None = None,
) -> int:
    """Cycles of `carry_out` for tensors at aligned addresses."""
    return _plan(chip, (), moves, size, dtype, fill, stored).cycles


def least_cycles(
    chip: Chip,
    moves: Sequence[Source],
    size: int,
    dtype: DType,
    fill: float | None = None,
    stored: DType | None = None,
) -> float:
    """Cycles that `movement_cycles` cannot stay below, found without looking at any tile."""
    asked = _asked((), moves, size, dtype, fill, stored)
    return min(sum(_least(job, chip) for job in jobs) for jobs in _jobs(*asked))


_Cast = tuple[DType, DType] | None
_Asked = tuple[tuple[Source, ...], int, int | None, int, _Cast]


def _plan(
    chip: Chip,
    addresses: Sequence[int],
    moves: Sequence[Source],
    size: int,
    dtype: DType,
    fill: float | None,
    stored: DType | None,
) -> Plan:
    return _cheapest(chip, *_asked(addresses, moves, size, dtype, fill, stored))


def _asked(
    addresses: Sequence[int],
    moves: Sequence[Source],
    size: int,
    dtype: DType,
    fill: float | None,
    stored: DType | None,
) -> _Asked:
    """The same with elements as wide as the map allows, which are moved in the same time."""
    if stored is not None and stored is not dtype:
        if fill is not None:
            raise DoesNotFit("a border is not cast on its way")
        return tuple(moves), dtype.bytes, None, size, (dtype, stored)
    bits = None if fill is None else dtype.bits(fill)
    return *widened(moves, dtype.bytes, bits, size, addresses), None


def _jobs(
    moves: tuple[Source, ...], width: int, fill: int | None, size: int, cast: _Cast
) -> Iterator[tuple[Job, ...]]:
    for jobs in jobs_of(moves, width, fill, size):
        yield tuple(replace(job, cast=cast) for job in jobs)


@lru_cache(maxsize=1 << 10)
def _cheapest(
    chip: Chip, moves: tuple[Source, ...], width: int, fill: int | None, size: int, cast: _Cast
) -> Plan:
    best: Plan | None = None
    for jobs in _jobs(moves, width, fill, size, cast):
        if best is not None and sum(_least(job, chip) for job in jobs) >= best.cycles:
            continue
        filled = None
        made = sum(job.elements for job in jobs)
        if fill is not None and made < size:
            filled = size, fill
        steps: list[_Direct | _Staged] = []
        cycles = int(size * width // chip.load_bytes_per_cycle) if filled else 0
        for job in jobs:
            found = _best(job, chip)
            if found is None:
                break
            steps += found[0]
            cycles += found[1]
        else:
            if best is None or cycles < best.cycles:
                best = Plan(tuple(steps), cycles, width, filled)
    if best is None:
        raise DoesNotFit(f"a movement of {size} elements takes too many transfers")
    return best


Found = tuple[tuple[_Direct | _Staged, ...], int]


@lru_cache(maxsize=1 << 11)
def _best(job: Job, chip: Chip) -> Found | None:
    """The cheapest steps for a job, and their cycles; None when all take too many commands."""
    best = _directly(job, chip)
    for candidate in candidates(job, chip):
        if best is not None and candidate.bound >= best[1]:
            break
        for extents in tiles(candidate.way, chip):
            limit = None if best is None else best[1]
            cycles = _staged_cycles(candidate.way, extents, chip, limit)
            if cycles is None or (limit is not None and cycles >= limit):
                continue
            steps: tuple[_Direct | _Staged, ...] = (_Staged(candidate.way, extents, chip),)
            if candidate.rest is not None:
                rest = _best(candidate.rest, chip)
                if rest is None:
                    continue
                steps, cycles = (*steps, *rest[0]), cycles + rest[1]
            if best is None or cycles < best[1]:
                best = steps, cycles
    return best


@lru_cache(maxsize=1 << 11)
def _least(job: Job, chip: Chip) -> float:
    """Cycles that the steps for a job take at least."""
    direct, staged = _directly(job, chip), transferred(job, chip)
    return staged if direct is None else min(direct[1], staged)


def _directly(job: Job, chip: Chip) -> Found | None:
    part, *others = job.parts
    if others or job.fill is not None or part.digits or job.cast is not None:
        return None
    digits = tuple(Digit(loop.extent, loop.to, loop.at[0]) for loop in job.loops)
    found = direct(Box(0, 0, digits).simplified(), job.width, chip)
    if found is None:
        return None
    step = _Direct(found, part.source, job.to * job.width, part.at * job.width)
    return (step,), found.cycles


def _staged_cycles(way: Way, extents: Extents, chip: Chip, limit: int | None) -> int | None:
    """Cycles of all tiles; None when they do not fit, take too many commands, or move so much
    that they cannot stay below `limit`."""
    if limit is not None and (moving := moving_cycles(way, extents, chip)) is not None:
        loops = zip(way.job.loops, extents, strict=True)
        if moving * prod(loop.extent // size for loop, size in loops) >= limit:
            return None
    found = _tiles(way, extents, chip)
    if found is None or found[extents].bytes > chip.local_bytes:
        return None
    rounds = _rounds(way, extents)
    total = prod(len(pieces) for pieces in rounds)
    steps = (found[_sizes(pieces)].cycles for pieces in product(*rounds))
    return pipeline_cycles(steps, total)


def _tiles(way: Way, extents: Extents, chip: Chip) -> dict[Extents, Tile] | None:
    """The tiles of every size that there is, which go through the same buffers: where one is put in
    order by a copy, all are. None when one takes too many commands."""
    sizes = list(product(*({size for _, size in one} for one in _rounds(way, extents))))
    for copied in (False, True):
        found = [tile_of(way, one, chip, copied) for one in sizes]
        tiles = [one for one in found if one is not None]
        if len(tiles) < len(found):
            return None
        if len({one.buffers for one in tiles}) == 1:
            return dict(zip(sizes, tiles, strict=True))
    return None


def _rounds(way: Way, extents: Extents) -> list[list[tuple[int, int]]]:
    """The pieces of every loop."""
    return [_pieces(loop.extent, size) for loop, size in zip(way.job.loops, extents, strict=True)]


def _sizes(pieces: Sequence[tuple[int, int]]) -> Extents:
    return tuple(size for _, size in pieces)


def _pieces(extent: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(size, extent - start)) for start in range(0, extent, size)]


class _Stages:
    """Load, move within the lanes, store, tile after tile."""

    def __init__(
        self, staged: _Staged, emitter: Emitter, target: int, sources: Sequence[int]
    ) -> None:
        self.job = staged.way.job
        self.emitter, self.target, self.sources = emitter, target, sources
        found = _tiles(staged.way, staged.extents, staged.chip)
        assert found is not None
        self.kinds, whole = found, found[staged.extents]
        self.computes = bool(whole.steps)
        memory = LocalMemory(staged.chip)
        ends = {*range(len(whole.loads)), len(whole.rooms) - 1}
        self.buffers: list[tuple[int, int]] = []
        for number, size in enumerate(whole.rooms):
            first = memory.take(size)
            self.buffers.append((first, memory.take(size) if number in ends else first))
        self.tiles = list(product(*_rounds(staged.way, staged.extents)))

    def emit(self) -> None:
        """All tiles. One that is stored from where it was loaded must go before another comes."""
        if self.computes:
            pipelined(self.tiles, self._load, self._compute, self._store)
            return
        for pieces in self.tiles:
            self._load(pieces, 0)
            self._store(pieces, 0)

    def _tile(self, pieces: Sequence[tuple[int, int]]) -> Tile:
        return self.kinds[_sizes(pieces)]

    def _load(self, pieces: Sequence[tuple[int, int]], slot: int) -> None:
        for number, load in enumerate(self._tile(pieces).loads):
            part = self.job.parts[number]
            at = part.at + sum(
                start * loop.at[number]
                for (start, _), loop in zip(pieces, self.job.loops, strict=True)
            )
            address = self.sources[part.source] + at * self.job.width
            load.load(self.emitter, self.buffers[number][slot], address)

    def _compute(self, pieces: Sequence[tuple[int, int]], slot: int) -> None:
        for step in self._tile(pieces).steps:
            target, source = self.buffers[step.target][slot], self.buffers[step.source][slot]
            step.within.emit(self.emitter, target, source)

    def _store(self, pieces: Sequence[tuple[int, int]], slot: int) -> None:
        steps = zip(pieces, self.job.loops, strict=True)
        to = self.job.to + sum(start * loop.to for (start, _), loop in steps)
        address = self.target + to * self.job.stored_width
        self._tile(pieces).store.store(self.emitter, self.buffers[-1][slot], address)


def _fill(emitter: Emitter, address: int, size: int, dtype: DType, bits: int) -> None:
    """Set elements in DDR to a constant."""
    row, done = min(size, LARGEST_SIZE), 0
    while done < size:
        rows = min((size - done) // row, LARGEST_SIZE)
        if not rows:
            row, rows = size - done, 1
        place = address + done * dtype.bytes
        emitter.fill(contiguous(place, (1, 1, rows, row), dtype), bits)
        done += rows * row
