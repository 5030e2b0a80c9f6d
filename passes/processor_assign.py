"""`processor-assign`: which chip, in which number format."""

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.module_state import set_module_attributes


@dataclass(frozen=True)
class ProcessorAssignPass(ModulePass):
    """Record the chip and the number format that later passes compile for.

    `addr_mode` is `basic` (one arena for all tensors), which `auto` chooses, too. One device
    and one core are what the chip descriptions so far have.
    """

    name = "processor-assign"

    chip: str
    mode: Literal["F32", "F16", "BF16", "INT8"]
    num_device: int = 1
    num_core: int = 1
    addr_mode: Literal["auto", "basic"] = "auto"
    high_precision: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        load_chip(self.chip)  # an unknown chip is an error here rather than in a later pass
        for option in ("num_device", "num_core"):
            if getattr(self, option) != 1:
                raise TpuError(f"{self.name}: {option} must be 1, not {getattr(self, option)}")
        set_module_attributes(
            op,
            {
                "module.addr_mode": StringAttr("basic"),
                "module.chip": StringAttr(self.chip),
                "module.cores": IntegerAttr(self.num_core, i64),
                "module.devices": IntegerAttr(self.num_device, i64),
                "module.high_precision": BoolAttr.from_bool(self.high_precision),
                "module.mode": StringAttr(self.mode),
            },
        )
