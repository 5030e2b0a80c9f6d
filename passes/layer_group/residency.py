"""What lies in local memory when, from the IR of a group alone.

The steps are those of the code generator: a straight group's in order, otherwise the software
pipeline unrolled over all slices. A value of a slice lies there from the step that makes or loads
it to the last that reads it, both included, since what runs in one time step runs at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.local.schedule import Event, ginfo, is_held
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import PackPlace, pack_of
from xdsl_tpu.dialects.tpu.local import LocalReshape
from xdsl_tpu.dialects.tpu.op import LocalOp


@dataclass(frozen=True, slots=True)
class Stay:
    """Bytes [start, end) of every lane taken in the time steps [first, last].

    `what` is for messages. `owner` is the op whose result lies there, at the root of its views;
    `slice` the slice; `pack` the number of the pack that it is part of.
    """

    what: str
    owner: Operation
    slice: int
    first: int
    last: int
    start: int
    end: int
    pack: int | None = None

    def meets(self, other: "Stay") -> bool:
        """Whether both need the same byte in the same time step."""
        together = self.first <= other.last and other.first <= self.last
        return together and self.start < other.end and other.start < self.end


def pack_place(op: Operation) -> PackPlace | None:
    """The place in a pack of the weight that a Load brings."""
    if not isinstance(op, tpu.LoadOp) or not isinstance(op.input.owner, top.WeightOp):
        return None
    return pack_of(op.input.owner)


def described(op: Operation) -> str:
    """An op's name in quotes and what it is."""
    return f"'{name_of(op)}' ({op.name})"


def stays(schedule: Sequence[Event]) -> list[Stay]:
    """Everything that takes local memory: values of all slices, scratch, and packs in transfer."""
    spans = _value_spans(schedule)
    loaded = _pack_steps(schedule)
    found: list[Stay] = []
    for (op, index), (first, last, start, end) in spans.items():
        place = pack_place(op)
        number = place.number if place is not None else None
        if number is not None:
            first = min(first, loaded[number])
        found.append(Stay(described(op), op, index, first, last, start, end, number))
    return [*found, *_scratch(schedule), *_pack_transfers(schedule, loaded)]


def _value_spans(
    schedule: Sequence[Event],
) -> dict[tuple[Operation, int], tuple[int, int, int, int]]:
    """First and last step, first and last byte of every value that is no view."""
    spans: dict[tuple[Operation, int], tuple[int, int, int, int]] = {}
    for event in schedule:
        touched = [*event.op.operands]
        if not isinstance(event.op, tpu.StoreOp):
            touched += event.op.results[:1]
        for value in touched:
            owner = value.owner
            if not isinstance(owner, LocalOp) or owner.ginfo is None:
                continue
            root = root_of(owner)
            key = (root, 0 if is_held(root) else event.slice)
            start = owner.ginfo.out_addr.value.data
            end = start + owner.ginfo.out_size.value.data
            known = spans.get(key, (event.step, event.step, start, end))
            spans[key] = (
                min(known[0], event.step),
                max(known[1], event.step),
                min(known[2], start),
                max(known[3], end),
            )
    return spans


def root_of(op: Operation) -> Operation:
    """The op that made the memory which an op's result is."""
    while isinstance(op, LocalReshape):
        source = op.operands[0].owner
        if not isinstance(source, LocalOp) or source.ginfo is None:
            break
        if source.ginfo.out_addr != ginfo(op).out_addr:
            break
        op = source
    return op


def _scratch(schedule: Sequence[Event]) -> Iterator[Stay]:
    for event in schedule:
        info = ginfo(event.op)
        start, size = info.buffer_addr.value.data, info.buffer_size.value.data
        if size:
            what = f"the scratch of {described(event.op)}"
            yield Stay(what, event.op, event.slice, event.step, event.step, start, start + size)


def _pack_steps(schedule: Sequence[Event]) -> dict[int, int]:
    """When each pack is loaded: with the first Load of any of its weights."""
    steps: dict[int, int] = {}
    for event in schedule:
        place = pack_place(event.op)
        if place is not None:
            steps.setdefault(place.number, event.step)
    return steps


def _pack_transfers(schedule: Sequence[Event], loaded: Mapping[int, int]) -> Iterator[Stay]:
    """All bytes that the transfer of a pack writes, in the step in which it does."""
    seen: set[int] = set()
    for event in schedule:
        place = pack_place(event.op)
        if place is None or place.number in seen:
            continue
        seen.add(place.number)
        base = ginfo(event.op).out_addr.value.data - place.offset
        what, step = f"the transfer of pack {place.number}", loaded[place.number]
        end = base + place.lane_bytes
        yield Stay(what, event.op, event.slice, step, step, base, end, place.number)


def clashes(all_stays: Sequence[Stay]) -> Iterator[tuple[Stay, Stay]]:
    """Pairs that need the same byte at the same time, each pair of ops once."""
    ordered = sorted(all_stays, key=lambda stay: stay.start)
    seen: set[tuple[str, str]] = set()
    active: list[Stay] = []
    for stay in ordered:
        active = [other for other in active if other.end > stay.start]
        for other in active:
            if not stay.meets(other) or _allowed(stay, other):
                continue
            pair = (other.what, stay.what)
            if pair not in seen:
                seen.add(pair)
                yield other, stay
        active.append(stay)


def _allowed(a: Stay, b: Stay) -> bool:
    if a.pack is not None and a.pack == b.pack:
        return a.what.startswith("the transfer") or b.what.startswith("the transfer")
    return _replaces(a, b) or _replaces(b, a)


def _replaces(old: Stay, new: Stay) -> bool:
    """Whether an op writes its result over an operand that it is the last to read."""
    if not isinstance(new.owner, LocalOp) or not new.owner.may_overwrite():
        return False
    if old.slice != new.slice or old.last != new.first:
        return False
    sources = {root_of(o.owner) for o in new.owner.operands if isinstance(o.owner, Operation)}
    return old.owner in sources and old.start == new.start
