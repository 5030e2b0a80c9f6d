"""`extra-optimize`: what is done once after canonicalisation; and equal ops, which lowering makes,
too."""

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.flops import flops
from xdsl_tpu.passes.graph import is_returned
from xdsl_tpu.passes.module_state import set_module_attributes
from xdsl_tpu.passes.tensors import functions


@dataclass(frozen=True)
class ExtraOptimizePass(ModulePass):
    """Merge equal ops on the same operands and record the work in `module.FLOPs`.

    %1 = Permute(%0) {order = [0, 2, 3, 1]}          %1 = Permute(%0) {..}
    %2 = Permute(%0) {order = [0, 2, 3, 1]}    ->    use %1 for both
    """

    name = "extra-optimize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions(op):
            merge_equal_users(function)
        region_dce(op.body)
        work = sum(flops(inner) for function in functions(op) for inner in function.walk())
        set_module_attributes(op, {"module.FLOPs": IntegerAttr(work, i64)})


def merge_equal_users(function: FuncOp) -> None:
    """Replace an op by an earlier one of its block that does the same to the same operands."""
    seen: dict[Hashable, Operation] = {}
    for op in list(function.walk()):
        if op.operands and _is_mergeable(op):
            first = seen.setdefault(_done(op), op)
            if first is not op:
                Rewriter.replace_op(op, (), first.results)


def _is_mergeable(op: Operation) -> bool:
    """Whether an op may stand for an equal one; results of the function keep their names."""
    return (
        op.dialect_name() in (top.Top.name, tpu.Tpu.name)
        and is_side_effect_free(op)
        and not op.regions
        and not is_returned(op)
    )


def _done(op: Operation) -> Hashable:
    """What an op does, where, and to what."""
    attributes = frozenset(op.attributes.items())
    return type(op), op.parent, tuple(op.operands), attributes, tuple(op.result_types)
