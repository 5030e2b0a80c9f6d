"""The passes `lower-to-tile` and `verify-tile-programs`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.tile.build import build
from xdsl_tpu.backend.tile.text import program_of, programs_of, write
from xdsl_tpu.backend.tile.verify import faults
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.module_state import chip_of, cores_of


@dataclass(frozen=True)
class LowerToTilePass(ModulePass):
    """Write behind every `tpu.Group` what each core does for it, as a `tile.program`.

    Before, ops of a group say in `ginfo` into which slices they are cut and where these lie, and
    the group's `flow` says in which time steps they work:

        "tpu.Group"(%x) ({ ... }) {flow = [-1, 0, -2, 1, -3, 2], ...}

    After, loads, computations and stores stand in the order in which commands will be issued:

        "tpu.Group"(%x) ({ ... }) {flow = [-1, 0, -2, 1, -3, 2], ...}
        tile.program core 0 {
          %0 = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, ...>
          tile.load 0 to %0 slice 0 step 0 on gdma
          %1 = tile.alloc 1 at 128 : !tile.buffer<1x3x8x8xf16, ...>
          tile.compute 1 tpu.Active(%0) to %1 slice 0 step 1 on tiu free [256, 131072]
          tile.store 2 from %1 [0, 0, 0, 0, 0] slice 0 step 2 on gdma free [0, 128] [256, 131072]
        }

    Code is then generated from this text: what is changed in it changes the commands. Groups that
    have programs already keep them.
    """

    name = "lower-to-tile"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for group in _groups(op):
            if programs_of(group):
                continue
            chip = chip_of(op, self.chip)
            programs = [write(build(group, chip, core)) for core in range(cores_of(op))]
            Rewriter().insert_op(programs, InsertPoint.after(group))


@dataclass(frozen=True)
class VerifyTileProgramsPass(ModulePass):
    """Prove that tile programs do what the ops of their groups say, in the memory that there is.

    Of a group without any, those are looked at that code would be generated from. Everything that
    is read was written before and nothing since has been written over it; every slice of an
    operand holds what its reader needs; what is in use and scratch memory do not meet; everything
    lies inside local memory, aligned where it has to be; results are stored whole. All faults
    found are reported.
    """

    name = "verify-tile-programs"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [
            f"group '{name_of(group)}': {fault}"
            for group in _groups(op)
            for fault in _faults(group, chip_of(op, self.chip), cores_of(op))
        ]
        if found:
            listed = "".join(f"\n  {fault}" for fault in found)
            raise TpuError(f"faults in tile programs ({len(found)}):{listed}")


def _groups(module: ModuleOp) -> list[tpu.GroupOp]:
    return [op for op in module.walk() if isinstance(op, tpu.GroupOp)]


def _faults(group: tpu.GroupOp, chip: Chip, cores: int) -> Iterator[str]:
    programs = [program_of(group, chip, core) or build(group, chip, core) for core in range(cores)]
    yield from faults(programs, chip)
