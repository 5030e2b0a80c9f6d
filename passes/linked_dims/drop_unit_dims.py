"""The pass `drop-unit-dims`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.graph import has_shapes
from xdsl_tpu.passes.linked_dims.change import DROPPED
from xdsl_tpu.passes.linked_dims.linked import Linked, carried_by
from xdsl_tpu.passes.tensors import functions, is_weight, shape_of

MOST = 4
"""Products of this rank are left alone: kernels and patterns know them as they are."""


@dataclass(frozen=True)
class DropUnitDimsPass(ModulePass):
    """Write batches of products without dimensions of size 1, where they have more than four.

        %1 = "top.Permute"(%0) {order = [0, 1, 3, 2, 4]} : 1x64x49x2x32 -> 1x64x2x49x32
        %2 = "top.MatMul"(%1, %k) : (1x64x2x49x32, 1x64x2x32x49) -> 1x64x2x49x49
        %3 = "top.Softmax"(%2) {axis = 4} : 1x64x2x49x49 -> 1x64x2x49x49
      ->
        %r = "top.Reshape"(%0) : 1x64x49x2x32 -> 64x49x2x32
        %1 = "top.Permute"(%r) {order = [0, 2, 1, 3]} : 64x49x2x32 -> 64x2x49x32
        %2 = "top.MatMul"(%1, %k) : (64x2x49x32, 64x2x32x49) -> 64x2x49x49
        %3 = "top.Softmax"(%2) {axis = 3} : 64x2x49x49 -> 64x2x49x49

    Local memory and the patterns of attention have four dimensions. The dimension goes from all
    values that have it from, or hand it on to, such a product of two computed matrices: through
    element-wise ops, Softmax, Permute, Slice, Split, Squeeze and Unsqueeze. Around those stand
    Reshapes.
    """

    name = "drop-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            block = func.body.block
            while any([_drop(product) for product in _products(block)]):
                pass


def _products(block: Block) -> Iterator[top.MatMulOp]:
    """Batches of products of computed matrices in more than four dimensions, as they are now."""
    for op in list(block.ops):
        if isinstance(op, top.MatMulOp) and op.parent is block and has_shapes(op.output):
            computed = not is_weight(op.input) and not is_weight(op.right)
            if computed and len(shape_of(op.output)) > MOST:
                yield op


def _drop(product: top.MatMulOp) -> bool:
    """Drop a dimension of a product and of what is linked with it; whether there is one."""
    for axis, size in enumerate(shape_of(product.output)[:-2]):
        if size == 1 and carried_by(product, product.output, axis, DROPPED) is not None:
            found = Linked.to(product.output, axis, DROPPED)
            if found is not None:
                found.rewrite()
                return True
    return False
