"""The instruction set of the BM1688: that of the BM1684X but for what is declared here.

`forms.json` has the bits that differ, the modules what commands mean otherwise.
Source: docs/hardware/bm1688.md.
"""

from dataclasses import replace

from xdsl_tpu.backend.isa import bm1684x
from xdsl_tpu.backend.isa.bm1688 import markers, products, requantised, windows
from xdsl_tpu.backend.isa.codes import AR, SG
from xdsl_tpu.backend.isa.costs import ElementWise
from xdsl_tpu.backend.isa.instruction import Family

_BASE = {family.name: family for family in bm1684x.FAMILIES}


def _element_wise() -> Family:
    base = _BASE["AR"]
    assert isinstance(base.cost, ElementWise)
    gone = frozenset((AR.MUL_DHR, AR.EU_INDEX_GEN, AR.LANE_INDEX_GEN, AR.COPY_MULTI_BATCH))
    return replace(base, cost=replace(base.cost, free_at_end=True), without=gone)


_GONE = frozenset(
    (
        SG.PE_M_GATHER_D1COOR,
        SG.PE_S_SCATTER_PP_D1COOR,
        SG.PL_GATHER_PERW,
        SG.PL_SCATTER_PERW,
    )
)

_OWN = (
    _element_wise(),
    replace(_BASE["SG"], without=_GONE),
    *products.families(_BASE),
    windows.family(_BASE["PorD"]),
    requantised.family(_BASE["RQ_DQ"]),
    *markers.families(_BASE),
)

FAMILIES: tuple[Family, ...] = tuple(
    (
        {name: one for name, one in _BASE.items() if name != "SEG"}
        | {one.name: one for one in _OWN}
    ).values()
)
