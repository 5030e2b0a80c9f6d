"""The pass `lane-moves`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import LaneStep, lane_steps, rows_of
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, single_map
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.even_loads import GAIN, is_short, load_evenly, takes_little
from xdsl_tpu.passes.graph import derived_name, tensor_like
from xdsl_tpu.passes.lane_prices import (
    cycles_of_load,
    cycles_of_steps,
    cycles_of_store,
    even_parts,
    rearranged,
)
from xdsl_tpu.passes.lane_reductions import reduce_in_lanes
from xdsl_tpu.passes.layer_group.base_groups import computing_ops, why_not_local
from xdsl_tpu.passes.module_state import chip_of, cores_of
from xdsl_tpu.passes.tensors import element_bytes, functions, number_type, required_name, shape_of

START = 2000
"""Cycles that two transfers take before and behind their bytes, about."""

FAR = 3
"""How many times as long as a store and a load a move on the chip may take: it waits for no
transfer, and none for it."""


@dataclass(frozen=True)
class LaneMovesPass(ModulePass):
    """Let elements change their order without leaving local memory.

        %1 = "tpu.Reshape"(%0) : 1x8x8x8x8x60
        %2 = "tpu.Permute"(%1) {order}          ->    %3 = "tpu.Rearrange"(%0) {in_lanes} : 64x64x60
        %3 = "tpu.Reshape"(%2) : 64x64x60

    A chain of movement ops between two ops with a local form, one of which has none itself, parts
    them: what is between is stored and loaded again. Where the chain as a whole takes no more than
    copies within the lanes and exchanges of lanes and columns (`lane_steps`), one op does it, which
    may be in a layer group, or two: of an image whose channels are heads, pixels become rows
    first. Where there is no way for all of a chain, a part of it between ops that have a local form
    may have one: rows of an image become channels, of which blocks become pixels. A chain ends at
    what overlapping parts are taken of, so that this is moved once. What has no room for it stays
    as it is. What is returned may be stored in equal parts of most lanes, short
    rows that no chain is behind, too. A reduction over what lies over the lanes is made between
    two of these (`reduce_in_lanes`). What comes in short rows from DDR comes in equal parts of most
    lanes (`load_evenly`). For several cores nothing is joined: they share the slices of a
    group, and what is moved here is cut between images at most.
    """

    name = "lane-moves"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if cores_of(op) > 1:
            return
        chip = chip_of(op, self.chip)
        for func in functions(op):
            block = func.body.block
            for reduction in computing_ops(block):
                reduce_in_lanes(reduction, block, chip)
            for move in computing_ops(block):
                for chain in _parts(list(_chain(move))):
                    if _is_wanted(chain) and _join(chain, block, chip):
                        break
            if not module_info(op).is_part:
                _store_evenly(block, chip)
                load_evenly(block, chip)


def _chain(move: Operation) -> Iterator[Operation]:
    """The movement ops behind which something else reads `move`, the last one first; nothing if it
    is none. What overlapping parts are taken of is moved once, and these are chains behind it."""
    read = any(single_map(user) is None for user in _users(move))
    if single_map(move) is None or not (read or _is_shared(move)):
        return
    op: Operation | None = move
    while op is not None and single_map(op) is not None and (op is move or not _is_shared(op)):
        yield op
        owner = op.operands[0].owner
        op = owner if isinstance(owner, Operation) else None


def _is_shared(move: Operation) -> bool:
    """Whether parts that movement ops take of a result are more than it altogether."""
    whole = prod(shape_of(move.results[0]))
    taken = (prod(shape_of(user.results[0])) for user in _users(move) if single_map(user))
    return sum(size for size in taken if size < whole) > whole


def _parts(chain: Sequence[Operation]) -> Iterator[Sequence[Operation]]:
    """All of a chain, then what follows each other of it, the longest ones first, where the rest
    has a local form: what goes through DDR nevertheless need not be moved before or behind."""
    if not chain or not _is_wanted(chain):
        return
    far = [place for place, op in enumerate(chain) if why_not_local(op) is not None]
    for count in range(len(chain), far[-1] - far[0], -1):
        for first in range(len(chain) - count + 1):
            if first <= far[0] and far[-1] < first + count:
                yield chain[first : first + count]


def _users(op: Operation) -> list[Operation]:
    return [use.operation for use in op.results[0].uses]


def _is_wanted(chain: Sequence[Operation]) -> bool:
    """Whether a chain parts ops that have a local form, or one from what is returned."""
    maker = chain[-1].operands[0].owner
    if not isinstance(maker, Operation) or why_not_local(maker) is not None:
        return False
    if not _is_returned(chain[0]) and all(
        why_not_local(user) is not None for user in _users(chain[0])
    ):
        return False
    return any(why_not_local(op) is not None for op in chain)


def _is_returned(op: Operation) -> bool:
    """Whether nothing but the function's caller reads a result."""
    users = _users(op)
    return bool(users) and all(isinstance(user, ReturnOp) for user in users)


def _read_as(last: Operation, chip: Chip) -> Iterator[Shape]:
    """The shapes in which the result of a chain may be read: what is returned may be stored in
    equal parts of the lanes."""
    result = last.results[0]
    shape, size = shape_of(result), prod(shape_of(result))
    evenly = even_parts(size, prod(rows_of(shape)[:2]), chip) if _is_returned(last) else []
    if not evenly or evenly[0].c != chip.lanes:
        yield shape
    for rows in evenly:
        if rows.c == chip.lanes or takes_little(result, chip):
            yield 1, rows.c, rows.run


