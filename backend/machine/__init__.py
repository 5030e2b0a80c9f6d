"""The machine: what commands do to values. It knows no cycles and no kernels."""

from xdsl_tpu.backend.machine.machine import Machine, Numerics, describe, static_image
from xdsl_tpu.backend.machine.memory import LocalMemory, Memory, Placed
from xdsl_tpu.backend.machine.state import Outside

__all__ = [
    "LocalMemory",
    "Machine",
    "Memory",
    "Numerics",
    "Outside",
    "Placed",
    "describe",
    "static_image",
]
