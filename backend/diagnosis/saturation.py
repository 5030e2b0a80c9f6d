"""Results that stop at the limits of their integer type."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa import Command

_CONVERT, _FLOATS, _CAST = ("sAR", 14), {1, 2, 5}, "tpu.Cast"


@dataclass(frozen=True)
class Limits:
    """The ends of a type; `least` is None where many values may rest, which is no loss.

    That is so at 0, and where floats of unknown meaning become integers: kernels of functions
    such as exp rely on it for what is far below.
    """

    name: str
    dtype: np.dtype[Any]
    least: int | None
    greatest: int


def _of(size: int, signed: bool) -> Limits:
    dtype = np.dtype(f"{'i' if signed else 'u'}{size}")
    info = np.iinfo(dtype)
    name = f"{'i' if signed else 'u'}{8 * size}"
    return Limits(name, dtype, int(info.min) if signed else None, int(info.max))


def _any_operand(command: Command) -> bool:
    return bool(command["opd0_sign"] | command["opd1_sign"] | command["opd2_sign"])


def _either(command: Command) -> bool:
    return bool(command["opd0_sign"] | command["opd1_sign"])


def _unsigned(command: Command) -> bool:
    return False


def _signed(command: Command) -> bool:
    return True


def _target(command: Command) -> bool:
    return bool(command["opd2_sign"])


SIGNED: dict[tuple[str, int], Callable[[Command], bool]] = {
    ("sCONV", 1): _any_operand,
    ("sCONV", 2): _unsigned,
    ("sMM", 2): _any_operand,
    ("sMM", 3): _unsigned,
    ("sPorD", 0): _either,
    ("sPorD", 2): _unsigned,
    **{("sRQ_DQ", function): _target for function in range(3)},
    ("sAR", 14): _target,
    **{(form, function): _either for form in ("sAR", "sVC") for function in (15, 20)},
    **{(form, 16): _signed for form in ("sAR", "sVC")},
}
"""Functions that round and saturate, and whether their result is signed."""


def signed_result(command: Command) -> bool:
    """Whether an integer result is signed."""
    return SIGNED.get((command.form.name, command.function), _either)(command)


def limits_of(command: Command, size: int, op: str) -> Limits | None:
    """The limits that a result of 8 or 16 bits stops at; None where nothing is cut off.

    `op` is the name of the layer's op, empty where the program does not say. Integers made of
    floats are a layer's result in a cast only, else a step of a kernel.
    """
    key = command.form.name, command.function
    if key not in SIGNED or size > 2:
        return None
    limits = _of(size, signed_result(command))
    if key != _CONVERT or command["opd0_prec"] not in _FLOATS or op == _CAST:
        return limits
    return None if op else replace(limits, least=None)


def at_limits(values: npt.NDArray[Any], limits: Limits) -> int:
    """How many values are at an end of their type."""
    count = int(np.count_nonzero(values == limits.greatest))
    if limits.least is not None:
        count += int(np.count_nonzero(values == limits.least))
    return count
