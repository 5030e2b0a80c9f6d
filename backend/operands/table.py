"""The operands of every command whose operands are known."""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.operands import gdma, tiu
from xdsl_tpu.backend.operands.access import Access, AccessRule
from xdsl_tpu.dialects.errors import TpuError

RULES: dict[tuple[str, int], AccessRule] = tiu.RULES | gdma.RULES
"""Operands by (form, function)."""


def accesses(command: Command, chip: Chip) -> tuple[Access, ...]:
    """What a command reads and writes, reads first.

    Raises TpuError when the operands of its form and function are not known.
    """
    rule = RULES.get((command.form.name, command.function))
    if rule is None:
        raise TpuError(
            f"the operands of {command.form.name} ({command.function_name}) are not known"
        )
    return tuple(rule(command, chip))
