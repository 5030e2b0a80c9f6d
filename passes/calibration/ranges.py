"""Ranges of values in the IR: how a table's threshold becomes one, and reading and changing them.

A range that reaches below zero is quantised to signed integers, over +-threshold or, in asymmetric
quantisation, from end to end; any other to unsigned ones over 0..max.
"""

from typing import NamedTuple, cast

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.passes.calibration.table import Threshold
from xdsl_tpu.passes.constants import values_of
from xdsl_tpu.passes.tensors import is_weight

HEADROOM = 4
"""How far beyond the largest that was seen a share or a gate of an unseen input may be: a Softmax
that is cut off does more harm than steps of two bits less."""


class Range(NamedTuple):
    """The numbers a tensor is taken to hold, from `min` to `max`."""

    min: float
    max: float

    @property
    def is_signed(self) -> bool:
        """Whether negative numbers are among them."""
        return self.min < 0

    @property
    def threshold(self) -> float:
        """The largest magnitude."""
        return max(abs(self.min), abs(self.max))


def initial_range(op: Operation, seen: Threshold, asymmetric: bool = False) -> Range | None:
    """The range of a result of `op` from its line of the table; None for an all-zero line.

    An `asymmetric` range is what was seen, zero included; else the threshold bounds it. Shares of
    a Softmax over thousands of numbers are far below 1: steps of 1 / 255 would leave nothing of
    them.
    """
    th = seen.threshold
    if (seen.min, seen.max) == (0, 0):
        return None
    if asymmetric:
        positive = ends_in_relu(op) and not isinstance(op, top.SubOp)
        return Range(0.0 if positive else min(seen.min, 0.0), max(seen.max, 0.0))
    match op:
        case top.AbsOp():
            low, high = -th, th
        case top.SigmoidOp() | top.SoftmaxOp() if not op.log.value.data:
            low, high = 0.0, min(1.0, HEADROOM * th)
        case top.MulOp() if _is_product_of_positives(op):
            low, high = 0.0, th
        case top.SubOp():
            return Range(-th if seen.min < 0 else -1e-5, th)
        case _:
            low, high = (-th if seen.min < 0 else 0.0), th
    return Range(0.0 if ends_in_relu(op) else low, high)


def ends_in_relu(op: Operation) -> bool:
    """Whether a ReLU is the last thing `op` does."""
    flag = op.attributes.get("do_relu")
    return flag is not None and bool(cast(top.ConvOp, op).do_relu.value.data)


def _is_product_of_positives(op: top.MulOp) -> bool:
    """A square, or factors that all come out of a Sigmoid or ReLU."""
    if len(op.inputs) == 2 and op.inputs[0] is op.inputs[1]:
        return True
    makers = [value.owner for value in op.inputs]
    return all(isinstance(one, Operation) and _is_positive(one) for one in makers)


def _is_positive(op: Operation) -> bool:
    if isinstance(op, top.SigmoidOp):
        return not op.log.value.data
    return isinstance(op, top.ReluOp) or ends_in_relu(op)


def range_of(value: SSAValue) -> Range | None:
    """The calibrated range of a value; None when it has none."""
    if not is_ranked_tensor(value.type):
        return None
    element = value.type.element_type
    if not isinstance(element, CalibratedType):
        return None
    return Range(element.min.value.data, element.max.value.data)


def scaled_range(value: SSAValue, factor: float = 1.0) -> Range | None:
    """The range of a value, or of a weight's numbers, times a constant; None when not known."""
    if is_weight(value):
        held = values_of(value)
        known = None if held is None or not held.size else Range(held.min(), held.max())
    else:
        known = range_of(value)
    if known is None:
        return None
    ends = (known.min * factor, known.max * factor)
    return Range(float(min(ends)), float(max(ends)))


def range_of_sum(one: Range | None, other: Range | None) -> Range | None:
    """The range that a sum of numbers of two ranges may have; None when one is not known."""
    if one is None or other is None:
        return None
    return Range(one.min + other.min, one.max + other.max)


def set_range(value: SSAValue, new: Range) -> None:
    """Give a float tensor a (new) calibrated range."""
    assert is_ranked_tensor(value.type)
    element = value.type.element_type
    expressed = element.expressed if isinstance(element, CalibratedType) else element
    assert isinstance(expressed, AnyFloat)
    kind = TensorType(CalibratedType.of(expressed, *new), value.type.get_shape())
    if kind != value.type:
        Rewriter.replace_value_with_new_type(value, kind)
