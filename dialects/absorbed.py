"""Movement ops that nothing executes: their users read the operand in another order.

The attribute `absorbed` on such an op says that its result is not laid out in memory. The result
keeps its meaning, so interpreters need not know; it stands at its operand's address, and every
tpu.Load of it gathers its elements from there.
"""

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

ABSORBED = "absorbed"


def is_absorbed(op: Operation) -> bool:
    """Whether the op's result is only a way to read its first operand."""
    return ABSORBED in op.attributes


def set_absorbed(op: Operation, absorbed: bool) -> None:
    """Set or remove the mark."""
    attributes = {key: value for key, value in op.attributes.items() if key != ABSORBED}
    if absorbed:
        attributes[ABSORBED] = UnitAttr()
    op.attributes = dict(sorted(attributes.items()))


def absorbed_owner(value: SSAValue) -> Operation | None:
    """The absorbed op whose result this is, if any."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and is_absorbed(owner) else None
