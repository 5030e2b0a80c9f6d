"""Which memory each command reads and writes, exactly, from its fields and what is declared of it.

>>> for access in accesses(command, chip):
...     print(access.operand, access.writes, hex(access.address), access.shape)
"""

from xdsl_tpu.backend.operands.access import Access
from xdsl_tpu.backend.operands.table import accesses

__all__ = ["Access", "accesses"]
