"""The instruction set of the BM1684X: `forms.json` has the bit layouts, the modules the rest.

Sources: docs/hardware/instructions.md, and what the C model was seen to read and write.
"""

from xdsl_tpu.backend.isa.bm1684x import elements, products, transfers
from xdsl_tpu.backend.isa.instruction import Family

FAMILIES: tuple[Family, ...] = (
    *elements.FAMILIES,
    *products.FAMILIES,
    *transfers.FAMILIES,
)
