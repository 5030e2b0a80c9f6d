"""The pass `fuse-residual`."""

import math
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.graph import rebuilt
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.tensors import functions, shape_of, tensor_type

Product = tpu.A16MatMulOp | tpu.MlpOp


@dataclass(frozen=True)
class FuseResidualPass(ModulePass):
    """Add what goes past a product of packed weights, or a whole Mlp, where that is stored.

        %p = A16MatMul(%h, matrix)
        %y = Add(%x, %p)              ->    %y = A16MatMul(%h, matrix, %x)

    Only for more rows than `chip`, a name or a `.toml` description, has lanes: their sum would pass
    through DDR once more. A product has no bias, and neither has another user.
    """

    name = "fuse-residual"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        chip = chip_of(op, self.chip)
        for func in functions(op):
            for inner in list(func.body.block.ops):
                if isinstance(inner, tpu.AddOp):
                    _fuse(inner, chip)


def _fuse(add: tpu.AddOp, chip: Chip) -> None:
    if len(add.inputs) != 2 or add.do_relu.value.data:
        return
    kind = tensor_type(add.output)
    if math.prod(kind.get_shape()[:-1]) <= chip.lanes:
        return
    for product, residual in (add.inputs, add.inputs[::-1]):
        found, alike = product.owner, tensor_type(residual) == tensor_type(product) == kind
        if alike and residual is not product and isinstance(found, Product) and _takes(found):
            _replace(add, found, residual)
            return


def _takes(op: Product) -> bool:
    if op.residual is not None or not op.output.has_one_use():
        return False
    biased = isinstance(op, tpu.A16MatMulOp) and not is_none(op.bias)
    return not biased and len(shape_of(op.output)) >= 2


def _replace(add: tpu.AddOp, product: Product, residual: SSAValue) -> None:
    operands = [*product.operands, residual]
    made: Operation = rebuilt(product, operands=operands, location=add.location)
    Builder(InsertPoint.before(add)).insert(made)
    add.output.replace_all_uses_with(made.results[0])
    for old in (add, product):
        old.detach()
        old.erase()
