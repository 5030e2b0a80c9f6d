"""Why there is a boundary between two groups, or between a group and an op that works from DDR."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

from xdsl.ir import Operation

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.layer_group.base_groups import BaseGroup
from xdsl_tpu.passes.layer_group.lmem_size import alignment
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.search import Boundary, Searcher

NO_LOCAL_FORM = "no local form"
SHAPE_RULE = "shape rule"
LOCAL_MEMORY = "local memory"
NOT_WORTH_IT = "not worth it"

MOST_TIMES = 64
"""A range that does not fit into so many times the local memory fails by something else."""


@dataclass(frozen=True)
class Explained:
    """One boundary: the names of the parts on both sides, the kind of reason, what it was.

    `over` is by how many bytes per lane no group over the boundary fits, straight or in slices;
    `cycles` by how many cycles of the cost model the network would be slower without it. `last`
    and `first` are the names of the ops beside it.
    """

    before: str
    after: str
    kind: str
    detail: str
    over: int = 0
    cycles: int = 0
    last: str = ""
    first: str = ""

    @property
    def reason(self) -> str:
        """The kind, by how much, and what it was."""
        amount = ""
        if self.kind == LOCAL_MEMORY:
            amount = f", over by {self.over} bytes per lane"
        elif self.kind == NOT_WORTH_IT:
            amount = f" by {self.cycles} cycles"
        return f"{self.kind}{amount}: {self.detail}"

    def __str__(self) -> str:
        return f"{self.before} | {self.after}: {self.reason}"


def explain(
    bases: Sequence[BaseGroup],
    groups: Sequence[Group],
    searcher: Searcher,
    search_shortfall: bool = True,
) -> list[Explained]:
    """One entry for every place where a group ends or begins beside something else.

    `searcher` is the one that found the groups, and knows what it decided against. Without
    `search_shortfall`, `over` is by how much the plan of the joined range failed, which is quicker
    to know than how much more would do.
    """
    known = {(b.before, b.after): b for b in searcher.boundaries}
    found: list[Explained] = []
    for before, after in pairwise(_parts(bases, groups)):
        if not before.is_group and not after.is_group:
            continue  # two ops that both work from DDR: no group is near
        one = _between(before, after, known, searcher, search_shortfall)
        ends = {"last": name_of(before.ops[-1]) or "", "first": name_of(after.ops[0]) or ""}
        found.append(replace(one, **ends))
    return found


@dataclass(frozen=True)
class _Part:
    """A group, which may have a single op, or an op that works from DDR; where it comes from."""

    ops: tuple[Operation, ...]
    base: BaseGroup
    is_group: bool

    def __str__(self) -> str:
        first, last = f"'{name_of(self.ops[0])}'", f"'{name_of(self.ops[-1])}'"
        if not self.is_group:
            return f"{first} ({self.ops[0].name})"
        if len(self.ops) == 1:
            return f"group of 1 op {first} ({self.ops[0].name})"
        return f"group of {len(self.ops)} ops {first} .. {last}"


def _parts(bases: Sequence[BaseGroup], groups: Sequence[Group]) -> Iterator[_Part]:
    """Groups and ops left alone, in order."""
    group_of = {op: group for group in groups for op in group.ops}
    for base in bases:
        for op in base.ops:
            group = group_of.get(op)
            if group is None:
                yield _Part((op,), base, is_group=False)
            elif op is group.ops[0]:
                yield _Part(group.ops, base, is_group=True)


def _between(
    before: _Part,
    after: _Part,
    known: Mapping[tuple[Operation, Operation], Boundary],
    searcher: Searcher,
    search_shortfall: bool,
) -> Explained:
    names = (str(before), str(after))
    for base in (after.base, before.base):
        if base.why_global is not None:
            return Explained(*names, NO_LOCAL_FORM, base.why_global)
    boundary = known.get((before.ops[-1], after.ops[0]))
    if boundary is not None and boundary.is_choice:
        return Explained(*names, NOT_WORTH_IT, boundary.reason, cycles=boundary.cycles)
    joined = boundary.tried if boundary is not None else (before.ops[-1], *after.ops)
    refused = searcher.fit(joined)
    if isinstance(refused, Group):
        if boundary is not None:
            return Explained(*names, SHAPE_RULE, boundary.reason)
        return Explained(*names, NOT_WORTH_IT, "they fit together but are no faster")
    if search_shortfall:
        over = shortfall(joined, searcher)
    else:
        over = max(0, refused.over) if refused.over else None
    if over is None:
        return Explained(*names, SHAPE_RULE, refused.reason)
    return Explained(*names, LOCAL_MEMORY, refused.reason, over=over)


def shortfall(ops: Sequence[Operation], searcher: Searcher) -> int | None:
    """How many more bytes per lane local memory would need for ops to be one group in some form.

    None when no amount is enough.
    """
    low, unit = searcher.chip.local_bytes, alignment(searcher.chip)

    def fits(size: int) -> bool:
        larger = replace(searcher, chip=replace(searcher.chip, local_bytes=size), boundaries=[])
        return isinstance(larger.fit(ops), Group)

    high = low * MOST_TIMES
    if not fits(high):
        return None
    while high - low > unit:
        middle = (low + high) // 2 // unit * unit
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high - searcher.chip.local_bytes


def report(found: Sequence[Explained]) -> str:
    """All boundaries, one line each."""
    counts = {kind: 0 for kind in (NO_LOCAL_FORM, SHAPE_RULE, LOCAL_MEMORY, NOT_WORTH_IT)}
    for one in found:
        counts[one.kind] += 1
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return "\n".join([f"{len(found)} boundaries: {summary}", *(f"  {one}" for one in found)])


def write(found: Sequence[Explained], path: Path) -> None:
    """The same as JSON: `{"boundaries": [..]}`, each with the fields of `Explained` and its
    `reason` as it is printed."""
    boundaries = [{**asdict(one), "reason": one.reason} for one in found]
    text = json.dumps({"boundaries": boundaries}, indent=1)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise TpuError(f"explain_file {path}: cannot be written ({reason})") from error
