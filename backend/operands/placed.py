"""A declared operand at the fields of one command: its address, sizes and element type."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import Precision
from xdsl_tpu.backend.isa.instruction import Operand
from xdsl_tpu.backend.isa.terms import value_of
from xdsl_tpu.backend.operands.access import Access, element_bytes
from xdsl_tpu.backend.tensor import Shape4, align, ceil_div

_WORD = 4  # bytes of a word of parameters


@dataclass(frozen=True, slots=True)
class Placed:
    """An operand whose elements still need their strides; of int4 a tensor of bytes."""

    command: Command
    chip: Chip
    declared: Operand
    address: int
    shape: Shape4
    size: int
    precision: int | None

    @classmethod
    def of(cls, command: Command, operand: Operand, chip: Chip) -> "Placed":
        """The operand of a command. Raises TpuError when the size of its elements is not known."""
        n, c, h, w = (value_of(term, command, chip) for term in operand.shape)
        code = command[operand.type] if isinstance(operand.type, str) else operand.type
        address = address_of(command, operand.name)
        if code == Precision.I4 and operand.packed:
            w, h, size = ceil_div(h * w, 2), 1, 1
        else:
            size = _WORD if code is None else element_bytes(code)
        return cls(command, chip, operand, address, (n, c, h, w), size, code)

    @property
    def is_local(self) -> bool:
        """Whether an address as the GDMA has it is in local memory."""
        return is_local(self.address, self.chip)

    def local(self, strides: Shape4, alignment: int = 0) -> Access:
        """In local memory, with these strides; aligned to its elements unless said."""
        return self._access(True, self.address, strides, alignment or self.size)

    def anywhere(self, strides: Shape4) -> Access:
        """In the memory in which the GDMA's address is."""
        local = self.is_local
        offset = self.address - self.chip.local_base if local else self.address
        return self._access(local, offset, strides, self.size)

    def static(self) -> Access:
        """In a row in static memory; its address as the GDMA would have it."""
        address = self.address - self.chip.static_tiu_base + self.chip.static_base
        return self._access(False, address, (0, 0, 0, 1), self.size)

    def aligned(self) -> Access:
        """Channel rows (h * w) padded to the lane width."""
        _, _, h, w = self.shape
        return self._packed(align(h * w, self.chip.eu(self.size)), w, self.chip.eu_bytes)

    def compact(self) -> Access:
        """No padding."""
        _, _, h, w = self.shape
        return self._packed(h * w, w, self.size)

    def lines(self) -> Access:
        """Every row (h) padded to the lane width."""
        _, _, h, w = self.shape
        row = align(w, self.chip.eu(self.size))
        return self._packed(h * row, row, self.size)

    def groups(self) -> int:
        """Groups of channels that a lane holds."""
        return ceil_div((self.address >> self.chip.lane_shift) + self.shape[1], self.chip.lanes)

    def blocks(self, last: int) -> Iterator[Access]:
        """All full column blocks (channels) of a matrix, then `last` columns of the final one."""
        whole = self.aligned()
        rows, blocks, _, width = self.shape
        if last == width:
            yield whole
            return
        if blocks > 1:
            yield replace(whole, shape=(rows, blocks - 1, 1, width))
        lane, offset = divmod(self.address, self.chip.local_bytes)
        group, lane = divmod(lane + blocks - 1, self.chip.lanes)
        address = (lane << self.chip.lane_shift) + offset + group * whole.strides[1] * self.size
        yield replace(whole, address=address, shape=(rows, 1, 1, last))

    def _packed(self, channel: int, row: int, alignment: int) -> Access:
        return self.local((self.groups() * channel, channel, row, 1), alignment)

    def _access(self, local: bool, address: int, strides: Shape4, alignment: int) -> Access:
        return Access(
            self.declared.name,
            local,
            address,
            self.shape,
            strides,
            self.size,
            self.declared.writes,
            alignment,
            self.precision,
            self.declared.in_step,
        )


def address_of(command: Command, side: str) -> int:
    """Where an operand begins, as its command has it."""
    return command.form.operands[side].address_in(command)


def local_sides(command: Command, chip: Chip) -> list[str]:
    """Which of `src` and `dst` have their address in local memory."""
    return [side for side in ("src", "dst") if is_local(address_of(command, side), chip)]


def is_local(address: int, chip: Chip) -> bool:
    """Whether an address as the GDMA has it is in local memory."""
    return 0 <= address - chip.local_base < chip.lanes * chip.local_bytes
