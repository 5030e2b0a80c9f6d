"""Weights of matrix products.

What a kernel for `tpu.MatMul` receives: the right operand `[K, N]` as it is, as `[1, K, N]` when
the left operand has rank 3; a bias of rank 1 as `[1, 1, 1, N]`, others as they are.
"""

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.tensors import is_weight, shape_of
from xdsl_tpu.passes.weight_data import change_weight

RIGHT, BIAS = 1, 2


def reorder_matmul(op: tpu.MatMulOp, weights: Weights | None) -> None:
    """Align the ranks of the weights of a matrix product with the left operand's."""
    if is_weight(op.right):
        right = shape_of(op.right)
        if len(right) == 2 and len(shape_of(op.input)) == 3:
            change_weight(op, RIGHT, (1, *right), lambda data: data, weights)
    if not is_none(op.bias) and is_weight(op.bias):
        bias = shape_of(op.bias)
        if len(bias) == 1:
            change_weight(op, BIAS, (1, 1, 1, *bias), lambda data: data, weights)
