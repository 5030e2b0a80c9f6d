"""Where infinities and NaNs come from: a shadow of all memory with the number of their origin.

The shadow has the geometry of the memories, so that a command that only moves bytes moves the
origins by being executed on it. An origin is an event: a command (of one layer, the first of
them) whose result was not finite although its operands were, or that made NaNs of infinities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.diagnosis.operand_types import Bits, Mask, place, unsigned
from xdsl_tpu.backend.diagnosis.result import Fault
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import AR, TransBc
from xdsl_tpu.backend.machine.memory import Memory, Placed
from xdsl_tpu.backend.machine.table import state_of
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.dialects.errors import TpuError

_TRANSFERS = {"DMA_tensor", "DMA_matrix", "DMA_general", "DMA_cw_transpose"}
_LOCAL_MOVES: set[tuple[str, int]] = {
    ("sAR", AR.COPY),
    *(("sTRANS_BC", f) for f in TransBc if "STATIC" not in f.name),
}
_LAST_ID = 0xFFFF
_LAST_SHORT = 0xFF
_BOTH_HALVES = 0x10001

Numbers = npt.NDArray[np.uint32]


@dataclass
class Event:
    """An origin: `fault` is None for what is stored in the program and for several in one."""

    fault: Fault | None
    step: int = 0
    engine: Engine = Engine.TIU
    position: int = 0
    dtype: str = ""
    count: int = 0
    elements: int = 0
    commands: int = 0
    last_step: int = -1
    pole: bool = False
    parents: set[int] = field(default_factory=set[int])


class Origins:
    """Events by number (0: none), and the number of every element in memory."""

    STORED = 1
    """Infinities that the program itself holds, as masks do."""

    def __init__(self, chip: Chip) -> None:
        self._memory = Memory(chip, b"")
        self._state = state_of(chip, self._memory)
        self.events: list[Event] = [Event(None), Event(None)]
        self._numbers: dict[object, int] = {}
        self._short: list[int] = [0]
        self.active = False

    def number(self, key: object, event: Event) -> int:
        """The number of the event of this key, made from `event` the first time.

        Once all numbers are taken the last event stands for those that come later.
        """
        if (known := self._numbers.get(key)) is None:
            if len(self.events) > _LAST_ID:
                return _LAST_ID
            known = self._numbers[key] = len(self.events)
            self.events.append(event)
        self.active = True
        return known

    def joined(self, numbers: Iterable[int]) -> int:
        """One number that stands for several origins."""
        found = frozenset(number for number in numbers if number)
        if len(found) == 1:
            return next(iter(found))
        return self.number(found, Event(None, parents=set(found))) if found else self.STORED

    def read(self, access: Access) -> Numbers:
        """The numbers of an operand's elements, (n, c, h, w)."""
        return self._long(place(self._memory, access, unsigned(access.size)).read())

    def clean(self, access: Access) -> bool:
        """Whether an operand has no numbers at all."""
        return not any(view.any() for view in self._placed(access).views)

    def clear(self, access: Access) -> None:
        """A result has neither infinities nor NaNs nor anything made of them."""
        for view in self._placed(access).views:
            view[...] = 0

    def write(self, access: Access, numbers: Numbers) -> None:
        """Set the numbers of a result's elements, (n, c, h, w)."""
        self.active = True
        dtype = unsigned(access.size)
        if access.size == 1:
            numbers = self._shortened(numbers)
        elif access.size > 2:
            numbers = numbers * np.uint32(_BOTH_HALVES)
        self._placed(access).write(numbers.astype(dtype))

    def _placed(self, access: Access) -> Placed:
        return place(self._memory, access, unsigned(access.size))

    def _long(self, bits: Bits) -> Numbers:
        """Numbers from what the shadow holds: of a byte, the index of one."""
        if bits.itemsize == 1:
            table = np.full(_LAST_SHORT + 1, self.STORED, np.uint32)
            table[: len(self._short)] = self._short
            return table[bits]
        return (bits & bits.dtype.type(_LAST_ID)).astype(np.uint32)

    def _shortened(self, numbers: Numbers) -> Numbers:
        """Indices of numbers that fit a byte; later ones share the last."""
        indices = np.zeros_like(numbers)
        for number in numbers_in(numbers, numbers != 0):
            if number not in self._short and len(self._short) <= _LAST_SHORT:
                self._short.append(number)
            found = self._short.index(number) if number in self._short else _LAST_SHORT
            indices[numbers == number] = found
        return indices

    def is_pole(self, number: int) -> bool:
        """Whether it is that of infinities which a division by zero made."""
        return self.events[number].pole

    @staticmethod
    def can_move(command: Command) -> bool:
        """Whether a command only moves bytes."""
        key = command.form.name, command.function
        if key in _LOCAL_MOVES:
            return not command["opd0_const"]
        return command.form.name in _TRANSFERS and not command["fill_constant_en"]

    def move(self, command: Command) -> bool:
        """Move the numbers as the command moves bytes; false when it cannot be followed."""
        try:
            self._state.execute(command)
        except TpuError:  # it reads static memory, say, which has no shadow
            return False
        return True

    def at(self, address: int, shape: Sequence[int], size: int) -> Numbers:
        """The numbers of a dense array."""
        return self._long(self._memory.read(address, shape, unsigned(size)))

    def roots(self, number: int) -> set[int]:
        """The steps of the events that an event comes from and that come from none themselves."""
        behind = self.ancestors(self.events[number].parents) - {number}
        events = [self.events[one] for one in behind if self.events[one].fault is not None]
        first = [event for event in events if not event.parents]
        return {event.step for event in first or events}

    def ancestors(self, numbers: Iterable[int]) -> set[int]:
        """The events behind these numbers, themselves included."""
        found: set[int] = set()
        waiting = [int(number) for number in numbers]
        while waiting:
            if (number := waiting.pop()) and number not in found:
                found.add(number)
                waiting += self.events[number].parents
        return found


def numbers_in(numbers: Bits, where: Mask) -> set[int]:
    """The distinct numbers of the marked elements."""
    return {int(number) for number in np.unique(numbers[where])}
