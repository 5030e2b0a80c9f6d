"""Dropout and the masks it is made of.

A mask has one element per element of a tensor: 1 with probability 1 - rate, else 0. It depends on
seed, rate and shape only (`dialects/random_masks.py`), so it can be made anywhere.
"""

import struct
from abc import ABC

from xdsl.irdl import operand_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.oneflow.base import F32, SI64, OneFlowOp, UnaryOp, default_attr_def
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


def dropout_scale(rate: float) -> float:
    """1 / (1 - rate) in f32 arithmetic; 1 for rate 1, where the mask is all zeros.

    Elements that are kept are scaled so that the expected value stays the same (OneFlow's functor
    DropoutFunctor). Rounding an f64 difference and quotient of f32 numbers to f32 is exact.
    """
    kept = _f32(1.0 - rate)
    return _f32(1.0 / kept) if kept > 0.0 else 1.0


def _f32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


class _RandomOp(OneFlowOp, ABC):
    """Zeroes an element with probability `rate`, from 0 to 1."""

    rate = default_attr_def(F32, 0.0)
    seed = default_attr_def(SI64, 0)

    def verify_(self) -> None:
        super().verify_()
        rate = self.rate.value.data
        if not 0.0 <= rate <= 1.0:
            raise VerifyException(f"rate {rate:g} is no probability: it must be from 0 to 1")


@oneflow_op
class DropoutOp(_RandomOp):
    """out = in * mask * 1 / (1 - rate) + _add_to_output, the last one if there; and the mask."""

    name = "oneflow.dropout"

    input = operand_def(RANKED)
    add_to_output = opt_operand_def(RANKED)
    out = result_def(RANKED)
    mask = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, more = self.shape_of(self.input), self.add_to_output
        if more is not None and self.shape_of(more) != shape:
            raise ShapeError(f"_add_to_output {dims(self.shape_of(more))} must be {dims(shape)}")
        return (shape, shape)


@oneflow_op
class RandomMaskLikeOp(_RandomOp, UnaryOp):
    """A mask of the shape of its operand, whose values do not matter."""

    name = "oneflow.random_mask_like"

    traits = traits_def(Pure())
