"""Arrays of weights in the element types of the IR."""

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, IntegerType
from xdsl.ir import Attribute

from xdsl_tpu.dialects.errors import TpuError

Array = npt.NDArray[Any]


def stored_as(values: Array, element: Attribute) -> Array:
    """`values` as the weight file holds them for an element type.

    f16 rounds to nearest even and clips to the finite range; bf16 rounds likewise and is kept
    as the upper 16 bits in uint16; i32 truncates.
    """
    match element:
        case Float32Type():
            return values.astype(np.float32, copy=False)
        case Float16Type():
            limit = float(np.finfo(np.float16).max)
            return np.clip(values, -limit, limit).astype(np.float16)
        case BFloat16Type():
            bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
            rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
            return (rounded >> np.uint32(16)).astype(np.uint16)
        case IntegerType():
            return values.astype(np.int32)
        case _:
            raise TpuError(f"weights cannot be stored as {element}")
