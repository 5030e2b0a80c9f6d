"""How the elements of each IR type are held in numpy arrays.

Every floating point tensor is a float32 array, whatever its type: an `f16` or `bf16` tensor holds
float32 numbers that are exactly representable in 16 bits. One rule for all modes makes every
computation f32 with the rounding in one place, the end of each op. Integer tensors are arrays of
their own integer type, those of quantised types, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    NoneType,
    Signedness,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute

from xdsl_tpu.dialects.interpreters.numerics.rounding import round_in_place, to_bf16, to_f16
from xdsl_tpu.dialects.quant import UniformType, stored_element
from xdsl_tpu.dialects.weights import as_float32

Array = npt.NDArray[Any]


def _keep(x: Array) -> Array:
    return x


_ROUND: Final[Mapping[type[Attribute], Callable[[Array], Array]]] = {
    Float32Type: _keep,
    Float16Type: to_f16,
    BFloat16Type: to_bf16,
}
_BYTES: Final[Mapping[type[Attribute], int]] = {Float32Type: 4, Float16Type: 2, BFloat16Type: 2}


def element_type(type_: Attribute) -> Attribute:
    """The stored type of a tensor's elements: floats of calibrated, integers of uniform types."""
    return stored_element(_declared(type_))


def uniform_type(type_: Attribute) -> UniformType | None:
    """The quantised type of a tensor's elements; None when they are not quantised.

    ValueError for scales per axis, which have no semantics.
    """
    try:
        element = _declared(type_)
    except ValueError:
        return None
    if not isinstance(element, UniformType):
        return None
    if len(element.scales) > 1:
        raise ValueError(f"{element} has more than one scale")
    return element


def _declared(type_: Attribute) -> Attribute:
    if not isinstance(type_, TensorType | UnrankedTensorType):
        raise ValueError(f"{type_} is not a tensor type")
    return cast(TensorType[Attribute] | UnrankedTensorType[Attribute], type_).element_type


def static_shape(type_: Attribute) -> tuple[int, ...] | None:
    """The shape a type fixes, or None when it leaves a size open."""
    if not isinstance(type_, TensorType):
        return None
    shape = cast(TensorType[Attribute], type_).get_shape()
    return shape if all(size >= 0 for size in shape) else None


def is_absent(type_: Attribute) -> bool:
    """Whether a value of this type is none at all."""
    return isinstance(type_, NoneType)


def element_bytes(type_: Attribute) -> int:
    """Bytes of one stored element of a tensor type."""
    element = element_type(type_)
    if is_integer(element):
        return integer_dtype(element).itemsize
    if type(element) not in _BYTES:
        raise ValueError(f"elements of {element} have no values here")
    return _BYTES[type(element)]


def is_integer(element: Attribute) -> TypeIs[IntegerType | IndexType]:
    """Whether tensors of this element type are arrays of integers."""
    return isinstance(element, IntegerType | IndexType)


def integer_dtype(element: IntegerType | IndexType) -> np.dtype[Any]:
    """The numpy type of integers of an IR type: whole bytes, and 64 bits for `index`."""
    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    width = max(element.width.data, 8)
    kind = "u" if element.signedness.data is Signedness.UNSIGNED else "i"
    return np.dtype(f"{kind}{width // 8}")


def conform(values: Array, type_: Attribute, overwrite: bool = False) -> Array:
    """`values` rounded to the element type of a tensor type, held as the module says.

    With `overwrite` nobody else needs `values`, and the result may take their place.
    """
    element = element_type(type_)
    if is_integer(element):
        return values.astype(integer_dtype(element), copy=False)
    if (rounding := _ROUND.get(type(element))) is None:
        raise ValueError(f"elements of {element} have no values here")
    singles = values.astype(np.float32, copy=False)
    if rounding is not _keep and (overwrite or singles is not values):
        return round_in_place(singles, rounding)
    return rounding(singles)


def decode_stored(stored: Array, type_: Attribute) -> Array:
    """Numbers from a weight file as values of a tensor type.

    f16 may be stored as float16 or as its bits in uint16, bf16 as its bits in uint16; both also as
    float32, which is then rounded.
    """
    element = element_type(type_)
    if stored.dtype == np.uint16 and isinstance(element, Float16Type):
        stored = stored.view(np.float16)
    sixteen_bits = isinstance(element, Float16Type) and stored.dtype == np.float16
    if sixteen_bits or (isinstance(element, BFloat16Type) and stored.dtype == np.uint16):
        return as_float32(stored, element)
    return conform(stored, type_)
