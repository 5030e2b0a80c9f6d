"""What the commands of every chip can say, for code that cuts its work without a chip at hand."""

from xdsl_tpu.backend.isa.instruction_set import known_instruction_sets, load_instruction_set
from xdsl_tpu.backend.isa.limits import Limits

LIMITS = Limits.least(load_instruction_set(name).limits for name in known_instruction_sets())
"""The least of all instruction sets, each from the widths of its fields."""
