"""Loads of short rows in equal parts of most lanes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import LaneStep, Rows, lane_steps, rows_of
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, Moves, PicksRows, single_map
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, rebuilt, tensor_like
from xdsl_tpu.passes.lane_prices import (
    cycles_of_load,
    cycles_of_steps,
    even_parts,
    rearranged,
)
from xdsl_tpu.passes.layer_group.base_groups import (
    computing_ops,
    computing_readers,
    why_not_local,
)
from xdsl_tpu.passes.tensors import (
    element_bytes,
    is_weight,
    number_type,
    required_name,
    shape_of,
)

GAIN = 4
"""How many times as long as the movement on the chip the short rows must take."""

SHORT = 64
"""Bytes of a row, at most: of longer ones there are few for what they bring, and other work is
done meanwhile."""

SHARE = 16
"""Values of more than one part in so many of local memory are left: groups of them may have to be
cut, and what is moved on the chip never is."""


def load_evenly(block: Block, chip: Chip) -> None:
    """Let what comes from DDR in short rows come in equal parts of most lanes.

        Load(1x2048x3)  ->  Load(1x64x96), Rearrange(1x2048x3)

    A transfer brings a row of a few bytes as slowly as one of 256. Where rows follow each other in
    DDR, each lane may get a run of many, and they go to their own lanes from there, as numbers of
    fewer bytes where they are cast to such.
    """
    done = set[SSAValue]()
    for op in computing_ops(block):
        for value in op.operands:
            if value not in done and not is_none(value) and not is_weight(value):
                done.add(value)
                _load_evenly(value, block, chip)


def _load_evenly(value: SSAValue, block: Block, chip: Chip) -> None:
    if not is_short(value):
        return
    readers = [op for op in computing_readers(value, block) if _is_local(op)]
    casts = [op for op in readers if _narrows(op)]
    others = [op for op in readers if op not in casts]
    for cast in casts:
        last = cast.results[0]
        if (way := _way(value, number_type(last), chip)) is not None:
            made = _moved(value, last, way)
            block.insert_ops_before(made, cast)
            last.replace_all_uses_with(made[-1].results[0])
            cast.detach()
            cast.erase()
    if others and (way := _way(value, number_type(value), chip)) is not None:
        made = _moved(value, value, way)
        block.insert_ops_before(made, others[0])
        for op in others:
            for place, operand in enumerate(op.operands):
                if operand is value:
                    op.operands[place] = made[-1].results[0]


def _is_local(op: Operation) -> bool:
    return not isinstance(op, KeepsOrder) and why_not_local(op) is None


def _narrows(op: Operation) -> bool:
    if not isinstance(op, tpu.CastOp):
        return False
    return element_bytes(op.output) < element_bytes(op.input)


def _source(value: SSAValue) -> tuple[SSAValue, IndexMap] | None:
    """What is in DDR whatever the groups are, and the movement from there that makes a value of it:
    what a Reshape without a local form reads is. None where an op with a local form has a part in
    that, or what others make is moved: several movements of one value may be one sweep in DDR."""
    moves, is_seen, is_stored = IndexMap.identity(prod(shape_of(value))), True, False
    while isinstance(value.owner, Operation) and (step := single_map(value.owner)) is not None:
        is_local = why_not_local(value.owner) is None
        if not isinstance(value.owner, KeepsOrder):
            if is_local:
                return (value, moves) if is_stored and is_seen else None
            is_seen = False
        is_stored |= not is_local
        moves, value = moves.after(step), value.owner.operands[0]
    maker = value.owner
    if not isinstance(maker, Operation):
        return value, moves
    local = isinstance(maker, Moves | PicksRows) or why_not_local(maker) is None
    return None if (local and not is_stored) or not is_seen else (value, moves)


@dataclass(frozen=True)
class _Way:
    """Equal parts of lanes in which a value comes, and how it gets to its own lanes from there."""

    even: Rows
    steps: Sequence[LaneStep]


def is_short(value: SSAValue) -> bool:
    """Whether the rows of a value are so short that transfers of them are slow."""
    return rows_of(shape_of(value)).run * element_bytes(value) <= SHORT


def takes_little(value: SSAValue, chip: Chip) -> bool:
    """Whether groups need not be cut for a value, which cannot be if it is moved on the chip."""
    size = prod(shape_of(value)) * element_bytes(value)
    return size * SHARE <= chip.lanes * chip.local_bytes


def _way(value: SSAValue, moved: Attribute, chip: Chip) -> _Way | None:
    """How a value whose rows are short gets to its lanes, as numbers of type `moved`; None where
    that takes no less than to load it there."""
    found = _source(value)
    if found is None:
        return None
    (source, moves), read, width = found, rows_of(shape_of(value)), element_bytes(value)
    count = prod(shape_of(source))
    if count * width * SHARE > chip.lanes * chip.local_bytes:
        return None
    for even in even_parts(count, prod(rows_of(shape_of(source))[:2]), chip):
        steps = None if even == read else lane_steps(moves, even, read)
        cycles = None if steps is None else cycles_of_steps(moved, even, tuple(steps), chip)
        if steps is None or cycles is None:
            continue
        short, long = (cycles_of_load(number_type(value), rows, chip) for rows in (read, even))
        if GAIN * cycles <= short - long:
            return _Way(even, steps)
    return None


def _moved(value: SSAValue, last: SSAValue, way: _Way) -> list[Operation]:
    """The ops that bring a value evenly, cast it if `last` is another one, and move it."""
    found = _source(value)
    assert found is not None
    source, _ = found
    shape = (1, way.even.c, way.even.run)
    view = tpu.ReshapeOp.make(
        derived_name(last, "_seen_evenly"),
        (source,),
        result_types=(tensor_like(source, shape),),
        shape=shape,
    )
    new = list[Operation]([view])
    here: SSAValue = view.output
    if last is not value:
        assert isinstance(last.owner, Operation)
        cast = rebuilt(
            last.owner,
            operands=[here],
            result_types=[tensor_like(last, shape)],
            location=name_loc(derived_name(last, "_evenly")),
        )
        new.append(cast)
        here = cast.results[0]
    name = derived_name(value, "_in_rows") if last is value else required_name(last)
    for number, step in enumerate(way.steps, 1):
        is_last = number == len(way.steps)
        kind = tensor_like(last, shape_of(last)) if is_last else tensor_like(here, step.rows)
        new.append(rearranged(name if is_last else f"{name}_on_its_way", here, step, kind))
        here = new[-1].results[0]
    return new
