"""Where in a function's order tensors get another shape.

A change of shape that local memory has no form for costs nothing in DDR, but no group of ops goes
beyond it. It may stand anywhere between what makes its operand and what reads its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.layer_group.base_groups import ordered_ops, why_not_local
from xdsl_tpu.passes.tensors import is_weight, size_in_bytes

View = tpu.ReshapeOp | tpu.SqueezeOp | tpu.UnsqueezeOp


@dataclass(frozen=True, slots=True)
class _Chain:
    """Views one behind the other, and the range of places they may go to: in front of the op that
    has that number among those that stay."""

    views: Sequence[Operation]
    first: int
    last: int


def gather_views(block: Block) -> None:
    """Put views that stand alone among ops with a local form where they part fewer of them.

        MatMul, MatMul, Exp, Reshape, Mul, Reshape, Mul  ->  MatMul, MatMul, Reshape, Reshape, Exp,
                                                             Mul, Mul

    They go to an op without a local form if there is one on their way; of several on the same way,
    all to one place: the one at which the fewest bytes are made before and used behind.
    """
    ops = ordered_ops(block)
    is_local = {op: why_not_local(op) is None for op in ops}
    chains = _chains(ops, is_local)
    if not chains:
        return
    moving = {view for chain in chains for view in chain}
    staying = [op for op in ops if op not in moving]
    number = {op: place for place, op in enumerate(staying)}
    parted = [not (is_local[one] and is_local[two]) for one, two in pairwise(staying)]
    walls = [0, *(place for place, wall in enumerate(parted, 1) if wall), len(staying)]
    crossing = _crossing(staying, number)
    free: list[_Chain] = []
    for views in chains:
        chain = _between(views, number, len(staying))
        wall = max((place for place in walls if chain.first <= place <= chain.last), default=None)
        if wall is None:
            free.append(chain)
        else:
            _move(views, staying, wall)
    for together in _clusters(free):
        first, last = max(c.first for c in together), min(c.last for c in together)
        place = min(range(first, last + 1), key=lambda p: (crossing[p], -p))
        for chain in together:
            _move(chain.views, staying, place)


def _chains(ops: Sequence[Operation], is_local: dict[Operation, bool]) -> list[list[Operation]]:
    """Views without a local form whose neighbours have one, and whose readers do not move."""
    found: dict[Operation, list[Operation]] = {}
    alone: list[list[Operation]] = []
    for op in ops:
        if not isinstance(op, View) or is_local[op]:
            continue
        before = op.operands[0].owner
        linked = found.get(before) if isinstance(before, Operation) else None
        if linked is not None and op.operands[0].has_one_use():
            linked.append(op)
            found[op] = linked
        elif linked is None:
            found[op] = [op]
            alone.append(found[op])
    place = {op: index for index, op in enumerate(ops)}
    return [chain for chain in alone if _stands_alone(chain, ops, place, is_local, found)]


def _stands_alone(
    chain: Sequence[Operation],
    ops: Sequence[Operation],
    place: dict[Operation, int],
    is_local: dict[Operation, bool],
    views: dict[Operation, list[Operation]],
) -> bool:
    """Whether it parts ops with a local form, and only such that stay in their order read it."""
    first, last = place[chain[0]], place[chain[-1]]
    if last - first + 1 != len(chain) or first == 0 or last + 1 == len(ops):
        return False
    readers = [use.operation for use in chain[-1].results[0].uses]
    inside = all(reader in place and reader not in views for reader in readers)
    return inside and bool(readers) and is_local[ops[first - 1]] and is_local[ops[last + 1]]


def _between(views: Sequence[Operation], number: dict[Operation, int], end: int) -> _Chain:
    maker = views[0].operands[0].owner
    first = number[maker] + 1 if isinstance(maker, Operation) and maker in number else 0
    readers = [number[use.operation] for use in views[-1].results[0].uses]
    return _Chain(views, first, min(readers, default=end))


def _crossing(ops: Sequence[Operation], number: dict[Operation, int]) -> list[int]:
    """For each place the bytes that are made in front of it and used behind it."""
    changes = [0] * (len(ops) + 2)
    for place, op in enumerate(ops):
        for result in op.results:
            if is_none(result) or is_weight(result):
                continue
            last = max((_last_use(use.operation, number) for use in result.uses), default=place)
            if last > place:
                changes[place + 1] += size_in_bytes(result)
                changes[last + 1] -= size_in_bytes(result)
    return list(accumulate(changes))


def _last_use(op: Operation, number: dict[Operation, int]) -> int:
    """Where a value is read last; through a view that moves, where that is."""
    if op in number:
        return number[op]
    values: Sequence[SSAValue] = op.results
    return max((_last_use(use.operation, number) for v in values for use in v.uses), default=-1)


def _clusters(chains: Sequence[_Chain]) -> list[list[_Chain]]:
    """Chains whose ranges have a place in common, in as few sets as there can be."""
    found: list[list[_Chain]] = []
    end = -1
    for chain in sorted(chains, key=lambda one: one.last):
        if chain.first > end:
            found.append([])
            end = chain.last
        found[-1].append(chain)
    return found


def _move(views: Sequence[Operation], staying: Sequence[Operation], place: int) -> None:
    """In front of op `place` of those that stay; one behind the last of them if there is none."""
    block = views[0].parent
    assert block is not None
    for view in views:
        view.detach()
        if place < len(staying):
            block.insert_op_before(view, staying[place])
        else:
            block.insert_op_after(view, staying[-1])
