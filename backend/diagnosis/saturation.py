"""Results that stop at the limits of their integer type."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, FLOATS
from xdsl_tpu.backend.isa.instruction import EITHER_SIGN

_CAST = "tpu.Cast"


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


def signed_result(command: Command) -> bool:
    """Whether an integer result is signed."""
    described = command.instruction.described
    signed = EITHER_SIGN if described is None else described.signed
    return signed if isinstance(signed, bool) else any(command[field] for field in signed)


def limits_of(command: Command, size: int, op: str) -> Limits | None:
    """The limits that a result of 8 or 16 bits stops at; None where nothing is cut off.

    `op` is the name of the layer's op, empty where the program does not say. Integers made of
    floats are a layer's result in a cast only, else a step of a kernel.
    """
    described = command.instruction.described
    if described is None or not described.saturates or size > 2:
        return None
    limits = _of(size, signed_result(command))
    is_cast = (command.form.family, command.function) == ("AR", AR.DATA_CONVERT)
    if not is_cast or command["opd0_prec"] not in FLOATS or op == _CAST:
        return limits
    return None if op else replace(limits, least=None)


def at_limits(values: npt.NDArray[Any], limits: Limits) -> int:
    """How many values are at an end of their type."""
    count = int(np.count_nonzero(values == limits.greatest))
    if limits.least is not None:
        count += int(np.count_nonzero(values == limits.least))
    return count
