"""Requantisation: tables of two words a channel, multiplier, then shift and zero point."""

from dataclasses import replace

from xdsl_tpu.backend.isa.codes import RQ_DQ
from xdsl_tpu.backend.isa.instruction import Described, Family, Operand, Place

WORDS = 2


def _own(described: Described) -> Described:
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
