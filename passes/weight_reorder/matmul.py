"""Weights of matrix products.

What a kernel for `tpu.MatMul` receives: the right operand `[K, N]` as it is, or as `[N, K]` where
the DMA takes far less for such rows (`right_transpose`), with a 1 in front when the left operand
has rank 3; a bias of rank 1 as `[1, 1, 1, N]`, others as they are.
"""

from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.timing.gdma_cost import Direction, matrix_cycles, rate_of
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.tensors import element_bytes, is_weight, shape_of
from xdsl_tpu.passes.weight_data import change_weight

RIGHT, BIAS = 1, 2


FAR_LESS = 0.5
"""What loading a matrix in its other form must take of what it takes as it is: rows that are few
fill fewer lanes, which is not counted."""


def reorder_matmul(op: tpu.MatMulOp, weights: Weights | None, chip: Chip) -> None:
    """Align the ranks of the weights of a matrix product with the left operand's."""
    if is_weight(op.right):
        right = shape_of(op.right)
        leading = (1,) if len(right) == 2 and len(shape_of(op.input)) == 3 else ()
        if _loads_by_columns(op, chip):
            turned = (*leading, *right[:-2], *reversed(right[-2:]))
            change_weight(op, RIGHT, turned, lambda data: data.swapaxes(-1, -2).copy(), weights)
            op.right_transpose = BOOL.convert(True)
        elif leading:
            change_weight(op, RIGHT, (1, *right), lambda data: data, weights)
    if not is_none(op.bias) and is_weight(op.bias):
        bias = shape_of(op.bias)
        if len(bias) == 1:
            change_weight(op, BIAS, (1, 1, 1, *bias), lambda data: data, weights)


def _loads_by_columns(op: tpu.MatMulOp, chip: Chip) -> bool:
    """Whether a matrix that few rows are multiplied by has rows so short that its columns load in
    far less time: those of a last layer, of a few classes."""
    right, width = shape_of(op.right), element_bytes(op.right)
    flags = op.right_transpose, op.left_transpose, op.output_transpose, op.hdim_is_batch
    few = prod(shape_of(op.input)[:-1]) <= chip.lanes
    several = prod(right[:-2]) > 1
    if not few or several or any(flag.value.data for flag in flags):
        return False
    rate, size = rate_of(Direction.LOAD, chip), prod(right) * width
    plain, turned = (matrix_cycles(size, rate, n * width, chip) for n in reversed(right[-2:]))
    return turned < FAR_LESS * plain
