"""One operand of one command as a strided region of memory.

The placement rules are those of docs/hardware/machine.md#placement. Nothing here
touches values: `xdsl_tpu.backend.machine` places the same operands over real memory, and a test
holds the two to the same bytes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.tensor import Shape4, align, ceil_div
from xdsl_tpu.dialects.errors import TpuError

ELEMENT_BYTES = {0: 1, 1: 2, 2: 4, 3: 2, 4: 4, 5: 2}
"""Bytes of an element by precision code; int4 lies two to a byte."""

INT4 = 6
"""The precision code of int4."""


@dataclass(frozen=True, slots=True)
class Access:
    """Elements (n, c, h, w) of `size` bytes, with strides in elements.

    In local memory `address` is an offset from its start and channel c lies on lane
    (lane0 + c) mod lanes, the channel stride joining lane groups; elsewhere `address` is
    absolute and memory is linear. `alignment` is what the address must be a multiple of.
    """

    operand: str
    local: bool
    address: int
    shape: Shape4
    strides: Shape4
    size: int
    writes: bool
    alignment: int


AccessRule: TypeAlias = Callable[[Command, Chip], Iterator[Access]]
"""The operands of a command; raises TpuError for fields whose meaning is not known."""


def element_bytes(code: int) -> int:
    """Bytes of an element; raises TpuError for codes without a known size."""
    if code == INT4:
        raise TpuError("where int4 lies is known only for sCONV, sMM, sMM2 and casts and copies")
    if code not in ELEMENT_BYTES:
        raise TpuError(f"elements of precision code {code} have no known size")
    return ELEMENT_BYTES[code]


@dataclass(frozen=True, slots=True)
class Operand:
    """A local operand that still needs its layout: name, address, sizes, element bytes."""

    name: str
    address: int
    shape: Shape4
    size: int
    writes: bool = False

    def eu_aligned(self, chip: Chip) -> Access:
        """Channel rows (h * w) padded to the lane width (layout code 0)."""
        _, _, h, w = self.shape
        return self._packed(chip, align(h * w, chip.eu(self.size)), w, chip.eu_bytes)

    def compact(self, chip: Chip) -> Access:
        """No padding."""
        _, _, h, w = self.shape
        return self._packed(chip, h * w, w, self.size)

    def line_aligned(self, chip: Chip) -> Access:
        """Every row (h) padded to the lane width."""
        _, _, h, w = self.shape
        row = align(w, chip.eu(self.size))
        return self._packed(chip, h * row, row, self.size)

    def strided(self, strides: Shape4) -> Access:
        """Explicit element strides (layout code 3)."""
        return self._access(strides, self.size)

    def _packed(self, chip: Chip, channel: int, row: int, alignment: int) -> Access:
        groups = ceil_div((self.address >> chip.lane_shift) + self.shape[1], chip.lanes)
        return self._access((groups * channel, channel, row, 1), alignment)

    def _access(self, strides: Shape4, alignment: int) -> Access:
        return Access(
            self.name, True, self.address, self.shape, strides, self.size, self.writes, alignment
        )


def tensor_of(
    command: Command, name: str, shape: Shape4, code: int, writes: bool = False
) -> Operand:
    """The operand at `*_addr` with elements of a precision code."""
    return Operand(name, command[f"{name}_addr"], shape, element_bytes(code), writes)


def tensor_or_int4(
    command: Command, name: str, shape: Shape4, code: int, writes: bool = False
) -> Operand:
    """As `tensor_of`; int4 is a tensor of bytes, a channel's rows one behind the other."""
    if code != INT4:
        return tensor_of(command, name, shape, code, writes)
    n, c, h, w = shape
    return Operand(name, command[f"{name}_addr"], (n, c, 1, ceil_div(h * w, 2)), 1, writes)


def result_shape(command: Command) -> Shape4:
    """The n, c, h, w of the result."""
    return command["res0_n"], command["res0_c"], command["res0_h"], command["res0_w"]
