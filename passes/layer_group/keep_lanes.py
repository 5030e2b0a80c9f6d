"""The pass `keep-lanes`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.lane_image import (
    lane_map,
    lane_sizes,
    rounds_of,
    whole_value,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import element_bytes


@dataclass(frozen=True)
class KeepLanesPass(ModulePass):
    """Store what only other groups load lane by lane.

        %1 = "tpu.Store"(%0)                 %1 = "tpu.Store"(%0) {indexing_map_l2s = .. mod 64 ..}
        ...                            ->    ...
        %2 = "tpu.Load"(%1)                  %2 = "tpu.Load"(%1) {indexing_map_s2l = .. mod 64 ..}

    Nobody else needs such a value to be row-major, and the rows of a matrix come from and go to
    another lane each: short ones take several times as long as their bytes do. Rows that do not
    fill the EUs lie in DDR with the gaps that they have in the lanes. Loads must see the value in
    the same lanes; then what comes first is stored and loaded first.
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
    seen = [one for load in loads if (one := lane_sizes(load, chip)) is not None]
    alike = len(seen) == len(loads) and all(rounds_of(n, width, chip) == rounds for n in seen)
    if not alike or rounds.run * width >= chip.ddr_row_bytes:
        return
    store.indexing_map_l2s = AffineMapAttr(lane_map(sizes, width, chip))
    for load, one in zip(loads, seen, strict=True):
        load.indexing_map_s2l = AffineMapAttr(lane_map(one, width, chip))
