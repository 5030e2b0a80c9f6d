"""One operand of one command as a strided region of memory.

The placement rules are those of docs/hardware/machine.md#placement. Nothing here
touches values: `xdsl_tpu.backend.machine` places the same operands over real memory, and a test
holds the two to the same bytes.
"""

from dataclasses import dataclass

from xdsl_tpu.backend.isa.codes import ELEMENT_BYTES, Precision
from xdsl_tpu.backend.tensor import Shape4
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True, slots=True)
class Access:
    """Elements (n, c, h, w) of `size` bytes, with strides in elements.

    In local memory `address` is an offset from its start and channel c lies on lane
    (lane0 + c) mod lanes, the channel stride joining lane groups; elsewhere `address` is
    absolute and memory is linear. `alignment` is what the address must be a multiple of.
    `precision` is the code of the elements; None of words of parameters. An operand is `in_step`
    when it is read as the result of its command advances.
    """

    operand: str
    local: bool
    address: int
    shape: Shape4
    strides: Shape4
    size: int
    writes: bool
    alignment: int
    precision: int | None = None
    in_step: bool = False


def element_bytes(code: int) -> int:
    """Bytes of an element; raises TpuError for codes without a known size."""
    if code == Precision.I4:
        raise TpuError("where int4 lies is known only for sCONV, sMM, sMM2 and casts and copies")
    if code not in ELEMENT_BYTES:
        raise TpuError(f"elements of precision code {code} have no known size")
    return ELEMENT_BYTES[code]
