"""From calibrated ranges to 8-bit types."""

from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import AnyFloat, Float32Type, Signedness
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.dialects.quant import CalibratedType, UniformType
from xdsl_tpu.passes.calibration.ranges import Range, range_of
from xdsl_tpu.passes.tensors import element_of

SIGNED_MAX, UNSIGNED_MAX = 127, 255
"""The integers that stand for a threshold."""

SIGNED_MIN = -128


class Step(NamedTuple):
    """How a tensor's integers q stand for numbers: scale * (q - zero_point), with or without a
    sign."""

    scale: float
    signed: bool
    zero_point: int = 0


def step_for(known: Range, asymmetric: bool = False) -> Step:
    """The step for a range: 127 or 255 stands for its threshold.

    `asymmetric` gives a range that reaches below zero all 256 integers from end to end, of which
    the zero point stands for 0.
    """
    if known.is_signed and asymmetric:
        scale = (max(known.max, 0.0) - known.min) / UNSIGNED_MAX
        nearest = np.floor(SIGNED_MIN - known.min / scale + 0.5)
        return Step(scale, True, int(np.clip(nearest, SIGNED_MIN, SIGNED_MAX)))
    if known.is_signed:
        return Step(known.threshold / SIGNED_MAX, True)
    return Step(known.max / UNSIGNED_MAX, False)


def step_of(value: SSAValue, asymmetric: bool = False) -> Step | None:
    """The step a value has, or will have after a cast; None when its range is not known."""
    element = element_of(value)
    if isinstance(element, UniformType):
        return Step(element.scale, is_signed(element), element.zero_point)
    known = range_of(value)
    return None if known is None or known.threshold == 0 else step_for(known, asymmetric)


def is_signed(element: UniformType) -> bool:
    """Whether a quantised type has negative integers."""
    return element.storage.signedness.data is Signedness.SIGNED


def quantised(element: Attribute, asymmetric: bool = False) -> UniformType | None:
    """The 8-bit type for numbers of a calibrated type; None for any other type."""
    if not isinstance(element, CalibratedType):
        return None
    known = Range(element.min.value.data, element.max.value.data)
    return _uniform(known, element.expressed, asymmetric)


def result_element(old: SSAValue, asymmetric: bool = False) -> UniformType:
    """The 8-bit element type of what replaces a calibrated result of top IR."""
    known = range_of(old)
    assert known is not None
    return _uniform(known, Float32Type(), asymmetric)


def _uniform(known: Range, expressed: AnyFloat, asymmetric: bool) -> UniformType:
    step = step_for(known, asymmetric)
    return UniformType.of(8, expressed, step.scale, step.zero_point, signed=step.signed)
