"""What kernels write to: typed methods per instruction form.

The emitter hands out command ids, derives `cmd_id_dep` from the local memory each command
touches, and tags commands with their layer.
"""

from xdsl_tpu.backend.emitter.gdma import GdmaEmitter
from xdsl_tpu.backend.emitter.quantized import QuantizedEmitter
from xdsl_tpu.backend.emitter.queues import GRANULE, CommandQueues
from xdsl_tpu.backend.emitter.scale import Scale
from xdsl_tpu.backend.emitter.tiu import Arith, Compare, Operand
from xdsl_tpu.backend.emitter.window import Window
from xdsl_tpu.backend.isa.codes import Rounding


class Emitter(QuantizedEmitter, GdmaEmitter):
    """Both engines."""


__all__ = [
    "GRANULE",
    "Arith",
    "CommandQueues",
    "Compare",
    "Emitter",
    "Operand",
    "Rounding",
    "Scale",
    "Window",
]
