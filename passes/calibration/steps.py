"""From calibrated ranges to 8-bit types."""

from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat, Float32Type, Signedness
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.dialects.quant import CalibratedType, UniformType
from xdsl_tpu.passes.calibration.ranges import Range, range_of
from xdsl_tpu.passes.tensors import element_of

SIGNED_MAX, UNSIGNED_MAX = 127, 255
"""The integers that stand for a threshold."""


class Step(NamedTuple):
    """How a tensor's integers stand for numbers: times `scale`, with or without a sign."""

    scale: float
    signed: bool


def step_for(known: Range) -> Step:
    """The symmetric step for a range: 127 or 255 stands for its threshold."""
    if known.is_signed:
        return Step(known.threshold / SIGNED_MAX, True)
    return Step(known.max / UNSIGNED_MAX, False)


def step_of(value: SSAValue) -> Step | None:
    """The step a value has, or will have after a cast; None when its range is not known."""
    element = element_of(value)
    if isinstance(element, UniformType):
        return Step(element.scale, is_signed(element))
    known = range_of(value)
    return None if known is None or known.threshold == 0 else step_for(known)


def is_signed(element: UniformType) -> bool:
    """Whether a quantised type has negative integers."""
    return element.storage.signedness.data is Signedness.SIGNED


def quantised(element: Attribute) -> UniformType | None:
    """The 8-bit type for numbers of a calibrated type; None for any other type."""
    if not isinstance(element, CalibratedType):
        return None
    return _uniform(Range(element.min.value.data, element.max.value.data), element.expressed)


def result_element(old: SSAValue) -> UniformType:
    """The 8-bit element type of what replaces a calibrated result of top IR."""
    known = range_of(old)
    assert known is not None
    return _uniform(known, Float32Type())


def _uniform(known: Range, expressed: AnyFloat) -> UniformType:
    step = step_for(known)
    return UniformType.of(8, expressed, step.scale, signed=step.signed)
