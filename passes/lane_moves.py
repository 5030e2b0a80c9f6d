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
from xdsl_tpu.dialects.interfaces.lane_moves import LaneStep, lane_steps, rows_of
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, single_map
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.passes.even_loads import load_evenly
from xdsl_tpu.passes.graph import tensor_like
from xdsl_tpu.passes.lane_prices import cycles_of_steps, rearranged
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
    may have one: rows of an image become channels, of which blocks become pixels. What has no
    room for it stays as it is. What is returned may be stored in equal parts of all lanes, a view
    of short rows too. A reduction over what lies over the lanes is made between two of
    these (`reduce_in_lanes`). What comes in short rows from DDR comes in equal parts of all lanes
    (`load_evenly`). For several cores nothing is joined: they share the slices of a
    group, and what is moved here is never cut.
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
                reduce_in_lanes(reduction, block)
            for move in computing_ops(block):
                for chain in _parts(list(_chain(move))):
                    if _is_wanted(chain) and _join(chain, block, chip):
                        break
            if not module_info(op).is_part:
                load_evenly(block, chip)


def _chain(move: Operation) -> Iterator[Operation]:
    """The movement ops behind which something else reads `move`, the last one first; nothing if it
    is none."""
    if single_map(move) is None or not any(single_map(user) is None for user in _users(move)):
        return
    op: Operation | None = move
    while op is not None and single_map(op) is not None:
        yield op
        owner = op.operands[0].owner
        op = owner if isinstance(owner, Operation) else None


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


def _read_as(last: Operation, chip: Chip) -> Shape:
    """The shape in which the result of a chain is read: what is returned may be stored in equal
    parts of all lanes."""
    shape = shape_of(last.results[0])
    size = prod(shape)
    if _is_returned(last) and size % chip.lanes == 0:
        return 1, chip.lanes, size // chip.lanes
    return shape


def _saved(chain: Sequence[Operation], chip: Chip) -> float:
    """Cycles of storing a value that is returned as it lies in its lanes, and of what moves it in
    DDR behind that, less those of storing it in equal parts of all lanes."""
    value = chain[-1].operands[0]
    width = element_bytes(value)
    size, run = prod(shape_of(value)) * width, prod(shape_of(value)[2:]) * width
    stored = size / chip.store_bytes_per_cycle
    saved = stored * (max(1, chip.ddr_row_bytes / run) - 1)
    if not all(isinstance(op, KeepsOrder) for op in chain):
        saved += stored + size / chip.load_bytes_per_cycle
    return saved


def _through_ddr(value: SSAValue, chip: Chip) -> float:
    """Cycles of storing a value and of loading it again, with what these wait for."""
    size = prod(shape_of(value)) * element_bytes(value)
    return START + size / chip.store_bytes_per_cycle + size / chip.load_bytes_per_cycle


def _join(chain: Sequence[Operation], block: Block, chip: Chip) -> bool:
    """Put one op, or two, in the place of a chain, if there is a way, and room, and say so."""
    moves, last = single_map(chain[0]), chain[0]
    for op in chain[1:]:
        inner = single_map(op)
        assert moves is not None
        assert inner is not None
        moves = moves.after(inner)
    assert moves is not None
    value, read = chain[-1].operands[0], _read_as(last, chip)
    ends = rows_of(shape_of(value)), rows_of(read)
    steps = lane_steps(moves, *ends)
    if steps is None:
        return False
    cycles = cycles_of_steps(number_type(value), ends[0], tuple(steps), chip)
    saved = _saved(chain, chip) if _is_returned(last) else FAR * _through_ddr(value, chip)
    if cycles is None or cycles > saved:
        return False
    new = list[Operation](_rearranged(value, last, steps, read))
    moved = (op for op in new if isinstance(op, tpu.RearrangeOp))
    if any(why_not_local(op) is not None for op in moved):
        for op in reversed(new):
            op.erase()
        return False
    block.insert_ops_before(new, last)
    last.results[0].replace_all_uses_with(new[-1].results[0])
    for op in chain:
        if any(result.uses for result in op.results):
            break
        op.detach()
        op.erase()
    return True


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
