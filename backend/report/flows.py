"""Which layer reads what which other layer made, and whether it came by way of DDR.

Read off the program's commands alone: every byte belongs to the layer whose command wrote it last,
and bytes are those that commands really move: a value that three slices load counts three times.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.checks.shadow import Shadow, common_granule
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.operands.region import Region
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.report.footprints import Footprint, Run, footprints, in_order
from xdsl_tpu.backend.timing import Timeline
from xdsl_tpu.dialects import tpu

GRANULE = 64
"""Bytes of a lane that have one maker."""

Pair = tuple[int, int]
"""The row that made it and the one that reads it; -1 - k is the network's input or output k."""

_Numbers = npt.NDArray[np.int64]


@dataclass
class Flows:
    """Bytes by maker and reader. Of what a load of its own row brings, the reader is the row that
    reads it first; `also` are others that find it in the lanes. `local` are those that a row finds
    there of another row, each once for every time it was written; `weights` are coefficients by
    the row that reads them first.
    """

    ddr: Counter[Pair] = field(default_factory=Counter[Pair])
    also: Counter[Pair] = field(default_factory=Counter[Pair])
    local: Counter[Pair] = field(default_factory=Counter[Pair])
    weights: Counter[int] = field(default_factory=Counter[int])

    def as_dict(self) -> dict[str, list[list[int]]]:
        """Plain values for the page, in order of makers."""
        kinds = {"ddr": self.ddr, "also": self.also, "local": self.local}
        found = {
            kind: [[*pair, count] for pair, count in sorted(pairs.items())]
            for kind, pairs in kinds.items()
        }
        return found | {"weights": [[*pair] for pair in sorted(self.weights.items())]}


@dataclass(frozen=True)
class _Owned:
    """A command, its row, and whether the row does nothing but bring values."""

    footprint: Footprint
    row: int
    brings: bool


def flows(
    program: Program,
    timelines: Sequence[Timeline],
    chip: Chip,
    owners: Sequence[Mapping[Engine, Sequence[int]]],
) -> Flows:
    """Those of a run. `owners` has the row of every event. What a row leaves for itself is none.

    There is a timeline for each core, and owners: each has lanes of its own, DDR is one for all.
    """
    found = Flows()
    transfers: list[list[_Transfer]] = []
    for core, timeline, rows in zip(program.cores, timelines, owners, strict=True):
        run = footprints(core, timeline, chip)
        owned = _owned(core, run, rows)
        readers = _in_lanes(found, [owned[id(one)] for one in in_order(run)], chip)
        transfers.append([(owned[id(one)], readers) for one in run[Engine.GDMA]])
    _through_ddr(found, program, list(merge(*transfers, key=_start)))
    return found


def _owned(core: Program, run: Run, owners: Mapping[Engine, Sequence[int]]) -> dict[int, _Owned]:
    owned: dict[int, _Owned] = {}
    for engine in Engine:
        layers = core.layer_indices(engine)
        for one, row in zip(run[engine], owners[engine], strict=True):
            index = layers[one.event.position]
            brings = index >= 0 and core.layers[index].op == tpu.LoadOp.name
            owned[id(one)] = _Owned(one, row, brings)
    return owned


def _start(transfer: "_Transfer") -> int:
    return transfer[0].footprint.event.start


def _through_ddr(found: Flows, program: Program, transfers: Sequence["_Transfer"]) -> None:
    """Makers are kept for every byte that is moved, as row + 1 or, of inputs, -1 - k."""
    start = program.coefficient_address
    weights = range(start, start + program.coefficients.size)
    touched = (part for one, _ in transfers for part in _regions(one) if part.start not in weights)
    memory = _Memory([*touched, *map(_whole, (*program.inputs, *program.outputs))])
    for number, tensor in enumerate(program.inputs):
        memory.view(_whole(tensor))[...] = -1 - number
    for one, readers in transfers:
        first, *others = readers.of(one)
        for region in one.footprint.loaded:
            if region.start in weights:
                found.weights[first] += _bytes(region)
                continue
            for maker, count in _makers(memory.view(region)):
                _add(found.ddr, maker, first, count * memory.granule)
                for other in others:
                    _add(found.also, maker, other, count * memory.granule)
        for region in one.footprint.stored:
            if region.start not in weights:
                memory.view(region)[...] = one.row + 1
    for number, tensor in enumerate(program.outputs):
        for maker, count in _makers(memory.view(_whole(tensor))):
            _add(found.ddr, maker, -1 - number, count * memory.granule)


