"""Which tensors hold integers.

Ids, indices, positions and what is computed of them have elements of `INTEGER` in `top` and `tpu`
alike, whatever number format a network is lowered to: the chip computes on 32-bit integers, and
no float holds them all. Truth values are not integers here: 0 and 1 are exact in every float.
"""

from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, SSAValue

INTEGER = IntegerType(32, Signedness.SIGNED)
"""The element type of integer tensors, as the vendor's language models have it."""

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
"""The numbers it holds; arithmetic beyond them wraps, as on the chip."""

_SPELLINGS = (INTEGER, IntegerType(32))

EXACT_IN_F32 = 1 << 24
"""Magnitudes up to this are exact in f32."""


def is_integer_element(element: Attribute) -> bool:
    """Whether an element type is that of 32-bit integers, of either spelling (si32, i32)."""
    return element in _SPELLINGS


def is_integer_tensor(value: SSAValue) -> bool:
    """Whether a value is a tensor of 32-bit integers."""
    kind = value.type
    if not isinstance(kind, TensorType):
        return False
    return is_integer_element(cast("TensorType[Attribute]", kind).element_type)
