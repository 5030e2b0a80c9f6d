"""The pass `layer-group`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneType, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.table import LOCAL_KERNELS
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops, why_global
from xdsl_tpu.passes.layer_group.build import build_group
from xdsl_tpu.passes.layer_group.model import Group, rechained
from xdsl_tpu.passes.layer_group.packs import pack_weights
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.split_weights import mark_split_weights
from xdsl_tpu.passes.module_state import text_attribute


@dataclass(frozen=True)
class LayerGroupPass(ModulePass):
    """Put ops that follow each other into groups that keep their values in local memory.

        %1 = "tpu.Conv2D"(%0, %w, %b) ...          %1 = "tpu.Group"(%0) ({
        %2 = "tpu.Relu"(%1)                   ->     %3 = "tpu.Load"(%0) ...
                                                     %4 = "tpu.Conv2D"(%3, ...) {ginfo = ...}
                                                     %5 = "tpu.Relu"(%4) {ginfo = ...}
                                                     %6 = "tpu.Store"(%5) ...
                                                     "tpu.Yield"(%6) }) {flow = ...}

    `opt` 0 makes no groups, 1 takes the longest groups from the end, 2 finds the partition with
    the least traffic. `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "layer-group"

    opt: int = 2
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.opt == 0:
            return
        chip = load_chip(self.chip or text_attribute(op, "module.chip") or "bm1684x")
        _, _, func = divided_parts(op)
        none = _none_op(func)
        ops = computing_ops(func.body.block)
        mark_split_weights(ops)
        searcher = Searcher(chip, _scratch)
        groups: list[Group] = []
        for base in base_groups(ops, _why_global):
            if base.why_global is None:
                search = searcher.greedy if self.opt == 1 else searcher.optimal
                groups += search(base.ops)
        groups = rechained(groups, chip, _scratch)
        number = 0
        for index, group in enumerate(groups):
            groups[index], number = pack_weights(group, chip, number)
        # Plans refer to values as they are now; a group changes only what comes after it.
        for group in reversed(groups):
            build_group(group, none, chip)


LARGEST_STRIDE = 15
"""Strides are four-bit fields of a command."""

_SCRATCH = {
    "tpu.Active": 24576,
    "tpu.LayerNorm": 24576,
    "tpu.MatMul": 12288,
    "tpu.Pool2D": 4096,
    "tpu.Reduce": 8192,
    "tpu.Softmax": 24576,
}


def _scratch(op: Operation) -> int:
    return _SCRATCH.get(op.name, 4096)


def _why_global(op: Operation) -> str | None:
    """An op's own word, and whether there is a kernel for it."""
    reason = why_global(op)
    if reason is not None:
        return reason
    if op.name not in LOCAL_KERNELS:
        return f"{op.name} has no local kernel"
    if isinstance(op, tpu.Conv2DOp) and max(ints(op.strides)) > LARGEST_STRIDE:
        return f"a stride of {max(ints(op.strides))} takes several commands"
    return None


def _none_op(func: FuncOp) -> top.NoneOp:
    """The function's absent value, made when there is none yet."""
    block = func.body.block
    for op in block.ops:
        if isinstance(op, top.NoneOp):
            return op
    none = top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
    first = block.first_op
    if first is None:
        raise TpuError(f"function @{func.sym_name.data} is empty")
    block.insert_op_before(none, first)
    return none
