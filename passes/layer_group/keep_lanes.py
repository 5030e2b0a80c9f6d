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
    """Store what only other groups load lane by lane, where all of them see it so.

        %1 = "tpu.Store"(%0)                 %1 = "tpu.Store"(%0) {indexing_map_l2s = .. mod 64 ..}
        ...                            ->    ...
        %2 = "tpu.Load"(%1)                  %2 = "tpu.Load"(%1) {indexing_map_s2l = .. mod 64 ..}

    Nobody else needs such a value to be row-major, and the rows of a matrix come from and go to
    another lane each: short ones take several times as long as their bytes do. The whole value is
    moved at once on both sides, and its rows fill the EUs. `chip` is a name or a `.toml`
    description, by default `module.chip`.
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
    found = [lane_sizes(transfer, chip) for transfer in transfers]
    seen = {
        rounds_of(one.n, one.c, one.h * one.w, chip) if one is not None else None for one in found
    }
    rounds, width = seen.pop(), element_bytes(value)
    if seen or rounds is None or rounds.run * width >= chip.ddr_row_bytes:
        return
    if rounds.whole == 1:
        return
    for transfer, sizes in zip(transfers, found, strict=True):
        assert sizes is not None
        order = AffineMapAttr(lane_map(sizes, width, chip))
        if isinstance(transfer, tpu.StoreOp):
            transfer.indexing_map_l2s = order
        else:
            transfer.indexing_map_s2l = order
