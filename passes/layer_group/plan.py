"""When each op, load and store of a group runs and where everything lies.

Pure functions on plain values. Op k of a group works in time step k + 1; the step before is
there for the loads of the first op, the step after the last for its store.

*Straight* groups have one slice. Their weights stream through a ring (see `ring`); loads of
activations are issued in the same order, by first use, so that nothing overtakes what is needed
earlier. Groups of several slices: `pipeline`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from functools import partial

from xdsl_tpu.backend.first_fit import Buffer, Placed, Placement, Problem, Span
from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.banks import ends_of, in_other_banks
from xdsl_tpu.passes.layer_group.ring import Stream, next_head, no_room, schedule
from xdsl_tpu.passes.layer_group.values import Refusal


@record(frozen=True, slots=True)
class Room:
    """Bytes of every lane that a group may use; addresses are multiples of `unit`. Scratch memory
    had better be in another bank, of so many bytes, than a result; none are known if that is 0.
    Weights of which a lane has `row` bytes are loaded at the full rate. A group of several slices
    uses nothing of what is `taken`."""

    size: int
    unit: int
    bank: int = 0
    row: int = 0
    taken: Sequence[Span] = ()


@record(frozen=True, slots=True)
class Ring:
    """What other groups leave of the ring of weights: it begins at `low`, and at `later` once the
    group before is done, and is filled from `head` on."""

    low: int = 0
    later: int = 0
    head: int | None = None

    def from_step(self, step: int) -> int:
        """Where it begins for what is loaded in a time step: the first op, of step 1, may compute
        while the group before does."""
        return self.later if step > 1 else self.low


WHOLE = Ring()
"""No other groups."""


@record(frozen=True, slots=True)
class Late:
    """Bytes [start, end) of a lane that a group needs; `left`: how many steps it has left when it
    does no longer, 0 of what is stored at the end."""

    start: int
    end: int
    left: int


class Role(Enum):
    """Where a value comes from."""

    WEIGHT = "weight"
    INPUT = "input"
    INTERNAL = "internal"


@record(frozen=True, slots=True)
class Item:
    """A value as the planner sees it: bytes per lane of its largest slice.

    `root` is the value whose memory it shares (itself, but for views). `stored`: it leaves the
    group. `packs`: it is a weight that may be loaded in one transfer with those beside it.
    """

    key: object
    role: Role
    size: int
    root: object
    stored: bool = False
    packs: bool = False


@record(frozen=True, slots=True)
class Step:
    """An op as the planner sees it: values read, values made, scratch bytes per lane."""

    key: object
    reads: tuple[object, ...]
    makes: tuple[object, ...]
    scratch: int = 0


@record(frozen=True)
class Plan:
    """A planned group. Time steps are 0 to `steps` - 1; addresses are bytes within a lane.

    `activations` is the memory below the weights. `head` is where the ring goes on. `clear_step`:
    the step of the next slice that may write where a result lies, which must be stored by then.
    `lows`: where the ring of weights begins for what is loaded in each step. `beside`: how much of
    what the group before needs lies where nothing else does."""

    steps: int
    op_step: Mapping[object, int]
    load_step: Mapping[object, int]
    store_step: Mapping[object, int]
    address: Mapping[object, int]
    scratch: Mapping[object, int]
    scratch_bytes: Mapping[object, int]
    activations: int
    head: int
    clear_step: Mapping[object, int] = field(default_factory=dict[object, int])
    late: Sequence[Late] = ()
    lows: Sequence[int] = ()
    beside: int = 0


@record(frozen=True)
class Uses:
    """First and last time step that touches each root value."""

    first: dict[object, int]
    last: dict[object, int]


def uses_of(ops: Sequence[Step], items: Mapping[object, Item]) -> Uses:
    first: dict[object, int] = {}
    last: dict[object, int] = {}
    for index, op in enumerate(ops):
        for key in (*op.reads, *op.makes):
            root = items[key].root
            first.setdefault(root, index + 1)
            last[root] = index + 1
    return Uses(first, last)


def stored_roots(items: Mapping[object, Item]) -> set[object]:
    return {item.root for item in items.values() if item.stored}


def scratch_buffers(ops: Sequence[Step]) -> list[Buffer]:
    return [
        Buffer(("scratch", op.key), op.scratch, index + 1, index + 1)
        for index, op in enumerate(ops)
        if op.scratch
    ]


def addresses_of(items: Mapping[object, Item], roots: Mapping[object, int]) -> dict[object, int]:
    return {key: roots[i.root] for key, i in items.items() if i.root in roots}


def scratch_of(ops: Sequence[Step], placed: Mapping[object, int]) -> dict[object, int]:
    return {op.key: placed[("scratch", op.key)] for op in ops if op.scratch}


def plan_straight(
    ops: Sequence[Step],
    items: Mapping[object, Item],
    room: Room,
    ring: Ring = WHOLE,
    before: Sequence[Late] = (),
    wait: int = 0,
    lazy: int = 0,
) -> Plan | Refusal:
    """Plan a group of one slice. `before`: what the group in front of it needs. `wait`: for so many
    steps more than one nothing is put over what is being stored. `lazy`: so many of the ways to
    load inputs early are left out.

    The ring begins where `ring` says, or where the activations end that are still needed if that
    is higher. Inputs are loaded when the weights that are needed before them have been issued, if
    memory allows, otherwise each while the one before is worked on, or just before their use.
    """
    uses = uses_of(ops, items)
    first = {
        key: uses.first[key]
        for key, i in items.items()
        if i.role is Role.INPUT and key in uses.first
    }
    *early, late = _input_steps(first)
    last: Plan | Refusal | None = None
    for loads in early[lazy:]:
        plan = _straight(ops, items, uses, loads, room, ring, before, wait)
        if isinstance(plan, Plan):
            return plan
        if last is None:  # what has no room for late loads has none for any
            last = _straight(ops, items, uses, late, room, ring, before, wait)
        if isinstance(last, Refusal):
            return last
    return last or _straight(ops, items, uses, late, room, ring, before, wait)


def _input_steps(first: Mapping[object, int]) -> Iterator[dict[object, int]]:
    """Load steps of all inputs, by when each is used `first`: 0; that in which the input before is
    first used; the one before their first use. The first that there is room for loads earliest."""
    inputs = sorted(first, key=first.__getitem__)
    firsts = [first[key] for key in inputs]
    yield dict.fromkeys(inputs, 0)
    if len(inputs) > 1:
        before = [0, *firsts[:-1]]
        steps = [min(one, first - 1) for one, first in zip(before, firsts, strict=True)]
        yield dict(zip(inputs, steps, strict=True))
    yield {key: first - 1 for key, first in zip(inputs, firsts, strict=True)}


def _inputs_by(step: int, loads: Mapping[object, int], first: Mapping[object, int]) -> int:
    """The load step of the last input that is needed by a time step."""
    return max((load for key, load in loads.items() if first[key] <= step), default=0)


def _straight(
    ops: Sequence[Step],
    items: Mapping[object, Item],
    uses: Uses,
    loads: Mapping[object, int],
    room: Room,
    ring: Ring,
    before: Sequence[Late],
    wait: int,
) -> Plan | Refusal:
    steps = len(ops) + 2
    stored = stored_roots(items)
    buffers = scratch_buffers(ops)
    for key, item in items.items():
        if item.role is Role.WEIGHT or item.root != key or key not in uses.first:
            continue
        start = loads.get(key, uses.first[key])
        end = uses.last[key] + (1 + wait if key in stored else 0)
        buffers.append(Buffer(key, item.size, start, min(end, steps - 1)))
    made = (n for n, op in enumerate(ops) if any(items[key].root == key for key in op.makes))
    fixed = _fixed(before, next(made, 0) + 1)
    results, reach = results_of(ops, items, buffers), reach_of(items, room)
    placement, beside = _beside(buffers, room, results, steps, fixed, reach)
    places = placement.of(buffers)
    if (needed := placement.used) > room.size:
        return Refusal(
            f"activations need {needed} bytes per lane of {room.size}", needed - room.size
        )
    low, head = max(ring.low, placement.used), ring.head
    streams = _streams(items, uses, room, room.size - low)
    ends = ends_of(buffers, places, room.unit, steps)
    lower = [max(ring.from_step(step), end) for step, end in enumerate(ends)]
    slots = schedule(streams, low, room.size, head, lower.__getitem__)
    if slots is None:
        slots, lower = schedule(streams, low, room.size, head), [low] * len(lower)
    if slots is None:
        needed, why = no_room(streams, room.size - low, room.unit)
        return Refusal(
            f"activations ({placement.used} bytes per lane) leave {room.size - low} for weights, "
            f"{needed} {why}",
            needed - (room.size - low),
        )
    # Stores may take longer, but what the next group can lie beside is not more for that.
    until = {key: min(uses.last[key] + 1, steps - 1) for key in stored}
    address = places | {key: slot.address for key, slot in slots.items()}
    behind = {
        s.key: max(slots[s.key].load, _inputs_by(s.first + 1, loads, uses.first)) for s in streams
    }
    return Plan(
        steps=steps,
        op_step={op.key: index + 1 for index, op in enumerate(ops)},
        load_step=dict(loads) | behind,
        store_step={k: uses.last[i.root] + 1 for k, i in items.items() if i.stored},
        address=addresses_of(items, address),
        scratch=scratch_of(ops, places),
        scratch_bytes={op.key: op.scratch for op in ops if op.scratch},
        activations=placement.used,
        head=next_head(streams, slots, low, head),
        late=[
            Late(places[b.key], places[b.key] + b.size, steps - 1 - until.get(b.key, b.last))
            for b in buffers
        ],
        lows=lower,
        beside=beside,
    )


def _streams(items: Mapping[object, Item], uses: Uses, room: Room, left: int) -> list[Stream]:
    """Weights in the order of their first use. Where all of them fit side by side, those that may
    be loaded together come in front of what lies between them: of as many ops as fill a row."""
    weights = [item for item in items.values() if item.role is Role.WEIGHT]
    weights.sort(key=lambda item: uses.first[item.key])
    streams = [
        Stream(item.key, align(item.size, room.unit), uses.first[item.key] - 1, uses.last[item.key])
        for item in weights
    ]
    if sum(stream.size for stream in streams) > left:
        return streams
    order, between, taken, first = list[Stream](), list[Stream](), 0, -1
    for item, stream in zip(weights, streams, strict=True):
        if taken >= room.row and stream.first > first:
            order, between, taken = order + between, [], 0
        first, taken = stream.first, taken + (stream.size if item.packs else 0)
        (order if item.packs else between).append(stream)
    return order + between


def _fixed(before: Sequence[Late], first: int) -> list[Callable[[], list[Placed]]]:
    """What the group before needs at its end as buffers of this one, and their places: all of it,
    then less and less. What it stores is needed until the `first` step that makes something."""

    def needed(most: int) -> list[Placed]:
        return [
            (Buffer((most, n), one.end - one.start, 0, 0 if one.left else first), one.start)
            for n, one in enumerate(before)
            if one.left <= most
        ]

    return [partial(needed, most) for most in sorted({one.left for one in before}, reverse=True)]


def _beside(
    buffers: Sequence[Buffer],
    room: Room,
    results: Mapping[int, int],
    steps: int,
    before: Sequence[Callable[[], Sequence[Placed]]],
    reach: int,
) -> tuple[Placement, int]:
    """Places for the buffers of a group, beside some of another as far as that leaves the ring as
    much: so inputs come in while that works, and results are made while its own are stored. And
    beside how many."""
    problem = Problem.of(buffers, room.unit)
    plain = problem.first_fit()
    if plain.used > room.size:
        return plain, 0
    most = ends_of(buffers, plain.of(buffers), room.unit, steps)
    if found := problem.beside(before, [most[buffer.last] for buffer in buffers]):
        placement, others = found
        ends = ends_of(buffers, placement.of(buffers), room.unit, steps)
        fixed, places = zip(*others, strict=True)
        all_of_them = Placement((*placement.offsets, *places), placement.used)
        moved = in_other_banks([*buffers, *fixed], all_of_them, results, room.bank, ends, reach)
        return Placement(moved.offsets[: len(buffers)], moved.used), len(others)
    return in_other_banks(buffers, plain, results, room.bank, most, reach), 0


def reach_of(items: Mapping[object, Item], room: Room) -> int:
    """The end of the second bank, where that leaves room for all weights at once; else 0."""
    weights = (align(i.size, room.unit) for i in items.values() if i.role is Role.WEIGHT)
    return 2 * room.bank if 2 * room.bank + sum(weights) <= room.size else 0


def results_of(
    ops: Sequence[Step], items: Mapping[object, Item], buffers: Sequence[Buffer]
) -> dict[int, int]:
    """The buffer of an op's first result by that of its scratch memory."""
    numbers = {buffer.key: number for number, buffer in enumerate(buffers)}
    roots = {op.key: items[op.makes[0]].root for op in ops if op.scratch and op.makes}
    return {numbers["scratch", o]: numbers[root] for o, root in roots.items() if root in numbers}
