"""Softmax along any dimension, as one down the columns of matrices."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.lowering.channels import is_over_channels
from xdsl_tpu.passes.tensors import shape_of

BYTES = 2
"""Of the numbers that products, softmaxes and transpositions are priced with."""

PASSES = 28
"""Over numbers of f32, by a softmax down columns (`backend/kernels/softmax.py`), which is no part
of a layer group."""


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


def transposed(shape: Sequence[int], chip: Chip) -> int:
    """Cycles of transposing matrices of shape (.., rows, columns), which come and go whole."""
    return in_runs(prod(shape), prod(shape[-2:]), chip)


def down_columns(shape: Sequence[int], chip: Chip) -> int:
    """Cycles of a softmax down the columns of matrices, of shape (.., rows, columns).

    Lanes have whole matrices, or, where these are fewer, parts of their columns, each of which lies
    by itself in DDR: the better of the two, as `backend/local/row_views.py` has them. Ops beside it
    end their layer groups: one of two is taken to be in one.
    """
    *images, rows, columns = shape
    outer, eu = prod(images), chip.eu(4)

    def cycles(lanes: int) -> int:
        """With each matrix shared by so many lanes."""
        share = columns // lanes
        rounds = outer if lanes > 1 else -(-outer // chip.lanes)
        run = share if lanes > 1 else rows * columns
        return in_runs(prod(shape), run, chip) + PASSES * rounds * -(-rows * share // eu)

    shared = (n for n in range(min(outer, chip.lanes) + 1, chip.lanes + 1) if columns % n == 0)
    parted = there_and_back(prod(shape), chip) // 2
    return parted + min(cycles(lanes) for lanes in (1, *shared))


def in_runs(elements: int, run: int, chip: Chip) -> int:
    """Cycles of numbers of which so many lie together in DDR, there and back."""
    return round(there_and_back(elements, chip) * max(1.0, chip.ddr_row_bytes / (BYTES * run)))


@dataclass(frozen=True)
class SoftmaxToColumns(RewritePattern):
    """Softmax(x, axis) -> Reshape(Softmax(Reshape(x), 1)) where the axis lies further in front.

                                              Reshape            1x19x4096
        Softmax {axis = 1}  1x19x64x64   ->   Softmax {axis = 1} 1x19x4096
                                              Reshape            1x19x64x64

    What lies behind the axis becomes one dimension, what lies in front of it another. Where two
    transpositions take longer than it does, it stays, and so do channels of an image, which change
    places with its columns in local memory.
    """

    chip: Chip

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SoftmaxOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input) or is_across(op) or op.log.value.data:
            return
        if is_over_channels(op, self.chip):
            return
        shape = shape_of(op.input)
        axis = op.axis.value.data % len(shape)
        inner = prod(shape[axis + 1 :])
        if inner == 1 or shape[axis] == 1:
            return
        matrices = prod(shape[:axis]), shape[axis], inner
        if down_columns(matrices, self.chip) <= 2 * transposed(matrices, self.chip):
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
