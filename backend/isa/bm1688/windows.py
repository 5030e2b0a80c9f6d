"""Windows: maxima with their places, minima, an activation."""

from dataclasses import replace

from xdsl_tpu.backend.isa.bm1684x.elements import RESULT
from xdsl_tpu.backend.isa.bm1688.requantised import EPILOGUE, REQUANT_TABLE, SCALED
from xdsl_tpu.backend.isa.codes import PorD, Precision
from xdsl_tpu.backend.isa.costs import Windows
from xdsl_tpu.backend.isa.instruction import Described, Family, Operand
from xdsl_tpu.backend.isa.terms import Fields

NOWHERE = 0xFFFF_FFFF
"""The address of places of maxima that nobody wants."""


def _wanted(fields: Fields) -> bool:
    return fields["opd2_addr"] != NOWHERE


_PLACES = Operand("opd2", RESULT, Precision.I16, writes=True, when=_wanted)
"""Which tap of its window is the largest."""


def _own(described: Described) -> Described:
    also = f"{described.also} {EPILOGUE}"
    if PorD.MAX_POOL not in described.functions:
        *before, result = described.operands
        return replace(described, operands=(*before, REQUANT_TABLE, result), also=also, **SCALED)
    idle = " ".join(name for name in described.idle.split() if not name.startswith("opd2"))
    return replace(
        described,
        operands=(*described.operands, _PLACES),
        also=also,
        idle=f"{idle} opd2_const",
        absent=(("opd2_addr", NOWHERE),),
    )


def family(base: Family) -> Family:
    """PorD."""
    kept = (one for one in base.described if PorD.DEPTHWISE_RELU not in one.functions)
    return replace(
        base,
        described=tuple(map(_own, kept)),
        cost=Windows(strided=2),
        without=frozenset((PorD.DEPTHWISE_RELU,)),
        primed=True,
    )
