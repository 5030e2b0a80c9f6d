"""Requantisation: tables of two words a channel, multiplier, then shift and zero point; the
constants of DQ0 are the scale, then the zero point.

Products and windows do it, too, where `rq` is set: their factors are one table or constants, in
registers (`opd5`), and `res0_sign` is the sign of the result.
"""

from dataclasses import replace
from typing import Any

from xdsl_tpu.backend.isa.codes import RQ_DQ
from xdsl_tpu.backend.isa.instruction import Described, Family, Operand, Place
from xdsl_tpu.backend.isa.terms import Fields

WORDS = 2

EPILOGUE = "relu rq opd2_n_str res0_sign opd5_const opd5_addr opd5_shift opd5_zero"
"""Fields of what a command does with its sums."""


SCALED: dict[str, Any] = {"signed": ("res0_sign",), "saturates": True}
"""What is declared of results that may have a new scale."""


def is_requantised(fields: Fields) -> bool:
    """Whether a command gives its sums a new scale."""
    return bool(fields["rq"])


REQUANT_TABLE = Operand(
    "opd5",
    (1, "res0_c", 1, WORDS),
    None,
    Place.COMPACT,
    constant="opd5_const",
    when=is_requantised,
)


def _own(described: Described) -> Described:
    if RQ_DQ.DQ0 in described.functions:
        return replace(described, scale="opd1_addr")
    if RQ_DQ.RQ1 not in described.functions:
        return described

    def cut(operand: Operand) -> Operand:
        n, c, h, _ = operand.shape
        return replace(operand, shape=(n, c, h, WORDS), place=Place.COMPACT)

    operands = (cut(one) if one.name == "opd1" else one for one in described.operands)
    return replace(described, operands=tuple(operands))


def family(base: Family) -> Family:
    """RQ_DQ."""
    gone = frozenset((RQ_DQ.RQ2, RQ_DQ.DQ2))
    return replace(base, described=tuple(map(_own, base.described)), without=gone)
