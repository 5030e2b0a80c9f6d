"""The pass `absorb-moves`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import DdrValue, dtype_of
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.dry import value_slice
from xdsl_tpu.backend.local.forms import arrangements
from xdsl_tpu.backend.local.gather import gather_cost, reading, strided
from xdsl_tpu.backend.local.gather_rows import rows_cost
from xdsl_tpu.backend.local.in_group import places_in
from xdsl_tpu.backend.local.measure import measure_taps
from xdsl_tpu.backend.local.schedule import ginfo, sections
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.absorbed import is_absorbed, set_absorbed
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, MergesTaps
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, Moves, PicksRows
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import element_of, shape_of, size_in_bytes

MOST_COMMANDS = 1024
"""More commands for one Load than this cost more than the cycle model says."""


@dataclass(frozen=True)
class AbsorbMovesPass(ModulePass):
    """Leave movement to the Loads of groups wherever they can do it by strides for less.

        %1 = "tpu.Permute"(%0)                     %1 = "tpu.Permute"(%0) {absorbed}
        %2 = "tpu.Reshape"(%1)               ->    %2 = "tpu.Reshape"(%1)
        %3 = "tpu.Group"(%2) ({                    %3 = "tpu.Group"(%2) ({
          %4 = "tpu.Load"(%2)                        %4 = "tpu.Load"(%2)

    An absorbed op is not executed, and its result is a view of its operand. That takes that all
    users of the result, Reshapes and other absorbed ops aside, are Loads of a group with one
    channel to a lane; and that their transfers, by the cycle model, take no longer than before
    together with the copy from DDR to DDR that is saved. Rows of a table by their indices
    (`tpu.Gather` along the first axis) come into lanes in the same way, where every slice of a
    channel is whole rows. So does what a Slice takes that is in no group. `chip` is a name or a
    `.toml` description, by default `module.chip`.
    """

    name = "absorb-moves"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        _, _, func = divided_parts(op)
        # From the end, so that of a chain first what is next to the Loads is looked at.
        for move in reversed(list(func.body.block.ops)):
            by_strides = isinstance(move, Moves) and move.may_be_read_by_strides()
            if by_strides or (isinstance(move, PicksRows) and _picks_for_loads(move)):
                set_absorbed(move, _is_worth_it(move, chip))


def absorbed_cycles(move: Operation, chip: Chip) -> int:
    """How many cycles the Loads that do the work of an absorbed op take more than plain ones.

    By the cycle model, for all slices of all groups together; 0 when they take no longer. Other
    absorbed ops around `move` stay as they are.
    """
    loads = _loads(move.results[0], chip) or []
    gathered = _cycles(loads, chip) or 0
    set_absorbed(move, False)
    plain = _cycles(loads, chip) or 0
    set_absorbed(move, True)
    return max(gathered - plain, 0)


def _is_worth_it(move: Operation, chip: Chip) -> bool:
    """Whether Loads that do the work of `move` are the cheaper way."""
    loads = _loads(move.results[0], chip)
    if not loads:
        return False
    set_absorbed(move, False)
    before = _cycles(loads, chip)
    is_view = view_of(move.results[0]) is not None
    set_absorbed(move, True)
    after = _cycles(loads, chip)
    rate = chip.copy_bytes_per_cycle
    if isinstance(move, PicksRows):
        rate = chip.gather_bytes_per_cycle
    copy = 0 if is_view else size_in_bytes(move.results[0]) / rate
    return after is not None and (before is None or after <= before + copy)


def _picks_for_loads(op: PicksRows) -> bool:
    """Whether an op picks rows by indices of i32, and no absorbed op reads them."""
    rows = op.rows()
    if rows is None or dtype_of(element_of(rows.index)) is not DType.I32:
        return False
    return not _moved_on(op.results[0])


def _moved_on(value: SSAValue) -> bool:
    """Whether an absorbed op reads a value, or a view of it."""
    return any(
        is_absorbed(user) or (isinstance(user, KeepsOrder) and _moved_on(user.results[0]))
        for user in (use.operation for use in value.uses)
    )


def _loads(value: SSAValue, chip: Chip) -> list[tpu.LoadOp] | None:
    """All Loads of a value; None when something else uses it, or a Load cannot gather."""
    found: list[tpu.LoadOp] = []
    for use in value.uses:
        user = use.operation
        if isinstance(user, tpu.GroupOp):
            continue  # names what its Loads read
        if isinstance(user, tpu.LoadOp) and (is_plain(user, chip) or _reader_of_taps(user, chip)):
            found.append(user)
        elif isinstance(user, KeepsOrder) or _is_absorbed_move(user):
            behind = _loads(user.results[0], chip)
            if behind is None:
                return None
            found += behind
        else:
            return None
    return found


def _is_absorbed_move(op: Operation) -> bool:
    """Whether Loads do what an op does to the order of its operand; a table must lie as it is."""
    return is_absorbed(op) and not isinstance(op, PicksRows)


def is_plain(load: tpu.LoadOp, chip: Chip) -> bool:
    """Whether every lane gets the elements of its channel, as they are."""
    group = load.parent_op()
    assert isinstance(group, tpu.GroupOp)
    return load.output not in arrangements(group, chip.lanes)


def _reader_of_taps(load: tpu.LoadOp, chip: Chip) -> MergesTaps | None:
    """The op that reads what a Load brings with filter taps as channels."""
    group = load.parent_op()
    assert isinstance(group, tpu.GroupOp)
    found = arrangements(group, chip.lanes).get(load.output)
    return None if found is None else found.reader


def _cycles(loads: Sequence[tpu.LoadOp], chip: Chip) -> int | None:
    """Cycles of all transfers of these Loads; None when one of them takes too many."""
    total = 0
    for load in loads:
        read = reading(load.input)
        plain = IndexMap.identity(math.prod(shape_of(load.input)))
        moves = plain if read is None else read.moves
        rows = None if read is None else read.rows
        if (reader := _reader_of_taps(load, chip)) is not None:
            taps = None if rows is not None else _taps_cycles(load, reader, moves, chip)
            if taps is None:
                return None
            total += taps
            continue
        for target in targets(load, chip):
            if rows is None:
                cost = gather_cost(target, moves, chip)
            else:
                cost = rows_cost(target, math.prod(shape_of(rows.index)), chip)
            if cost is None or cost[1] > MOST_COMMANDS:
                return None
            total += cost[0]
    return total


def _taps_cycles(load: tpu.LoadOp, reader: MergesTaps, moves: IndexMap, chip: Chip) -> int | None:
    """Cycles of the transfers of a Load with filter taps as channels; None when its source does
    not lie in strides."""
    group = load.parent_op()
    assert isinstance(group, tpu.GroupOp)
    value, shape = load.output, shape_of(load.output)
    if len(shape) != 4:
        return None
    image = strided(DdrValue(0, shape, dtype_of(value.type.element_type)), moves, shape)
    if image is None:
        return None
    total = 0.0
    for index in sections(group):
        total += measure_taps(value, reader, image, places_in(index), chip).gdma
    return round(total)


def targets(load: tpu.LoadOp, chip: Chip) -> Iterator[LocalValue]:
    """What the Load brings in, slice by slice."""
    group, info, value = load.parent_op(), ginfo(load), load.output
    assert isinstance(group, tpu.GroupOp)
    full = of_value(value, GroupType(info.group_type.value.data), chip.lanes)
    aligned = bool(info.eu_align.value.data)
    every = map(places_in, sections(group))
    yield from dict.fromkeys(value_slice(value, one, full, chip, 0, aligned) for one in every)
