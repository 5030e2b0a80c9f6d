"""Ops in an order in which those without a local form part the others in fewer places.

Between two ops without a local form lies a run of ops that may share layer groups. What the second
of the two needs of that run often does not depend on the first: it goes in front of both, the rest
of the run behind both, and one place parts what two parted.

A run also loads what an earlier one has on the chip. Ops that need nothing else, such as the
projections of an encoder's output in every block of a decoder, go there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.layer_group.base_groups import ordered_ops, why_not_local
from xdsl_tpu.passes.tensors import is_weight, size_in_bytes

WORTHWHILE = 16384
"""Bytes that a join saves from which on it is done before others."""


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
    others is stored once, and every run loads what it reads of others. What saves little is done
    last: of two joins one may prevent the other.
    """
    ops = ordered_ops(block)
    made = [_Run(tuple(run), local) for local, run in groupby(ops, lambda op: not _parts(op))]
    runs = _joined(_joined(made, WORTHWHILE), 1)
    if not _send_back(runs) and len(runs) == len(made):
        return
    put_in_order(block, [op for run in runs for op in run.ops])


def put_in_order(block: Block, order: Sequence[Operation]) -> None:
    """Bring the ops of a block that may change places into another order."""
    end = ordered_ops(block)[-1].next_op
    for op in order:
        op.detach()
        if end is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, end)


def _parts(op: Operation) -> bool:
    return why_not_local(op) is not None


def _joined(runs: Sequence[_Run], least: int) -> list[_Run]:
    """The runs after all the joins that save so many bytes, from the first on."""
    found = list[_Run]()
    rest = list(reversed(runs))
    while rest:
        found.append(rest.pop())
        while len(found) >= 3 and not found[-1].is_local:
            after = rest[-1] if rest and rest[-1].is_local else None
            joined = _join(found[-4:], after, least)
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


def _join(runs: Sequence[_Run], after: _Run | None, least: int) -> _Join | None:
    """Join the last two of `runs` that have no local form; None where it cannot be or saves less.

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
    if _traffic(old) - _traffic((*before, last)) < least:
        return None
    replaced = tuple(runs[-4:])
    kept = tuple(run for run in before if run.ops)
    return _Join(replaced, kept, last if behind else None)


def _send_back(runs: list[_Run]) -> bool:
    """Send ops to earlier runs that have their operands, where that takes bytes off the way to DDR
    and back; whether any went.

        Add a, MatMul a; Gather; Relu b, MatMul a  ->  Add a, MatMul a, MatMul a; Gather; Relu b
    """
    seen = dict[SSAValue, int]()
    """The first run with a local form that makes or loads a value."""
    is_changed = False
    for place, run in enumerate(runs):
        if not run.is_local:
            continue
        for value in sorted(_loaded(run) & seen.keys(), key=size_in_bytes, reverse=True):
            found = _sent_back(runs[seen[value]], runs[place], value)
            if found is not None:
                runs[seen[value]], runs[place] = found
                is_changed = True
                seen |= {result: seen[value] for op in found[0].ops for result in op.results}
        for value in (*_loaded(runs[place]), *_made(runs[place])):
            seen.setdefault(value, place)
    runs[:] = [run for run in runs if run.ops]
    return is_changed


def _sent_back(earlier: _Run, run: _Run, value: SSAValue) -> tuple[_Run, _Run] | None:
    """Both runs with those readers of `value`, and what follows from them, in the earlier one that
    need nothing else; None where there are none or it costs more."""
    known = {value}
    sent = list[Operation]()
    for op in run.ops:
        operands = [one for one in op.operands if _is_moved(one)]
        if operands and all(one in known for one in operands):
            known.update(op.results)
            sent.append(op)
    staying = tuple(op for op in run.ops if op not in set(sent))
    place = _place(earlier.ops, value)
    longer = _Run((*earlier.ops[:place], *sent, *earlier.ops[place:]), True)
    found = longer, _Run(staying, True)
    if not sent or _traffic(found) >= _traffic((earlier, run)):
        return None
    return found


def _place(ops: Sequence[Operation], value: SSAValue) -> int:
    """Behind the first of `ops` that has a value on the chip, and the readers next to it."""
    place = next(k for k, op in enumerate(ops) if value in (*op.results, *op.operands)) + 1
    while place < len(ops) and value in ops[place].operands:
        place += 1
    return place


def _loaded(run: _Run) -> set[SSAValue]:
    """What a run reads and does not make, weights aside."""
    inside = set(run.ops)
    read = {value for op in run.ops for value in op.operands if value.owner not in inside}
    return {value for value in read if _is_moved(value)}


def _made(run: _Run) -> Iterator[SSAValue]:
    return (result for op in run.ops for result in op.results)


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
        stored = {
            result
            for op in run.ops
            for result in op.results
            if any(use.operation not in inside for use in result.uses)
        }
        total += sum(size_in_bytes(value) for value in _loaded(run) | stored)
    return total


def _is_moved(value: SSAValue) -> bool:
    return not is_none(value) and not is_weight(value)
