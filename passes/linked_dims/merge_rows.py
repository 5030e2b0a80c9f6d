"""The pass `merge-rows`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.graph import has_shapes
from xdsl_tpu.passes.linked_dims.change import MERGED
from xdsl_tpu.passes.linked_dims.linked import Linked, carried_by
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.tensors import functions, is_weight, shape_of

LEAST = 3
"""Products keep this rank: images, rows, columns."""


@dataclass(frozen=True)
class MergeRowsPass(ModulePass):
    """Write products whose rows lie in several dimensions as matrices, with what is linked to them.

        %1 = "top.Permute"(%0) {order = [0, 2, 3, 1]} : 1x24x56x56 -> 1x56x56x24
        %2 = "top.LayerNorm"(%1) {axis = 3} : 1x56x56x24
        %3 = "top.MatMul"(%2, %w) : (1x56x56x24, 24x96) -> 1x56x56x96
      ->
        %r = "top.Reshape"(%0) : 1x24x56x56 -> 1x24x3136
        %1 = "top.Permute"(%r) {order = [0, 2, 1]} : 1x24x3136 -> 1x3136x24
        %2 = "top.LayerNorm"(%1) {axis = 2} : 1x3136x24
        %3 = "top.MatMul"(%2, %w) : (1x3136x24, 24x96) -> 1x3136x96

    The rows of a matrix lie over the lanes: of 56 lines of 56 pixels 56 lanes of 64 would be used,
    and each lane would hold rows that begin anywhere. Dimensions are merged in all values that hand
    them on to such a product: through element-wise ops, norms, Softmax, Permute, Slice, Split and
    Concat along others. Around those stand Reshapes. Rows and keys of attention stay apart.
    """

    name = "merge-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        for func in functions(op):
            block = func.body.block
            while any([_merge(product) for product in _products(block)]):
                pass


def _products(block: Block) -> Iterator[top.MatMulOp]:
    """Products of computed rows in several dimensions with one matrix, as they are now."""
    for op in list(block.ops):
        if not isinstance(op, top.MatMulOp) or op.parent is not block or is_weight(op.input):
            continue
        if has_shapes(op.right, op.output):
            ranks = len(shape_of(op.right)), len(shape_of(op.output))
            if ranks[0] == 2 and ranks[1] > LEAST:
                yield op


def _merge(product: top.MatMulOp) -> bool:
    """Merge two dimensions of a product and of what is linked with it; whether there are such."""
    rank = len(shape_of(product.output))
    for axis in range(rank - 3, 0, -1):
        if carried_by(product, product.output, axis, MERGED) is not None:
            found = Linked.to(product.output, axis, MERGED)
            if found is not None and not _are_scores(found):
                found.rewrite()
                return True
    return False


def _are_scores(found: Linked) -> bool:
    """Whether the dimensions are rows and keys of an attention: products of two computed matrices,
    or a Softmax, tell them apart, and who fuses attention wants to see them."""
    near = {op for value in found.axes for op in (value.owner, *(u.operation for u in value.uses))}
    return any(
        isinstance(op, top.SoftmaxOp)
        or (isinstance(op, top.MatMulOp) and not is_weight(op.input) and not is_weight(op.right))
        for op in near - found.ops
    )
