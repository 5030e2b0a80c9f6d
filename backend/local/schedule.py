"""When the ops of a group run: time steps, the software pipeline over slices, lifetimes.

In one time step the transfers come first, loads before stores, then the computations. With
several slices, or when an op stands before what it reads, stage s of the body works on slice
i - s in iteration i of the loop; otherwise every op runs once, in order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

from xdsl.ir import Operation

from xdsl_tpu.backend.first_fit import gaps
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import I64Array, ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw
from xdsl_tpu.dialects.tpu.attributes import LayerGroupAttr
from xdsl_tpu.dialects.tpu.op import LocalOp

Sections = tuple[int, int, int, int, int]
"""Index of a slice along n, c, d, h, w."""


@dataclass(frozen=True, slots=True)
class Event:
    """One op at work on one slice, in time step `step` counted over the whole run."""

    step: int
    op: LocalOp
    slice: int


def ginfo(op: Operation) -> LayerGroupAttr:
    """Slices, addresses and stage of an op in a group.

    Raises TpuError when the op has none.
    """
    if not isinstance(op, LocalOp) or op.ginfo is None:
        raise TpuError(f"{where(op)}: no ginfo; an op of a group needs one")
    return op.ginfo


def sections(group: tpu.GroupOp) -> list[Sections]:
    """The slices in order of work: c innermost, then w, h, d, n."""
    counts = [getattr(group, f"{axis}secs").value.data for axis in "ndhwc"]
    return [(n, c, d, h, w) for n, d, h, w, c in product(*map(range, counts))]


def slice_of(info: LayerGroupAttr, index: Sections) -> tuple[Ncdhw, Ncdhw]:
    """Sizes and start of a slice along all axes; an axis with one entry is not cut."""
    sizes: dict[str, int] = {}
    starts: dict[str, int] = {}
    for axis, k in zip("ncdhw", index, strict=True):
        lengths = ints(cast(I64Array, getattr(info, f"{axis}_slice")))
        places = ints(cast(I64Array, getattr(info, f"{axis}_idx")))
        if len(lengths) > 1 and k >= len(lengths):
            raise TpuError(f"section {k} is wanted of {axis}_slice {list(lengths)}")
        at = k if len(lengths) > 1 else 0
        sizes[axis], starts[axis] = lengths[at], places[at]
    return Ncdhw(**sizes), Ncdhw(**starts)


def slices_of(group: tpu.GroupOp, core: int = 0) -> list[int]:
    """The slices that a core works on, in order: those that `run_core_id` gives it, or all on the
    first core where that says nothing.

    Raises TpuError when it does not say it of every slice.
    """
    count, cores = len(sections(group)), ints(group.run_core_id)
    if not cores:
        return [] if core else list(range(count))
    if len(cores) != count:
        raise TpuError(f"{where(group)}: run_core_id has {len(cores)} cores for {count} slices")
    return [index for index, one in enumerate(cores) if one == core]


def events(group: tpu.GroupOp, core: int = 0) -> list[Event]:
    """Everything that runs on a core, in order of emission."""
    steps = _time_steps(group)
    mine = slices_of(group, core)
    slices = len(mine)
    if slices == 1 and _is_straight(steps):
        return [Event(k, op, mine[0]) for k, ops in enumerate(steps) for op in ops]
    stages = {op: ginfo(op).stage.value.data for ops in steps for op in ops}
    depth = max(stages.values(), default=0)
    return [
        Event(iteration * len(steps) + k, op, mine[iteration - stages[op]])
        for iteration in range(slices + depth)
        for k, ops in enumerate(steps)
        for op in ops
        if 0 <= iteration - stages[op] < slices
    ]


def _time_steps(group: tpu.GroupOp) -> list[list[LocalOp]]:
    """The ops of each time step, in order of emission."""
    body = [op for op in group.body.block.ops if isinstance(op, LocalOp)]
    flow = ints(group.flow)
    if flow in ((), (0,)):
        return [[op] for op in body]
    by_id = {ginfo(op).id.value.data: op for op in body}
    steps: list[list[LocalOp]] = []
    for entry in flow:
        if entry < 0:
            steps.append([])
        elif not steps or entry not in by_id:
            raise TpuError(f"{where(group)}: flow entry {entry} has no time step or no op")
        else:
            steps[-1].append(by_id.pop(entry))
    if by_id:
        names = ", ".join(where(op) for op in by_id.values())
        raise TpuError(f"{where(group)}: flow leaves out {names}")
    return [sorted(ops, key=_rank) for ops in steps]


def _rank(op: Operation) -> int:
    if isinstance(op, tpu.LoadOp):
        return 0
    return 1 if isinstance(op, tpu.StoreOp) else 2


def _is_straight(steps: Sequence[Sequence[LocalOp]]) -> bool:
    """Whether every op stands after what it reads: transfers in a later time step."""
    done: set[Operation] = set()
    for ops in steps:
        loaded: set[Operation] = set()
        for op in ops:
            needed = {o.owner for o in op.operands if isinstance(o.owner, LocalOp)}
            if isinstance(op, tpu.LoadOp):
                loaded.add(op)
                continue
            if not needed <= done:
                return False
            done.add(op)
        done |= loaded
    return True


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Time steps [first, last] in which bytes [start, end) of every lane are taken."""

    first: int
    last: int
    start: int
    end: int


