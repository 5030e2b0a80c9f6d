"""What to change first: the kinds of layers that a program loses most cycles with, and why."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.blocks import block_of, kind_of
from xdsl_tpu.backend.report.gap import Cause, Spent, spent, total
from xdsl_tpu.backend.report.groups import Groups
from xdsl_tpu.backend.report.usage import floor
from xdsl_tpu.backend.timing import Timeline

MOST = 3
"""Proposals that are made."""

_ADVICE = {
    Cause.ZEROS: "channels in multiples of the lanes: columns, rows, blocks or groups are taken "
    "together where there are fewer, which takes less than leaving the array empty",
    Cause.SHAPE: "give products sizes that fill it: rows or output channels in multiples of the "
    "lanes, longer inner sizes, fewer groups or heads",
    Cause.VECTOR: "a cheaper function, or fewer elements: another activation, a norm or softmax "
    "over fewer values, factors folded into weights",
    Cause.REORDER: "order dimensions so that neighbours agree, or fold the change into weights",
    Cause.WEIGHTS: "less to load: narrower weights, or more computed with each",
    Cause.SPILLS: "keep them on the chip",
    Cause.MOVES: "make the order unnecessary: the layout its readers want, whole last dimensions",
    Cause.WAITING: "longer commands: larger tiles, fewer and larger layers",
}
_TRANSFERS = ("tpu.Load", "tpu.Store")


@dataclass(frozen=True)
class Proposal:
    """Layers of one kind, alike in name but for numbers, and what they lose to one cause.

    `cycles` is what would be gained at most, were that cause gone. `why` is what the compiler or
    the figures say of it.
    """

    cause: Cause
    op: str
    layers: int
    example: str
    cycles: int
    why: str

    @property
    def advice(self) -> str:
        """What would help."""
        return _ADVICE[self.cause]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a report."""
        return asdict(self) | {"cause": self.cause.value, "advice": self.advice}


@dataclass(frozen=True)
class Explanation:
    """Where a program's cycles go.

    `floor` is what no program of the network beats, or where only the program is known, what no
    order of its products, weights, inputs and outputs does. `causes` sum to `cycles`; `blocks` and
    `ops` are cycles by block and op, the most first, causes within.
    """

    cycles: int
    floor: int
    causes: dict[Cause, int]
    blocks: dict[str, dict[Cause, int]]
    ops: dict[str, dict[Cause, int]]
    proposals: list[Proposal] = field(default_factory=list[Proposal])

    @property
    def ratio(self) -> float:
        """Cycles over the floor."""
        return self.cycles / max(1, self.floor)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a report."""
        return {
            "floor": self.floor,
            "ratio": round(self.ratio, 4),
            "causes": _plain(self.causes),
            "blocks": {name: _plain(causes) for name, causes in self.blocks.items()},
            "ops": {name: _plain(causes) for name, causes in self.ops.items()},
            "proposals": [one.as_dict() for one in self.proposals],
        }


def explain(
    program: Program,
    timelines: Sequence[Timeline],
    chip: Chip,
    network_floor: int | None = None,
    groups: Groups | None = None,
) -> Explanation:
    """Divide the cycles of a run, and say what would gain most.

    `network_floor` is that of `Needs.cycles`; `groups` tell why values leave the chip. One
    timeline for each core: what cycles are spent on is the mean of the cores.
    """
    rows, cycles = spent(program, timelines, chip), timelines[0].total
    makers = {
        layer.name: layer.op for layer in program.layers if layer.op and layer.op not in _TRANSFERS
    }
    own = floor(program, timelines, chip)
    return Explanation(
        cycles,
        max(own.array, own.ddr) if network_floor is None else network_floor,
        total(rows, cycles),
        _divided(rows, [block_of(row.layer.name) for row in rows]),
        _divided(rows, [_op(row, makers) for row in rows]),
        _proposals(rows, makers, groups or Groups(), chip),
    )


def _plain(causes: dict[Cause, int]) -> dict[str, int]:
    return {cause.value: cycles for cause, cycles in causes.items() if cycles}


def _op(row: Spent, makers: dict[str, str]) -> str:
    """The op of a layer; for a transfer that which makes the value, where that is known."""
    plain = row.layer.name.removeprefix("load_").removeprefix("store_")
    return makers.get(plain, row.layer.op or "(none)")


def _divided(rows: list[Spent], keys: list[str]) -> dict[str, dict[Cause, int]]:
    parts: dict[str, list[Spent]] = {}
    for row, key in zip(rows, keys, strict=True):
        parts.setdefault(key, []).append(row)
    cycles = {key: round(sum(sum(r.cycles.values()) for r in rows)) for key, rows in parts.items()}
    ordered = sorted(parts, key=lambda key: -cycles[key])
    return {key: total(parts[key], cycles[key]) for key in ordered if cycles[key]}


def _proposals(
    rows: Iterable[Spent], makers: dict[str, str], groups: Groups, chip: Chip
) -> list[Proposal]:
    kinds: dict[tuple[Cause, str, str], list[Spent]] = {}
    for row in rows:
        key = kind_of(row.layer.name), _op(row, makers)
        for cause in row.cycles:
            if cause in _ADVICE:
                kinds.setdefault((cause, *key), []).append(row)
    lost = {key: sum(row.cycles[key[0]] for row in members) for key, members in kinds.items()}
    first = sorted(kinds, key=lambda key: -lost[key])[:MOST]
    return [
        Proposal(
            cause,
            op,
            len({row.layer.name for row in members}),
            _plain_name(members),
            round(lost[key]),
            _why(cause, members, groups, chip),
        )
        for key in first
        for cause, op, members in [(key[0], key[2], kinds[key])]
    ]


def _plain_name(members: list[Spent]) -> str:
    names = [row.layer.name for row in members]
    return min(names, key=lambda name: (name.startswith("load_"), len(name)))


def _why(cause: Cause, members: list[Spent], groups: Groups, chip: Chip) -> str:
    """What the compiler or the figures say of these layers."""
    cycles = sum(row.cycles[cause] for row in members)
    if cause is Cause.ZEROS:
        array = sum(row.cycles.get(Cause.ARRAY, 0) for row in members)
        return f"{cycles / (array + cycles):.1%} of what the array multiplies are zeros"
    if cause is Cause.SHAPE:
        array = sum(row.cycles.get(one, 0) for row in members for one in (Cause.ARRAY, Cause.ZEROS))
        return f"the array does {array / (array + cycles):.1%} of what it could"
    if cause not in (Cause.SPILLS, Cause.MOVES, Cause.WEIGHTS):
        return ""
    moved = sum(row.bytes.get(cause, 0) for row in members)
    text = f"{moved / 1e6:,.2f} MB in all"
    if cause is Cause.MOVES:
        text += f", {moved / cycles:.1f} bytes a cycle of {chip.load_bytes_per_cycle}"
    reasons = Counter(filter(None, (_reason(row, groups) for row in members)))
    return f"{text}; {reasons.most_common(1)[0][0]}" if reasons else text


def _reason(row: Spent, groups: Groups) -> str:
    plain = row.layer.name.removeprefix("load_").removeprefix("store_")
    return groups.boundary(plain)
