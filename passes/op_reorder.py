"""The pass `op-reorder`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.early_ops import moves_behind_makers, side_values_first, widen_late
from xdsl_tpu.passes.join_runs import join_runs
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import functions
from xdsl_tpu.passes.view_places import gather_views


@dataclass(frozen=True)
class OpReorderPass(ModulePass):
    """Move every weight in front of its first user, and what has no local form where it parts
    fewest ops.

    Coefficients get their addresses in program order, so this makes the chip read them from
    rising addresses. A Reshape that has no local form ends a layer group; several of them go to
    one place between what makes their operands and what reads them.

        MatMul, MatMul, Exp, Reshape, Mul, Reshape, Mul  ->  MatMul, MatMul, Reshape, Reshape, Exp,
                                                             Mul, Mul

    Of two ops without a local form the second goes to the first with what it needs, where that
    takes bytes off the way to DDR and back. For the same reason what reads a value of an earlier
    run of ops with a local form, and nothing else, goes to that run.

        Add a, MatMul a; Gather; Relu b, MatMul a  ->  Add a, MatMul a, MatMul a; Gather; Relu b

    What is made of inputs in small steps, as masks are, is made first: no slices are cut of it. A
    Permute or a change of shape of a value that nothing else reads goes to what makes that: there
    it parts no products of which slices are cut. A Cast that makes elements wider goes to its first
    reader where local memory does not hold the value.

    `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "op-reorder"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        for func in functions(op):
            gather_views(func.body.block)
            join_runs(func.body.block)
            side_values_first(func.body.block)
            moves_behind_makers(func.body.block)
            widen_late(func.body.block, chip.lanes * chip.local_bytes)
            move_weights(func)


def move_weights(func: FuncOp) -> None:
    """Weights end up in the order of the operands of their first user."""
    block = func.body.block
    moved: set[top.WeightOp] = set()
    for user in list(block.ops):
        for value in user.operands:
            weight = value.owner
            if isinstance(weight, top.WeightOp) and weight not in moved:
                moved.add(weight)
                weight.detach()
                block.insert_op_before(weight, user)
