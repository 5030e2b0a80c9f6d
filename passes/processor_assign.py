"""`processor-assign`: which chip, in which number format."""

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.passes.address_assign.io import is_apart
from xdsl_tpu.passes.module_state import set_module_attributes


@dataclass(frozen=True)
class ProcessorAssignPass(ModulePass):
    """Record the chip and the number format that later passes compile for.

        module @net                  ->   module @net attributes {module.chip = "bm1684x", ..}

    `addr_mode` says where inputs and outputs lie: `basic` among all other tensors; `io_alone`
    together in front of them, sharing bytes with nothing; `auto` leaves a module that is io_alone
    as it is, and chooses `basic` for others. The modes that
    give them tags or places at load time (`io_tag`, `io_tag_fuse`, `io_reloc`) are taken as
    `io_alone`: whoever runs a program hands over one arena. `num_core` is how many of the chip's
    cores the program is for; there is one device. In W4F16 and its like `convert-top-to-tpu` packs
    constant matrices of products in 4 or 8 bits, and the rest is F16 or BF16.
    """

    name = "processor-assign"

    chip: str
    mode: Literal["F32", "F16", "BF16", "INT8", "W4F16", "W8F16", "W4BF16", "W8BF16"]
    num_device: int = 1
    num_core: int = 1
    addr_mode: Literal["auto", "basic", "io_alone", "io_tag", "io_tag_fuse", "io_reloc"] = "auto"
    high_precision: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = load_chip(self.chip)  # an unknown one is an error here, not in a later pass
        if self.num_device != 1:
            raise TpuError(f"{self.name}: num_device must be 1, not {self.num_device}")
        if not 1 <= self.num_core <= chip.cores:
            raise TpuError(
                f"{self.name}: {self.num_core} cores are wanted of {chip.name}, "
                f"which has {chip.cores}"
            )
        set_module_attributes(
            op,
            {
                "module.addr_mode": StringAttr(self._addr_mode(op)),
                "module.chip": StringAttr(self.chip),
                "module.cores": IntegerAttr(self.num_core, i64),
                "module.devices": IntegerAttr(self.num_device, i64),
                "module.high_precision": BoolAttr.from_bool(self.high_precision),
                "module.mode": StringAttr(self.mode),
            },
        )

    def _addr_mode(self, module: ModuleOp) -> str:
        if self.addr_mode == "auto":
            return "io_alone" if is_apart(module) else "basic"
        if self.addr_mode == "basic":
            return "basic"
        if self.addr_mode != "io_alone":
            module_info(module).notes.append(
                f"addr_mode {self.addr_mode} is taken as io_alone: a program's arena is one piece"
            )
        return "io_alone"
