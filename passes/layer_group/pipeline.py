"""When each op, load and store of a group of several slices runs and where everything lies.

Pure functions on plain values. Steps are repeated for every slice as a software pipeline: in one
round slice k is loaded, slice k - 1 computed and slice k - 2 stored. Weights are loaded once and
held.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from xdsl_tpu.backend.first_fit import Buffer, Placed, Placement, Problem, peak_bytes
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.banks import in_other_banks
from xdsl_tpu.passes.layer_group.plan import (
    Item,
    Plan,
    Role,
    Room,
    Step,
    Uses,
    addresses_of,
    reach_of,
    results_of,
    scratch_buffers,
    scratch_of,
    stored_roots,
    uses_of,
)
from xdsl_tpu.passes.layer_group.values import Refusal

_Apart: TypeAlias = tuple[bool, bool]
"""Whether memory of inputs, and of results, serves nothing else while it is transferred."""

_APART: tuple[_Apart, ...] = tuple(product((True, False), (True, False)))
"""In the order in which they are tried."""


@record(frozen=True, slots=True)
class Times:
    """The time step behind which each value is loaded, and the step of the next slice that may
    write where a result lies; op k works in step k + 1."""

    load: Mapping[object, int]
    clear: Mapping[object, int]


def earliest(ops: Sequence[Step], items: Mapping[object, Item]) -> Times:
    """Where there is room for everything; sizes are not looked at."""
    return _times(ops, items, uses_of(ops, items), _APART[0])


def plan_sliced(ops: Sequence[Step], items: Mapping[object, Item], room: Room) -> Plan | Refusal:
    """Plan a group of several slices: everything has one buffer, held weights for all slices.

    The next slice of an input is loaded as soon as this one has been read, and nothing is put
    over a result until it is made again, as far as there is room; otherwise inputs are loaded in
    the last step and results are stored before the next slice is computed.
    """
    uses = uses_of(ops, items)
    plan: Plan | Refusal = Refusal("")
    for apart in _APART:
        plan = _sliced(ops, items, uses, room, apart)
        if isinstance(plan, Plan):
            break
    return plan


def _times(ops: Sequence[Step], items: Mapping[object, Item], uses: Uses, apart: _Apart) -> Times:
    last, stored, (inputs, results) = len(ops) + 1, stored_roots(items), apart
    loads: dict[object, int] = {}
    clear: dict[object, int] = {}
    for key, item in items.items():
        if key not in uses.first:
            continue
        if item.role is Role.WEIGHT:
            loads[key] = last
        elif item.role is Role.INPUT:
            loads[key] = uses.last[item.root] + 1 if inputs and key not in stored else last
        if item.root == key and item.role is not Role.WEIGHT and key in stored:
            clear[key] = uses.first[key] if results and key not in loads else 1
    return Times(loads, {k: clear[i.root] for k, i in items.items() if i.stored})


def _sliced(
    ops: Sequence[Step],
    items: Mapping[object, Item],
    uses: Uses,
    room: Room,
    apart: _Apart,
) -> Plan | Refusal:
    last, times = len(ops) + 1, _times(ops, items, uses, apart)
    stored = stored_roots(items)
    buffers = scratch_buffers(ops)
    for key, item in items.items():
        if item.root != key or key not in uses.first:
            continue
        if item.role is Role.WEIGHT:
            buffers.append(Buffer(key, item.size, 0, last, always=True))
            continue
        start, end = times.load.get(key, uses.first[key]), uses.last[key]
        if key in stored:
            end = uses.first[key] - 1 if apart[1] and key not in times.load else 0
        through = start == end + 1 or (start == last and end == 0)
        buffers.append(Buffer(key, item.size, start, end, always=through))
    taken: list[Placed] = [
        (Buffer(span, span[1] - span[0], 0, last, always=True), span[0]) for span in room.taken
    ]
    found = _found(buffers, taken, room)
    if isinstance(found, Refusal):
        return found
    limits, results = [found.used] * (last + 1), results_of(ops, items, buffers)
    fixed = [buffer for buffer, _ in taken]
    placement = in_other_banks(
        [*buffers, *fixed], found, results, room.bank, limits, reach_of(items, room)
    )
    places = placement.of([*buffers, *fixed])
    return Plan(
        steps=last + 1,
        op_step={op.key: index + 1 for index, op in enumerate(ops)},
        load_step=times.load,
        store_step={k: 0 for k, i in items.items() if i.stored},
        address=addresses_of(items, places),
        scratch=scratch_of(ops, places),
        scratch_bytes={op.key: op.scratch for op in ops if op.scratch},
        activations=placement.used,
        head=0,
        clear_step=times.clear,
    )


def _found(buffers: Sequence[Buffer], taken: Sequence[Placed], room: Room) -> Placement | Refusal:
    """Places for the buffers of a slice, and behind them those of what is taken already."""
    size = room.size - sum(buffer.size for buffer, _ in taken)
    needed = peak_bytes(buffers)
    if needed <= size:
        problem = Problem.of(buffers, room.unit)
        found = problem.first_fit()
        needed = found.used
        if taken:
            beside = problem.beside([lambda: taken], [room.size] * len(buffers))
            if beside is not None:
                placement, others = beside
                places = (*placement.offsets, *(at for _, at in others))
                return Placement(places, placement.used)
            needed = max(needed, size + room.unit)
        elif needed <= size:
            return found
    return Refusal(f"a slice needs {needed} bytes per lane of {size}", needed - size)
