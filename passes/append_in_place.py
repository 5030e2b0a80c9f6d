"""The pass `append-in-place`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import SI32
from xdsl_tpu.passes.address_assign.io import is_apart
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES
from xdsl_tpu.passes.tensors import functions, shape_of, size_in_bytes


@dataclass(frozen=True)
class AppendInPlacePass(ModulePass):
    """Let what a function gives lie behind one of its inputs, where the two are read as one.

        %2 = "tpu.Concat"(%input, %new) {axis = 1, only_merge}  ->  %2 = "tpu.Append"(%input, %new)
        return %new

    Keys and values of a new token are so appended to those of the tokens before without a copy.
    Only modules whose inputs and outputs lie apart (`module.addr_mode` io_alone) have places for
    this. The input must end where a tensor may begin, at a multiple of 64 bytes, and only sizes of
    1 may come before the axis.
    """

    name = "append-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not is_apart(op):
            return
        for func in functions(op):
            taken = set[SSAValue]()
            for concat in list(func.body.block.ops):
                if isinstance(concat, tpu.ConcatOp) and _fits(concat, func, taken):
                    taken.update(concat.inputs)
                    _replace(concat)


def _fits(op: tpu.ConcatOp, func: FuncOp, taken: set[SSAValue]) -> bool:
    if not op.only_merge.value.data or op.do_relu.value.data or len(op.inputs) != 2:
        return False
    first, second = op.inputs
    leading = shape_of(op.output)[: op.axis.value.data]
    last = func.body.block.last_op
    returned = isinstance(last, ReturnOp) and second in last.operands
    computed = not isinstance(second.owner, top.InputOp | top.WeightOp)
    return (
        isinstance(first.owner, top.InputOp)
        and computed
        and returned
        and not taken.intersection(op.inputs)
        and all(size == 1 for size in leading)
        and size_in_bytes(first) % ALIGNMENT_BYTES == 0
    )


def _replace(op: tpu.ConcatOp) -> None:
    block = op.parent_block()
    assert block is not None
    append = tpu.AppendOp.create(
        operands=list(op.inputs),
        result_types=[op.output.type],
        attributes={"axis": SI32.encode(op.axis.value.data)},
        location=op.location,
    )
    block.insert_op_before(append, op)
    op.output.replace_all_uses_with(append.output)
    block.erase_op(op)
