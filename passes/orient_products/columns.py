"""Softmax along any dimension, as one down the columns of matrices."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import shape_of

BYTES = 2
"""Of the numbers that products, softmaxes and transpositions are priced with."""


def is_across(op: top.SoftmaxOp) -> bool:
    """Whether a softmax goes down the columns of matrices, along the last dimension but one."""
    if not has_shapes(op.input):
        return False
    shape = shape_of(op.input)
    rank = len(shape)
    return rank > 2 and op.axis.value.data % rank == rank - 2 and shape[-1] > 1


def there_and_back(elements: int, chip: Chip) -> int:
    """Cycles of so many numbers to local memory and back."""
    rates = chip.load_bytes_per_cycle, chip.store_bytes_per_cycle
    return sum(round(elements * BYTES / rate) for rate in rates)


def down_columns(shape: Sequence[int], chip: Chip) -> int:
    """Cycles of a softmax down the columns of matrices, of shape (.., rows, columns).

    What a lane has of the columns is all that lies together in DDR.
    """
    *images, _, columns = shape
    run = BYTES * min(columns, -(-prod(images) * columns // chip.lanes))
    return round(there_and_back(prod(shape), chip) * max(1.0, chip.ddr_row_bytes / run))


@dataclass(frozen=True)
class SoftmaxToColumns(RewritePattern):
    """Softmax(x, axis) -> Reshape(Softmax(Reshape(x), 1)) where the axis lies further in front.

                                              Reshape            1x19x4096
        Softmax {axis = 1}  1x19x64x64   ->   Softmax {axis = 1} 1x19x4096
                                              Reshape            1x19x64x64

    What lies behind the axis becomes one dimension, what lies in front of it another. Where two
    transpositions take longer than it does, it stays.
    """

    chip: Chip

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SoftmaxOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input) or is_across(op) or op.log.value.data:
            return
        shape = shape_of(op.input)
        axis = op.axis.value.data % len(shape)
        inner = prod(shape[axis + 1 :])
        if inner == 1 or shape[axis] == 1:
            return
        matrices = prod(shape[:axis]), shape[axis], inner
        if down_columns(matrices, self.chip) <= 2 * there_and_back(prod(shape), self.chip):
            return
        flat = top.ReshapeOp.make(
            derived_name(op.input, f"_as_{'x'.join(map(str, matrices))}"),
            (op.input,),
            result_types=[tensor_like(op.input, matrices)],
            shape=matrices,
        )
        columns = rebuilt(op, operands=[flat], result_types=[tensor_like(op.output, matrices)])
        columns.axis = type(op.axis)(1, op.axis.type)
        columns.location = name_loc(derived_name(op, "_columns"))
        back = top.ReshapeOp.make(
            op.location, (columns.output,), result_types=[op.output.type], shape=shape
        )
        rewriter.replace(op, [flat, columns, back])
