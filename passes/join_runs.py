"""Ops in an order in which those without a local form part the others in fewer places.

Between two ops without a local form lies a run of ops that may share layer groups. What the second
of the two needs of that run often does not depend on the first: it goes in front of both, the rest
of the run behind both, and one place parts what two parted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.layer_group.base_groups import computing_ops, why_not_local
from xdsl_tpu.passes.tensors import is_weight, size_in_bytes


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring ops that all have a local form, or that all have none."""

    ops: tuple[Operation, ...]
    is_local: bool


def join_runs(block: Block) -> None:
    """Put ops in an order with fewer runs of ops that have a local form.

        Cast a, Gather a, Mul a, Cast b, Gather b, Mul b  ->  Cast a, Cast b, Gather a, Gather b,
                                                              Mul a, Mul b

    Done only where fewer bytes come from DDR and go there for it: a value that a run makes for
    others is stored once, and every run loads what it reads of others.
    """
    ops = computing_ops(block)
    made = [_Run(tuple(run), local) for local, run in groupby(ops, lambda op: not _parts(op))]
    runs = _joined(made)
    if len(runs) == len(made):
        return
    end = ops[-1].next_op
    for op in (op for run in runs for op in run.ops):
        op.detach()
        if end is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, end)


def _parts(op: Operation) -> bool:
    return why_not_local(op) is not None


def _joined(runs: Sequence[_Run]) -> list[_Run]:
    """The runs after all the joins that save something, from the first on."""
    found = list[_Run]()
    rest = list(reversed(runs))
    while rest:
        found.append(rest.pop())
        while len(found) >= 3 and not found[-1].is_local:
            after = rest[-1] if rest and rest[-1].is_local else None
            joined = _join(found[-4:], after)
            if joined is None:
                break
            del found[-len(joined.replaced) :]
            found += joined.before
            if joined.behind is not None:
                if after is not None:
                    rest.pop()
                rest.append(joined.behind)
    return found


@dataclass(frozen=True, slots=True)
class _Join:
    """What takes the place of runs, and the run behind them."""

    replaced: tuple[_Run, ...]
    before: tuple[_Run, ...]
    behind: _Run | None


def _join(runs: Sequence[_Run], after: _Run | None) -> _Join | None:
    """Join the last two of `runs` that have no local form; None where it cannot be or costs more.

    `runs` ends with: (what has a local form,) what has none, what has one, what has none.
    """
    first, middle, second = runs[-3:]
    if first.is_local:
        return None
    front = runs[-4] if len(runs) == 4 else _Run((), True)
    bound = _reached(first.ops, middle.ops)
    needed = _needed(second.ops, middle.ops)
    if any(op in bound for op in needed):
        return None
    staying = tuple(op for op in middle.ops if op not in needed)
    behind = (*staying, *(after.ops if after is not None else ()))
    before = (
        _Run((*front.ops, *(op for op in middle.ops if op in needed)), True),
        _Run((*first.ops, *second.ops), False),
    )
    last = _Run(behind, True)
    old = [front, first, middle, second, *([after] if after is not None else [])]
    if _traffic((*before, last)) >= _traffic(old):
        return None
    replaced = tuple(runs[-4:])
    kept = tuple(run for run in before if run.ops)
    return _Join(replaced, kept, last if behind else None)


def _reached(makers: Iterable[Operation], ops: Sequence[Operation]) -> set[Operation]:
    """Those of `ops`, which are in order, that depend on one of `makers`."""
    sources = set(makers)
    found = set[Operation]()
    for op in ops:
        if any(value.owner in sources for value in op.operands):
            sources.add(op)
            found.add(op)
    return found


def _needed(readers: Sequence[Operation], ops: Sequence[Operation]) -> set[Operation]:
    """Those of `ops`, which are in order, that `readers` depend on."""
    wanted = {value.owner for op in readers for value in op.operands}
    found = set[Operation]()
    for op in reversed(ops):
        if op in wanted:
            found.add(op)
            wanted.update(value.owner for value in op.operands)
    return found


def _traffic(runs: Sequence[_Run]) -> int:
    """Bytes that runs with a local form load of what they do not make, and store for others."""
    total = 0
    for run in runs:
        if not run.is_local:
            continue
        inside = set(run.ops)
        loaded = {value for op in run.ops for value in op.operands if value.owner not in inside}
        stored = {
            result
            for op in run.ops
            for result in op.results
            if any(use.operation not in inside for use in result.uses)
        }
        total += sum(size_in_bytes(value) for value in loaded | stored if _is_moved(value))
    return total


def _is_moved(value: SSAValue) -> bool:
    return not is_none(value) and not is_weight(value)