def _regions(one: _Owned) -> tuple[Region, ...]:
    return (*one.footprint.loaded, *one.footprint.stored)


def _add(pairs: Counter[Pair], number: int, reader: int, count: int) -> None:
    """Count what the maker of a number in memory gave to a reader."""
    maker = number - (number > 0)
    if number and (maker != reader or number < 0):
        pairs[maker, reader] += count


def _makers(view: npt.NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """The numbers in a view, and how often each is there; nearly always there is one."""
    first = int(view.flat[0])
    if bool((view == first).all()):
        yield first, view.size
        return
    numbers, counts = np.unique(view, return_counts=True)
    yield from zip(numbers.tolist(), counts.tolist(), strict=True)


class _Memory:
    """A maker for every granule of DDR that a program touches: gaps between are left out."""

    def __init__(self, touched: Sequence[Region]) -> None:
        self.granule = common_granule(touched)
        spans = sorted({(region.start, region.end) for region in touched})
        starts, ends = [0], [0]
        for low, high in spans:
            if low > ends[-1]:
                starts.append(low)
                ends.append(high)
            else:
                ends[-1] = max(ends[-1], high)
        self._starts: _Numbers = np.array(starts, np.int64)
        sizes = np.array(ends, np.int64) - self._starts
        self._places: _Numbers = np.cumsum(sizes) - sizes
        makers = np.zeros(int(sizes.sum()) // self.granule, np.int32)
        self._shadow = Shadow(makers, self.granule)

    def view(self, region: Region) -> npt.NDArray[np.int32]:
        """The makers of a region's granules."""
        part = int(np.searchsorted(self._starts, region.start, "right")) - 1
        start = int(self._places[part]) + region.start - int(self._starts[part])
        return self._shadow.view(replace(region, start=start))


class _Readers:
    """Which rows read what loads of rows of their own bring.

    Operands count as spans, so that of several loads that fill a tensor in turn a reader may seem
    to meet only the last. Loads of one row that come before anything of them is read are therefore
    one batch, and have the same readers.
    """

    def __init__(self) -> None:
        self._batches: dict[int, list[list[int]]] = {}
        self._batch: dict[int, tuple[int, int]] = {}

    def bring(self, one: _Owned) -> None:
        """A load has come."""
        batches = self._batches.setdefault(one.row, [])
        if not batches or batches[-1]:
            batches.append([])
        self._batch[id(one.footprint)] = one.row, len(batches) - 1

    def read(self, one: _Owned, reader: int) -> None:
        """A row reads what a load brought."""
        row, index = self._batch[id(one.footprint)]
        if reader not in self._batches[row][index]:
            self._batches[row][index].append(reader)

    def of(self, one: _Owned) -> list[int]:
        """The rows that read what a command loads, the first one first."""
        row, index = self._batch.get(id(one.footprint), (one.row, 0))
        batches = self._batches.get(row, [])
        known = [*batches[index : index + 1], *batches[:index][::-1]]
        return next(filter(None, known), [one.row])


_Transfer = tuple[_Owned, _Readers]
"""A transfer, and which rows read what the loads of its core bring."""


def _in_lanes(found: Flows, commands: Sequence[_Owned], chip: Chip) -> _Readers:
    """Makers of the granules of a lane are kept as row + 1, or of what a row only brings as
    -1 - its number in `commands`; and which row has counted a granule since it was written."""
    makers = np.zeros(-(-chip.local_bytes // GRANULE), np.int32)
    counted = np.full(makers.shape, -1, np.int32)
    readers = _Readers()
    for number, one in enumerate(commands):
        row = one.row
        for low, high, lanes in one.footprint.read:
            part = slice(low // GRANULE, -(-high // GRANULE))
            there = makers[part]
            fresh = there[(counted[part] != row) & (there != row + 1) & (there != 0)]
            counted[part] = row
            for maker, count in _makers(fresh) if fresh.size else ():
                if maker > 0:
                    found.local[maker - 1, row] += count * GRANULE * lanes
                else:
                    readers.read(commands[-1 - maker], row)
        if one.brings:
            readers.bring(one)
        for low, high, _ in one.footprint.written:
            part = slice(low // GRANULE, -(-high // GRANULE))
            makers[part] = -1 - number if one.brings else row + 1
            counted[part] = -1
    return readers


def _whole(tensor: IoTensor) -> Region:
    return Region(tensor.address, (), (), tensor.bytes)


def _bytes(region: Region) -> int:
    return int(np.prod(region.sizes, dtype=np.int64)) * region.run
