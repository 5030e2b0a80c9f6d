"""The element type of every operand, and its numbers in memory."""

from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.diagnosis.saturation import signed_result
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.machine.elements import BF16, F16, F32, INT4, Element, element
from xdsl_tpu.backend.machine.memory import Memory, Placed
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.operands.access import ELEMENT_BYTES

Bits = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_INTEGERS = {0, 3, 4}
_INDEX_CODE = 4  # i32
_RESULT_CODE = "res0_prec"
_FIRST_CODE = "opd0_prec"
_SECOND_LIKE_FIRST = {"opd1": _FIRST_CODE}
_LIKE_RESULT = {"opd0": _RESULT_CODE, "opd1": _RESULT_CODE, "opd2": _RESULT_CODE}
_COMPARED = {"opd0": _FIRST_CODE, "opd1": _FIRST_CODE}

CODE_FIELDS: dict[str, dict[str, str]] = {
    "sCMP": _COMPARED | dict.fromkeys(("opd2", "opd3", "res0", "res1"), "opd2_prec"),
    "sCONV": _SECOND_LIKE_FIRST | {"opd2": "bias"},
    "sMM": _SECOND_LIKE_FIRST | {"opd2": "bias"},
    "sMM2": _SECOND_LIKE_FIRST | {"opd2": "bias"},
    "sPorD": _SECOND_LIKE_FIRST | {"opd2": _FIRST_CODE},
    "sSFU": _SECOND_LIKE_FIRST,
    "sTRANS_BC": _LIKE_RESULT,
    "sLIN": _LIKE_RESULT,
    "sSG": {"opd0": _RESULT_CODE},
}
"""By form, operands whose precision code is in another field than `<operand>_prec`."""

_BOTH_SELECTED = {22, 25}
"""Functions of sCMP whose first result is of the compared operands."""

_EXPONENT: dict[Element, tuple[int, int]] = {
    F16: (0x7C00, 0x03FF),
    BF16: (0x7F80, 0x007F),
    F32: (0x7F80_0000, 0x007F_FFFF),
}
"""Bits of the exponent and of the fraction."""

_UNSIGNED: dict[int, np.dtype[Any]] = {n: np.dtype(f"u{n}") for n in (1, 2, 4)}


def element_of(command: Command, access: Access) -> Element | None:
    """The type of an operand's elements; None where it is int4, a parameter word or not known."""
    code = _code(command, access)
    if code == INT4 or ELEMENT_BYTES.get(code) != access.size:
        return None
    if command.engine is Engine.GDMA or code not in _INTEGERS:
        return element(code)
    if access.operand.startswith("res"):
        return element(code, int(signed_result(command)))
    return element(code, command[f"{access.operand}_sign"])


def _code(command: Command, access: Access) -> int:
    name, form = access.operand, command.form.name
    if command.engine is Engine.GDMA:
        return _INDEX_CODE if name == "index" else command["src_data_format"]
    if form == "sRQ_DQ" and name == "opd1":
        return INT4
    if form == "sCMP" and name == "res0" and command.function in _BOTH_SELECTED:
        return command[_FIRST_CODE]
    field = CODE_FIELDS.get(form, {}).get(name, f"{name}_prec")
    if field != "bias":
        return command[field]
    return 2 if command[_FIRST_CODE] in (1, 2, 5) else 3  # f32 of floats, i16 of a requantised sum


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