def lifetimes(schedule: Sequence[Event], slices: Sequence[Sections]) -> Iterator[Lifetime]:
    """When each value of each slice lies in local memory, from its definition to its last use.

    What is loaded stays for all slices that need the same of it, a weight for all there are.
    """
    defined: dict[tuple[Operation, object], int] = {}
    used: dict[tuple[Operation, object], int] = {}
    for event in schedule:
        key = (event.op, _instance(event.op, event.slice, slices))
        defined.setdefault(key, event.step)
        used[key] = max(used.get(key, 0), event.step)
        for operand in event.op.operands:
            if isinstance(operand.owner, LocalOp):
                source = (operand.owner, _instance(operand.owner, event.slice, slices))
                used[source] = max(used.get(source, 0), event.step)
    for key, first in defined.items():
        info = ginfo(key[0])
        start = info.out_addr.value.data
        yield Lifetime(first, used[key], start, start + info.out_size.value.data)


def is_held(op: Operation) -> bool:
    """Whether the op is a load that is done once for all slices."""
    return isinstance(op, tpu.LoadOp) and op.lmem_type.value.data == 0


def _instance(op: Operation, index: int, slices: Sequence[Sections]) -> object:
    """What tells one slice of an op's result from another."""
    if not isinstance(op, tpu.LoadOp) or len(slices) == 1:
        return index
    return 0 if is_held(op) else slice_of(ginfo(op), slices[index])


STORING = 64
"""For so many time steps a store may go on, at most: what is put over it waits for that."""


def stored_places(schedule: Sequence[Event]) -> list[Lifetime]:
    """What is stored, in the time steps behind that in which that may still go on."""
    found: list[Lifetime] = []
    for event in schedule:
        if isinstance(event.op, tpu.StoreOp):
            info = ginfo(event.op)
            start = info.out_addr.value.data
            end = start + info.out_size.value.data
            found.append(Lifetime(event.step, event.step + STORING, start, end))
    return found


def free_regions(
    taken: Sequence[Lifetime],
    steps: Mapping[int, Sequence[tuple[int, int]]],
    at: int,
    size: int,
    stored: Sequence[Lifetime] = (),
) -> list[tuple[int, int]]:
    """The parts of [0, size) that nothing needs in time step `at` or the one after.

    Large ones come first, and those with something `stored` last: `steps` are further ranges in
    use, by time step.
    """
    used = [(t.start, t.end) for t in taken if t.first <= at + 1 and t.last >= at]
    used += steps.get(at, ())
    busy = [(t.start, t.end) for t in stored if t.first <= at <= t.last]

    def rank(region: tuple[int, int]) -> tuple[bool, int]:
        start, end = region
        return any(low < end and start < high for low, high in busy), start - end

    return sorted(gaps(sorted(used), end=size), key=rank)
