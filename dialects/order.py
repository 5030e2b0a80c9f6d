"""Values must be made before they are used; xDSL's verifier does not look at that."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of


def check_order(module: Operation, file: str) -> None:
    """Look at every function body of one block.

    Raises TpuError naming the first op that uses a value of a later op, or its own.
    """
    for op in module.walk():
        if isinstance(op, FuncOp) and len(op.body.blocks) == 1:
            _check_block(op.body.block, set(), file)


def _check_block(block: Block, known: set[Operation], file: str) -> None:
    for op in block.ops:
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner not in known:
                raise TpuError(
                    f"{file}: {_title(op)} uses the result of {_title(owner)}, which is not made "
                    "before it: put ops in the order in which they run, without a circle"
                )
        for region in op.regions:
            if len(region.blocks) == 1:
                _check_block(region.block, set(known), file)
        known.add(op)


def _title(op: Operation) -> str:
    name = name_of(op)
    return f"'{name}' ({op.name})" if name else f"a {op.name}"
