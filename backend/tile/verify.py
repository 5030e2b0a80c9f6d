"""Whether a tile program is right, from the program alone: nothing of how it was built is asked.

Commands wait for what they touch, so that everything happens as if step by step in order.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.local.context import Form, LocalValue
from xdsl_tpu.backend.local.image import packed
from xdsl_tpu.backend.local.kept import kept_whole, lies_in_place
from xdsl_tpu.backend.tensor import Layout
from xdsl_tpu.backend.tile.program import Buffer, Compute, Load, Region, Step, Store, TileProgram
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import AXES, Axis, LocalGen, Loop, Ncdhw, Part, Range
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import pack_of
from xdsl_tpu.dialects.tpu.local import LocalReshape


def check(programs: Sequence[TileProgram], chip: Chip) -> None:
    """Raise TpuError, with the first fault, unless there is none."""
    found = list(faults(programs, chip))
    if found:
        at = where(programs[0].op)
        raise TpuError(f"{at}: faults in its tile program ({len(found)}): {found[0]}")


def faults(programs: Sequence[TileProgram], chip: Chip) -> Iterator[str]:
    """One line for everything that is wrong with what the cores do for one group."""
    for program in programs:
        yield from _Check(program, chip).faults()
    yield from _uncovered(programs)


class _Check:
    """One program, step by step."""

    def __init__(self, program: TileProgram, chip: Chip) -> None:
        self.program, self.chip = program, chip
        self.last_read: dict[Buffer, int] = {
            buffer: number for number, step in enumerate(program.steps) for buffer in _read_by(step)
        }
        self.there: dict[Buffer, Region] = {}
        self.gone: dict[Buffer, Step] = {}
        self.root: dict[Buffer, Buffer] = {}
        self.summed: dict[Buffer, int] = {}
        self.kept = program.op.kept_regions if isinstance(program.op, tpu.GroupOp) else []
        self.left: dict[Operation, Region] = {}

    def faults(self) -> Iterator[str]:
        """In the order of the steps."""
        seen: set[Buffer] = set()
        for number, step in enumerate(self.program.steps):
            for buffer in (*_read_by(step), *_written_by(step)):
                if buffer not in seen:
                    seen.add(buffer)
                    yield from self._misplaced(buffer)
            yield from _mistaken(step)
            yield from self._reads(step)
            if isinstance(step, Compute):
                yield from _missing(step, self.program)
                yield from self._sums(step)
                yield from _goes_on(step)
            yield from self._keeps(step)
            yield from self._writes(number, step)

    def _keeps(self, step: Step) -> Iterator[str]:
        """What other groups have left stays, until the group works on it where it lies, and what is
        left for them from the first slice on; what is copied lies there."""
        if isinstance(step, Load) and step.kept is not None:
            place = step.targets[0].place
            if lies_in_place(place, step.kept, self.chip):
                low, high = place.tensor.span(self.chip)
                for region in self.kept:
                    if region[0] == low and high <= region[1]:
                        self.kept.remove(region)
                        return
        kept = [*self.kept, *(region for op, region in self.left.items() if op is not step.op)]
        pack = _pack_span(step)
        spans = [one.place.tensor.span(self.chip) for one in _written_by(step)]
        for region in (*([pack] if pack else spans), *_scratch_of(step)):
            if any(_meet(region, other) for other in (*kept, *self.left.values())):
                yield f"{where(step.op)} works in {list(region)}, where a value is kept"
        if isinstance(step, Compute) or step.kept is None:
            return
        part = step.targets[0].place if isinstance(step, Load) else step.source.place
        low, high = kept_whole(part, step.kept, self.chip).span(self.chip)
        if low % self.chip.eu_bytes or low < 0 or high > self.chip.local_bytes:
            yield f"{where(step.op)} keeps a value in {[low, high]}, where none can be"
        if part.form is not Form.PLAIN or part.full.d > 1:
            yield f"{where(step.op)} copies a value that cannot be kept"
        if isinstance(step, Load):
            if not any(first <= low and high <= end for first, end in self.kept):
                yield f"{where(step.op)} copies from {[low, high]}, where nothing is kept"
            return
        self.left[step.op] = low, high
        in_place = lies_in_place(part, step.kept, self.chip)
        for buffer, region in [*((None, one) for one in kept), *self.there.items()]:
            if _meet(region, (low, high)) and not (in_place and buffer is step.source):
                yield f"{where(step.op)} keeps a value in {[low, high]}, where another lies"

    def _misplaced(self, buffer: Buffer) -> Iterator[str]:
        """It lies within local memory, aligned where it says so, and is a part of its value."""
        tensor, chip = buffer.place.tensor, self.chip
        low, high = tensor.span(chip)
        if tensor.address < 0 or high > chip.local_bytes:
            yield f"{_title(buffer)} ends at byte {high} of {chip.local_bytes} in a lane"
        if tensor.layout is Layout.ALIGNED and low % chip.eu_bytes:
            yield f"{_title(buffer)} is not aligned to {chip.eu_bytes}"
        if buffer.place.form is Form.PLAIN:
            for axis, (start, size) in _extent(buffer.place).items():
                full = getattr(buffer.place.full, axis)
                if start < 0 or start + size > full:
                    yield f"{_title(buffer)} is {axis} {start} to {start + size} of {full}"

    def _reads(self, step: Step) -> Iterator[str]:
        """What is read has been written, and nothing was written over it."""
        for buffer in _read_by(step):
            if buffer in self.gone:
                over = where(self.gone[buffer].op)
                yield f"{where(step.op)} reads {_title(buffer)}, which {over} has written over"
            elif buffer not in self.there:
                yield f"{where(step.op)} reads {_title(buffer)}, which nothing has written"

    def _writes(self, number: int, step: Step) -> Iterator[str]:
        """What is written is no operand of the step, and scratch memory is not in use."""
        written = {buffer: buffer.place.tensor.span(self.chip) for buffer in _written_by(step)}
        used = {b: self.there[b] for b in _read_by(step) if b in self.there}
        for (target, span), (buffer, other) in product(written.items(), used.items()):
            if _meet(span, other) and target is not buffer and not self._may_share(step, buffer):
                yield f"{where(step.op)} writes {_title(target)} over {_title(buffer)}"
        scratch = _scratch_of(step)
        for region in scratch:
            if region[1] > self.chip.local_bytes:
                yield f"scratch memory {list(region)} of {where(step.op)} is outside local memory"
        for region, buffer in _sharing(scratch, {**self.there, **written}):
            yield f"scratch memory {list(region)} of {where(step.op)} has {_title(buffer)}"
        pack = _pack_span(step)
        for span in written.values() if pack is None else [pack]:
            for buffer, other in list(self.there.items()):
                if _meet(span, other) and not self._is_view(step, buffer):
                    del self.there[buffer]
                    self.gone[buffer] = step
        if isinstance(step, Compute) and (viewed := _viewed(step)) is not None:
            self.root[step.out] = self.root.get(viewed, viewed)
        for buffer, span in written.items():
            self.there[buffer] = span
            self.gone.pop(buffer, None)
        for buffer in (*used, *written):
            if self.last_read.get(buffer, -1) <= number:
                self.there.pop(buffer, None)

    def _sums(self, step: Compute) -> Iterator[str]:
        """Parts of a sum follow each other."""
        if (part := step.sum) is not None:
            start, before = part.part[0], self.summed.get(part.buffer, 0)
            if start != before:
                yield f"{where(step.op)} sums up from {start} on what it has up to {before}"
            self.summed[part.buffer] = sum(part.part)

    def _may_share(self, step: Step, buffer: Buffer) -> bool:
        """Whether a step may write its result where an operand lies."""
        if self._is_view(step, buffer):
            return True
        if not isinstance(step, Compute) or not isinstance(step.op, LocalGen):
            return False
        same = step.out.place.tensor.address == buffer.place.tensor.address
        return same and step.op.may_overwrite()

    def _is_view(self, step: Step, buffer: Buffer) -> bool:
        """Whether a step only gives the memory of a buffer another shape."""
        viewed = _viewed(step)
        return viewed is not None and self.root.get(viewed, viewed) is self.root.get(buffer, buffer)


def _sharing(
    regions: Sequence[Region], spans: Mapping[Buffer, Region]
) -> Iterator[tuple[Region, Buffer]]:
    """The pairs that share bytes."""
    ordered = sorted(spans.items(), key=lambda item: item[1])
    starts = [start for _, (start, _) in ordered]
    reach = list(accumulate((end for _, (_, end) in ordered), max))
    for low, high in regions:
        count = bisect_left(starts, high)
        if count and reach[count - 1] > low:
            yield from (((low, high), b) for b, (_, end) in ordered[:count] if end > low)


def _viewed(step: Step) -> Buffer | None:
    """The operand whose memory the result of a step is; None when it has its own."""
    if not isinstance(step, Compute) or not isinstance(step.op, LocalReshape):
        return None
    viewed = step.operands[0]
    same = viewed and step.out.place.tensor.address == viewed.place.tensor.address
    return viewed if same else None


def _read_by(step: Step) -> tuple[Buffer, ...]:
    if isinstance(step, Store):
        return (step.source,)
    if isinstance(step, Load):
        return ()
    more = () if step.sum is None or step.sum.is_first else (step.sum.buffer,)
    return (*(one for one in (*step.operands, step.before) if one), *more)


def _written_by(step: Step) -> tuple[Buffer, ...]:
    if isinstance(step, Load):
        return step.targets
    if isinstance(step, Store):
        return ()
    sums = () if step.sum is None else (step.sum.buffer,)
    return sums if step.sum is not None and not step.sum.is_last else (*sums, step.out)


def _scratch_of(step: Step) -> tuple[Region, ...]:
    if isinstance(step, Load):
        return ()
    own = step.own if isinstance(step, Compute) else None
    return step.free if own is None else (own, *step.free)


def _pack_span(step: Step) -> Region | None:
    """The bytes that a pack of weights takes, those between the weights included."""
    weight = packed(step.op) if isinstance(step.op, tpu.LoadOp) else None
    pack = pack_of(weight) if weight is not None else None
    if pack is None or not isinstance(step, Load):
        return None
    own = next((b for b in step.targets if b.value is step.op.results[0]), step.targets[0])
    base = own.place.tensor.address - pack.offset
    return base, base + pack.lane_bytes


def _meet(one: Region, other: Region) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _mistaken(step: Step) -> Iterator[str]:
    """Buffers hold the values that the op of the step reads and makes."""
    op = step.op
    if isinstance(step, Load):
        pairs: list[tuple[SSAValue, Buffer | None]] = []
        brought = (op.results[0],) if isinstance(op, tpu.LoadOp) else op.operands
        if all(one.value not in brought for one in step.targets):
            yield f"{where(op)} loads {_title(step.targets[0])}"
        if isinstance(op, tpu.LoadOp) and step.kept != op.kept_at:
            yield f"{where(op)} copies from byte {step.kept}"
    elif isinstance(step, Store):
        stored = op.operands[0] if isinstance(op, tpu.StoreOp) else op.results[0]
        pairs = [(stored, step.source)]
        known = op.kept_at if isinstance(op, tpu.StoreOp) else None
        if step.kept not in (None, known):
            yield f"{where(op)} keeps its value at byte {step.kept}"
    else:
        pairs = [*zip(op.operands, step.operands, strict=True), (op.results[0], step.out)]
    for value, buffer in pairs:
        wanted = isinstance(value.type, TensorType)
        if wanted != (buffer is not None) or (buffer is not None and buffer.value is not value):
            found = "nothing" if buffer is None else _title(buffer)
            yield f"{where(op)} has {found} for '{name_of(value)}'"


def _goes_on(step: Compute) -> Iterator[str]:
    """A slice that goes on from the one before has that one."""
    axis = step.op.goes_on_along() if isinstance(step.op, LocalGen) else None
    if axis is None:
        return
    start, end = _extent(step.out.place)[axis][0], 0
    if step.before is not None:
        end = sum(_extent(step.before.place)[axis])
    if start != end:
        yield f"{where(step.op)} goes on along {axis} from {start}, has what is up to {end}"


def _missing(step: Compute, program: TileProgram) -> Iterator[str]:
    """Operands hold all that the slice of the result needs of them."""
    op, out = step.op, step.out.place
    if not isinstance(op, LocalGen) or out.form is not Form.PLAIN:
        return
    extent: dict[Loop, Range] = {**_extent(out)}
    if step.sum is not None:
        extent["k"] = step.sum.part
    for index, buffer in enumerate(step.operands):
        if buffer is None or buffer.place.form not in (Form.PLAIN, Form.COEFFICIENTS):
            continue
        whole, held = buffer.place.full, _extent(buffer.place)
        n, c, h, w = op.loops(index)
        loops: dict[Axis, Loop] = {"n": n, "c": c, "d": "d", "h": h, "w": w}
        for axis in AXES if buffer.place.form is Form.PLAIN else ("c",):
            of, loop = getattr(whole, axis), loops[axis]
            if held[axis] == (0, of):
                continue
            if loop not in extent:
                yield f"{where(op)} has a part of operand {index}, of which it sums up all"
                continue
            start, size = extent[loop]
            part = Part(axis, start, size, getattr(out.full, axis), program.kind)
            if loop == "k":
                needed = op.of_sum((start, size), of)
            elif loop != axis or (axis == "c" and index in op.channel_weights()):
                needed = start, size
            else:
                needed = op.backward(part, index, of)
            if needed is None:
                yield f"{where(op)} cannot be cut along {axis} as operand {index} is"
                continue
            first, count = needed
            low, length = held[axis]
            if first < low or first + count > low + length:
                yield (
                    f"{where(op)} needs {axis} {first} to {first + count} of "
                    f"'{name_of(buffer.value)}', {_title(buffer)} has {low} to {low + length}"
                )


def _extent(place: LocalValue) -> dict[Axis, Range]:
    """Start and size along each axis."""
    n, c, h, w = place.tensor.shape
    sizes = Ncdhw(n // place.depth, c, place.depth, h, w)
    return {axis: (getattr(place.start, axis), getattr(sizes, axis)) for axis in AXES}


def _uncovered(programs: Sequence[TileProgram]) -> Iterator[str]:
    """All of every result is stored, and kept if it is to be."""
    stored: dict[tuple[Operation, bool], list[Store]] = {}
    for program in programs:
        for step in program.steps:
            if isinstance(step, Store):
                stored.setdefault((step.op, step.kept is not None), []).append(step)
    for op in _storing(programs[0].op):
        for is_kept in _ways(op):
            how, verb = ("kept", "keeps") if is_kept else ("stored", "stores")
            if (op, is_kept) not in stored:
                yield f"nothing {verb} {where(op)}"
            elif (hole := _hole(stored[op, is_kept])) is not None:
                ends = zip(AXES, hole, strict=True)
                parts = ", ".join(f"{axis} {a} to {b}" for axis, (a, b) in ends)
                yield f"{where(op)} is not {how} for {parts}"


def _ways(op: Operation) -> list[bool]:
    """Whether a result is to be kept: for each place where it must be."""
    if not isinstance(op, tpu.StoreOp) or op.kept is None:
        return [False]
    return [True] if op.is_only_kept else [False, True]


def _storing(whole: Operation) -> Sequence[Operation]:
    """The ops whose results leave a group; an op by itself."""
    if not isinstance(whole, tpu.GroupOp):
        return [whole]
    return [op for op in whole.body.block.ops if isinstance(op, tpu.StoreOp)]


def _hole(stores: Sequence[Store]) -> tuple[tuple[int, int], ...] | None:
    """A part of a value that none of these stores; None when there is none."""
    boxes = [_stored(store) for store in stores]
    full = stores[0].source.place.full
    edges = [
        sorted({0, size, *(edge for box in boxes for edge in box[axis] if 0 < edge < size)})
        for axis, size in enumerate(full)
    ]
    filled = np.zeros([len(places) - 1 for places in edges], np.bool_)
    for box in boxes:
        inside = (np.searchsorted(*pair) for pair in zip(edges, box, strict=True))
        filled[tuple(slice(*ends) for ends in inside)] = True
    if filled.all():
        return None
    first = np.unravel_index(np.argmin(filled), filled.shape)
    return tuple((at[i], at[i + 1]) for i, at in zip(first, edges, strict=True))


def _stored(store: Store) -> tuple[tuple[int, int], ...]:
    """First and last + 1 index along each axis."""
    extent = _extent(store.source.place)
    ends = (start + size for start, size in extent.values())
    return tuple(zip(store.start, ends, strict=True))


def _title(buffer: Buffer) -> str:
    """A slice of a value, for messages."""
    place = buffer.place
    return f"'{name_of(buffer.value)}' from {list(place.start)} on (byte {place.tensor.address})"
