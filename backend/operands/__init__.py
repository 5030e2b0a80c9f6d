"""Which memory each command reads and writes, exactly, from its fields alone.

>>> for access in accesses(command, chip):
...     print(access.operand, access.writes, hex(access.address), access.shape)
"""

from xdsl_tpu.backend.operands.access import Access, AccessRule
from xdsl_tpu.backend.operands.table import RULES, accesses

__all__ = ["RULES", "Access", "AccessRule", "accesses"]
