"""The pass `keep-lanes`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import dtype_of
from xdsl_tpu.backend.local.gather import gather_cost, reading
from xdsl_tpu.backend.local.image import packed
from xdsl_tpu.backend.local.lane_image import (
    lane_map,
    lane_sizes,
    rounds_at_once,
    rounds_of,
    whole_value,
)
from xdsl_tpu.backend.local.moved_image import moved_cost, moves_of, store_costs
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.absorb import MOST_COMMANDS, is_plain, targets
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import element_bytes, element_of


@dataclass(frozen=True)
class KeepLanesPass(ModulePass):
    """Store what only other groups load lane by lane.

        %1 = "tpu.Store"(%0)                 %1 = "tpu.Store"(%0) {indexing_map_l2s = .. mod 64 ..}
        ...                            ->    ...
        %2 = "tpu.Load"(%1)                  %2 = "tpu.Load"(%1) {indexing_map_s2l = .. mod 64 ..}

    Nobody else needs such a value to be row-major, and the rows of a matrix come from and go to
    another lane each: short ones take several times as long as their bytes do. Rows that do not
    fill the EUs lie in DDR with the gaps that they have in the lanes. Where Loads see the value
    under other lanes, or absorbed moves stand in front of them (tokens of shifted windows), it is
    stored so if that and the Loads together take fewer cycles. The whole value is stored at once.
    `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "keep-lanes"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        _, _, func = divided_parts(op)
        for group in func.body.block.ops:
            if isinstance(group, tpu.GroupOp):
                for value in group.results:
                    _keep(value, chip)


def _keep(value: SSAValue, chip: Chip) -> None:
    transfers = whole_value(value)
    if transfers is None:
        return
    store, loads = transfers
    sizes, width = lane_sizes(store, chip), element_bytes(value)
    if sizes is None:
        return
    rounds = rounds_of(sizes, width, chip)
    if rounds.whole == 1:
        return
    own = [_seen(load, chip) for load in loads]
    alike = all(one and rounds_of(one, width, chip) == rounds for one in own)
    together = rounds.whole
    if alike:
        if rounds.run * width >= chip.ddr_row_bytes:
            return
        together = rounds_at_once(rounds.lanes, rounds.run * width, chip)
    elif not _is_worth_it(store, loads, sizes, chip):
        return
    store.indexing_map_l2s = AffineMapAttr(lane_map(sizes, together, chip))
    for load, one in zip(loads, own, strict=True):
        seen = sizes if one is None or not alike else one
        load.indexing_map_s2l = AffineMapAttr(lane_map(seen, together, chip))


def _seen(load: tpu.LoadOp, chip: Chip) -> Ncdhw | None:
    """The sizes under which a Load brings a value as it is; None where it moves it."""
    return None if reading(load.input) else lane_sizes(load, chip)


def _is_worth_it(store: tpu.StoreOp, loads: Sequence[tpu.LoadOp], sizes: Ncdhw, chip: Chip) -> bool:
    """Whether the transfers of a value that is moved take less lane by lane than row-major."""
    dtype = dtype_of(element_of(store.input))
    plain, lanes = store_costs(sizes, dtype, chip)
    for load in loads:
        read = reading(load.input)
        if not is_plain(load, chip) or packed(load) or (read and read.rows):
            return False
        moves = moves_of(load)
        for target in targets(load, chip):
            before = gather_cost(target, moves, chip)
            after = moved_cost(target, moves, sizes, chip)
            if before is None or after is None or after[1] > MOST_COMMANDS:
                return False
            plain, lanes = plain + before[0], lanes + after[0]
    return lanes < plain
