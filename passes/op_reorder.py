"""The pass `op-reorder`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.passes.gather_users import gather_users
from xdsl_tpu.passes.join_runs import join_runs
from xdsl_tpu.passes.measured import copied, measured
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.pipelines import Settings, passes_behind
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

    Ops that read one large weight go next to each other, if they need nothing of each other.

        Conv a w, Relu a, Conv a v; Conv b w, Relu b, Conv b v  ->  Conv a w, Conv b w, Relu a,
                                                                    Relu b, Conv a v, Conv b v

    Local memory of `chip`, a name or a `.toml` description, must have room for their values, and
    the whole network must be faster for it, unless that is not to be measured.
    """

    name = "op-reorder"

    chip: str = ""
    measure: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            gather_views(func.body.block)
            join_runs(func.body.block)
        if not self.measure or self._is_faster_gathered(ctx, op):
            self._gather(op)
        for func in functions(op):
            _move_weights(func)

    def _gather(self, module: ModuleOp) -> bool:
        chip = chip_of(module, self.chip)
        return any([gather_users(func.body.block, chip) for func in functions(module)])

    def _is_faster_gathered(self, ctx: Context, module: ModuleOp) -> bool:
        """Whether local memory has no better use than to hold what waits for others."""
        gathered = copied(module)
        if not self._gather(gathered):
            return False
        passes = passes_behind(self.name, Settings(description=self.chip, shortfall=False))

        def cycles(network: ModuleOp) -> int:
            for func in functions(network):
                _move_weights(func)
            return measured(ctx, network, passes, chip_of(network, self.chip)).total

        try:
            return cycles(gathered) < cycles(copied(module))
        except (DoesNotFit, NoKernel):
            return False


def _move_weights(func: FuncOp) -> None:
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