def _returned(chain: Sequence[Operation], chip: Chip) -> float:
    """Cycles of storing a value that is returned as it lies in its lanes, and of what moves it in
    DDR behind that."""
    value = chain[-1].operands[0]
    stored = cycles_of_store(number_type(value), rows_of(shape_of(value)), chip)
    if all(isinstance(op, KeepsOrder) for op in chain):
        return stored
    size = prod(shape_of(value)) * element_bytes(value)
    return stored + size / chip.store_bytes_per_cycle + size / chip.load_bytes_per_cycle


def _through_ddr(value: SSAValue, last: Operation, chip: Chip) -> float:
    """Cycles of storing a value and of loading it in the rows of a movement's result, with what
    these wait for."""
    size = prod(shape_of(value)) * element_bytes(value)
    rows = rows_of(shape_of(last.results[0]))
    return (
        START + size / chip.store_bytes_per_cycle + cycles_of_load(number_type(value), rows, chip)
    )


@dataclass(frozen=True)
class _Way:
    """How a chain is done on the chip, what that takes and a store of what is returned behind it,
    and in which shape its result is read."""

    steps: Sequence[LaneStep]
    cycles: int
    stored: int
    read: Shape


def _cheapest(moves: IndexMap, value: SSAValue, last: Operation, chip: Chip) -> _Way | None:
    made, ways = rows_of(shape_of(value)), list[_Way]()
    for read in _read_as(last, chip):
        rows, element = rows_of(read), number_type(value)
        steps = lane_steps(moves, made, rows)
        if steps is None:
            continue
        cycles = cycles_of_steps(element, made, tuple(steps), chip)
        if cycles is not None:
            stored = cycles_of_store(element, rows, chip) if _is_returned(last) else 0
            ways.append(_Way(steps, cycles, stored, read))
    return min(ways, key=lambda way: way.cycles + way.stored, default=None)


def _join(chain: Sequence[Operation], block: Block, chip: Chip, gain: int = 1) -> bool:
    """Put one op, or two, in the place of a chain, if there is a way that takes a `gain`th of what
    it saves at most, and room, and say so."""
    moves, last = single_map(chain[0]), chain[0]
    for op in chain[1:]:
        inner = single_map(op)
        assert moves is not None
        assert inner is not None
        moves = moves.after(inner)
    assert moves is not None
    value = chain[-1].operands[0]
    now = _returned(chain, chip) if _is_returned(last) else FAR * _through_ddr(value, last, chip)
    found = _cheapest(moves, value, last, chip)
    if found is None or gain * found.cycles + found.stored > now:
        return False
    steps, read = found.steps, found.read
    new = list[Operation](_rearranged(value, last, steps, read))
    moved = (op for op in new if isinstance(op, tpu.RearrangeOp))
    if any(why_not_local(op) is not None for op in moved):
        for op in reversed(new):
            op.erase()
        return False
    made = new[-1].results[0]
    while new and (alike := _alike(new[0], last)) is not None:
        made = alike.results[0] if len(new) == 1 else made
        new[0].results[0].replace_all_uses_with(alike.results[0])
        new.pop(0).erase()
    block.insert_ops_before(new, last)
    last.results[0].replace_all_uses_with(made)
    for op in chain:
        if any(result.uses for result in op.results):
            break
        op.detach()
        op.erase()
    return True


def _alike(op: Operation, before: Operation) -> Operation | None:
    """An op in front of another that makes the same of the same value, as what is chosen from rows
    and the best of them read these in one order."""
    for use in op.operands[0].uses:
        other = use.operation
        if type(other) is not type(op) or other.parent is not before.parent:
            continue
        same = (other.attributes, other.result_types) == (op.attributes, op.result_types)
        if same and other.is_before_in_block(before):
            return other
    return None


def _store_evenly(block: Block, chip: Chip) -> None:
    """Let short rows that are returned as an op makes them be stored in equal parts of lanes."""
    returned = block.last_op
    assert isinstance(returned, ReturnOp)
    for value in dict.fromkeys(returned.operands):
        maker = value.owner
        if not isinstance(maker, NamedOp) or single_map(maker) is not None:
            continue
        if len(maker.results) > 1 or why_not_local(maker) is not None or not _is_returned(maker):
            continue
        if not is_short(value) or not takes_little(value, chip):
            continue
        view = tpu.ReshapeOp.make(
            maker.location, (value,), result_types=(value.type,), shape=shape_of(value)
        )
        block.insert_op_before(view, returned)
        value.replace_uses_with_if(view.output, lambda use: use.operation is returned)
        if _join([view], block, chip, GAIN):
            maker.location = name_loc(derived_name(maker, "_in_rows"))
        else:
            view.output.replace_all_uses_with(value)
            view.detach()
            view.erase()


def _rearranged(
    value: SSAValue, last: Operation, steps: Sequence[LaneStep], read: Shape
) -> Iterator[Operation]:
    """An op for each step; the last one has the name and type of `last`, which a Reshape brings
    back where it is read otherwise."""
    name, kind = required_name(last), tensor_like(last.results[0], read)
    if read != shape_of(last.results[0]):
        name = f"{name}_seen"
    for number, step in enumerate(steps, 1):
        is_last = number == len(steps)
        given = kind if is_last else tensor_like(value, step.rows)
        made = rearranged(name if is_last else f"{name}_on_its_way", value, step, given)
        value = made.output
        yield made
    if read != shape_of(last.results[0]):
        types = (last.results[0].type,)
        yield tpu.ReshapeOp.make(
            last.location, (value,), result_types=types, shape=shape_of(last.results[0])
        )
