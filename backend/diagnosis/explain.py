"""Why a command made what it made, and what helps, in words."""

from collections.abc import Callable

from xdsl_tpu.backend.diagnosis.result import Fault, Range, Row
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, SFU, VC

_DIVISIONS = {("sAR", AR.DIV), ("sVC", VC.DIV)}
_ROOTS = {("sSFU", SFU.RSQRT)}
_SUMS = {"sCONV", "sMM", "sMM2", "sPorD", "sLIN"}
_GREATEST = {"f16": "65,504", "bf16": "3.39e38", "f32": "3.40e38"}


def explain(row: Row, command: Command) -> str:
    """What happened, told from the operands; empty where the fault says it all."""
    return _EXPLAIN[row.fault](row, command) if row.fault in _EXPLAIN else ""


def _has_zero(one: Range) -> bool:
    return one.least <= 0 <= one.greatest


def _overflow(row: Row, command: Command) -> str:
    key = command.form.name, command.function
    divisor = next((one for one in row.operands if one.operand == "opd1"), None)
    if key in _DIVISIONS and divisor is not None and _has_zero(divisor):
        return "division by zero"
    if key in _ROOTS and row.operands and row.operands[0].least < 0:
        return "the root of a negative number"
    return f"beyond {_GREATEST[row.dtype]}, where {row.dtype} ends"


def _invalid(row: Row, command: Command) -> str:
    key = command.form.name, command.function
    divisor = next((one for one in row.operands if one.operand == "opd1"), None)
    if key in _DIVISIONS and divisor is not None and _has_zero(divisor):
        return "0 / 0"
    if key in _ROOTS and row.operands and row.operands[0].least < 0:
        return "the root of a negative number"
    if command.form.name in _SUMS:
        return f"sums beyond {_GREATEST[row.dtype]} with both signs"
    if any(one.nan for one in row.operands if not one.shape):
        return "the function has no value there, as roots and logarithms of negative numbers"
    return ""


def _from_infinity(row: Row, command: Command) -> str:
    if command.form.name in _SUMS:
        return "infinities of both signs in one sum, or an infinity times zero"
    return _OF_INFINITIES.get(command.function, "") if command.form.name in ("sAR", "sVC") else ""


_OF_INFINITIES: dict[int, str] = {
    AR.MUL: "infinity * 0",
    AR.ADD: "inf + -inf",
    AR.SUB: "inf - inf",
    AR.DIV: "inf / inf",
}
"""Of AR, and of VC, whose functions have the same numbers."""


def _saturation(row: Row, command: Command) -> str:
    return f"{row.share:.0%} of the layer's numbers are at the limits of {row.dtype}"


_EXPLAIN: dict[Fault, Callable[[Row, Command], str]] = {
    Fault.OVERFLOW: _overflow,
    Fault.INVALID: _invalid,
    Fault.FROM_INFINITY: _from_infinity,
    Fault.SATURATION: _saturation,
}
