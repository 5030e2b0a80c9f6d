"""Weights of tpu.Scale: its factors and terms as a kernel takes them, `[1, C, 1, ..]`."""

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.tensors import is_weight, shape_of
from xdsl_tpu.passes.weight_data import change_weight

FACTORS, TERMS = 1, 2


def reorder_scale(op: tpu.ScaleOp, weights: Weights | None) -> None:
    """Give factors and terms the rank of the tensor, so that they lie along its channels."""
    rank = len(shape_of(op.input))
    for index in (FACTORS, TERMS):
        value = op.operands[index]
        channels = shape_of(op.output)[1:2]
        shape = (*(1 for _ in channels), *channels, *(1 for _ in range(rank - 2)))
        if is_weight(value) and shape_of(value) != shape:
            change_weight(op, index, shape, lambda data: data, weights)
