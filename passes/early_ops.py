"""Ops that stand where they part no others: masks first, moves behind what they move, and where
values are still narrow.

Exporters write an op where its result is wanted, which may be between ops that could share a group
and be cut into slices: masks, flags of rows and the like are of one channel or of few and cannot be
cut as those are, and a Permute cannot where it is not cut along the same axis on both sides.
"""

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.join_runs import put_in_order
from xdsl_tpu.passes.layer_group.base_groups import ordered_ops, why_not_local
from xdsl_tpu.passes.tensors import is_weight, size_in_bytes

SMALL = 16384
"""Bytes of operands and results, weights included, of a small step."""

MOVES = (tpu.PermuteOp, tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp)


def side_values_first(block: Block) -> None:
    """Put ops on little data, all of it made of inputs by such ops, in front of the first larger
    one that may be in a group, and of what has no local form in front of that.

        Cast mask; MatMul q, k; Where mask; Add  ->  Cast mask; Where mask; MatMul q, k; Add
    """
    ops = ordered_ops(block)
    small = set[Operation]()
    for op in ops:
        if _is_little(op) and all(_is_given(v) or v.owner in small for v in op.operands):
            small.add(op)
    larger = (n for n, op in enumerate(ops) if op not in small and why_not_local(op) is None)
    start = next(larger, len(ops))
    while start and ops[start - 1] not in small:
        start -= 1
    behind = sorted(ops[start:], key=lambda op: op not in small)
    _put(block, ops, [*ops[:start], *behind])


def moves_behind_makers(block: Block) -> None:
    """Put what moves a value that nothing else reads behind what makes it, if it has a local form.

    MatMul v; MatMul q, k; Softmax; Permute v; MatMul  ->  MatMul v; Permute v; MatMul q, k;
                                                           Softmax; MatMul
    """
    ops = ordered_ops(block)
    places: dict[Operation, tuple[int, ...]] = {}
    for number, op in enumerate(ops):
        places[op] = (number,)
        if not isinstance(op, MOVES) or why_not_local(op) is not None:
            continue
        maker = op.operands[0].owner
        if isinstance(maker, Operation) and maker in places and op.operands[0].has_one_use():
            places[op] = (*places[maker], number)
    _put(block, ops, sorted(ops, key=places.__getitem__))


def widen_late(block: Block, room: int) -> None:
    """Put what gives a value larger elements in front of its first reader, where it has more bytes
    than there is `room` for on the chip: an op between that cannot be cut in the same slices ends
    the group, and the value goes to DDR in half of them.

    Add; Cast f16 to f32; Rearrange s; Div by s  ->  Add; Rearrange s; Cast f16 to f32; Div by s
    """
    ops = ordered_ops(block)
    readers = {operand: op for op in reversed(ops) for operand in op.operands}
    late: dict[Operation, list[Operation]] = {}
    for op in ops:
        if isinstance(op, tpu.CastOp) and size_in_bytes(op.output) > max(
            room, size_in_bytes(op.input)
        ):
            late.setdefault(readers.get(op.output, op), []).append(op)
    moved = {op for reader, casts in late.items() for op in casts if op is not reader}

    def placed(op: Operation) -> Iterator[Operation]:
        for cast in late.get(op, ()):
            if cast is not op:
                yield from placed(cast)
        yield op

    _put(block, ops, [one for op in ops if op not in moved for one in placed(op)])


def _put(block: Block, old: list[Operation], new: list[Operation]) -> None:
    if new != old:
        put_in_order(block, new)


def _is_given(value: SSAValue) -> bool:
    return is_none(value) or is_weight(value) or isinstance(value.owner, Block | top.InputOp)


def _is_little(op: Operation) -> bool:
    values = [value for value in (*op.operands, *op.results) if not is_none(value)]
    return sum(map(size_in_bytes, values)) <= SMALL
