"""The element type of every operand, and its numbers in memory."""

from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.diagnosis.saturation import signed_result
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import ELEMENT_BYTES, INTEGERS, Precision
from xdsl_tpu.backend.machine.elements import BF16, F16, F32, Element, element
from xdsl_tpu.backend.machine.memory import Memory, Placed
from xdsl_tpu.backend.operands import Access

Bits = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_EXPONENT: dict[Element, tuple[int, int]] = {
    F16: (0x7C00, 0x03FF),
    BF16: (0x7F80, 0x007F),
    F32: (0x7F80_0000, 0x007F_FFFF),
}
"""Bits of the exponent and of the fraction."""

_UNSIGNED: dict[int, np.dtype[Any]] = {n: np.dtype(f"u{n}") for n in (1, 2, 4)}


def element_of(command: Command, access: Access) -> Element | None:
    """The type of an operand's elements; None where it is int4, a parameter word or not known."""
    code = access.precision
    if code is None or code == Precision.I4 or ELEMENT_BYTES.get(code) != access.size:
        return None
    if command.engine is Engine.GDMA or code not in INTEGERS:
        return element(code)
    if access.operand.startswith("res"):
        return element(code, int(signed_result(command)))
    return element(code, command[f"{access.operand}_sign"])


def precision_of(command: Command, name: str) -> int | None:
    """The precision code of an operand that may be a constant; of parameters that of the first."""
    described = command.instruction.described
    for operand in described.operands if described is not None else ():
        if operand.name == name and operand.when(command):
            return command[operand.type] if isinstance(operand.type, str) else operand.type
    fields = command.form.operands.get(name)
    return command[(fields.precision if fields is not None else None) or "opd0_prec"]


def place(memory: Memory, access: Access, dtype: np.dtype[Any]) -> Placed:
    """An operand in memory. Raises TpuError when it does not fit there."""
    where = memory.local if access.local else memory
    return where.place(access.address, access.shape, access.strides, dtype)


def unsigned(size: int) -> np.dtype[Any]:
    """The type that holds the bits of elements of `size` bytes."""
    return _UNSIGNED[size]


def not_finite(bits: Bits, kind: Element) -> Mask:
    """Where the bits of floats are those of an infinity or a NaN."""
    exponent = bits.dtype.type(_EXPONENT[kind][0])
    return (bits & exponent) == exponent


def is_nan(bits: Bits, kind: Element) -> Mask:
    """Where the bits of floats are those of a NaN."""
    exponent, fraction = (bits.dtype.type(mask) for mask in _EXPONENT[kind])
    return ((bits & exponent) == exponent) & ((bits & fraction) != 0)


def any_not_finite(placed: Placed, kind: Element) -> bool:
    """Whether any element of a tensor of floats is infinite or NaN."""
    return any(bool(not_finite(view, kind).any()) for view in placed.views)


def values_of(bits: Bits, kind: Element) -> npt.NDArray[Any]:
    """The numbers that bits stand for."""
    return kind.load(np.ascontiguousarray(bits).view(kind.storage))
