"""Messages between the engines of several cores (docs/hardware/bm1688.md#two-cores).

A SEND counts for the number that it names. A WAIT goes on when as many have been sent as it says;
when as many have waited, the number is as if nobody had used it.
"""

from dataclasses import dataclass, field

from xdsl_tpu.backend.isa.codes import SYS, DmaMessages
from xdsl_tpu.backend.isa.command import Command

_SENDS: dict[tuple[str, int], bool] = {
    ("SYSID", SYS.SEND): True,
    ("SYSID", SYS.WAIT): False,
    ("sDMA_sys", DmaMessages.SEND): True,
    ("sDMA_sys", DmaMessages.WAIT): False,
}

NUMBERS = 128
"""Messages have numbers below this."""

_NUMBER = NUMBERS - 1
_COUNTS = {"SYSID": ("imm", 16, 7), "sDMA_sys": ("constant_value", 8, _NUMBER)}
"""By form: the field, from which bit the count lies in it, behind the number; its largest value."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a command sends or awaits: `count` messages of a `number`."""

    sends: bool
    number: int
    count: int


def message_of(command: Command) -> Message | None:
    """The message of a command; None of one that has nothing to do with messages."""
    sends = _SENDS.get((command.form.name, command.function))
    if sends is None:
        return None
    field_name, shift, mask = _COUNTS[command.form.name]
    word = command[field_name]
    return Message(sends, word & _NUMBER, word >> shift & mask)


def message_word(form: str, number: int, count: int) -> dict[str, int]:
    """The fields of a message with that number and count."""
    field_name, shift, _ = _COUNTS[form]
    return {field_name: number | count << shift}


@dataclass
class Hub:
    """What has been sent and not been awaited yet."""

    sent: dict[int, int] = field(default_factory=dict[int, int])
    waited: dict[int, int] = field(default_factory=dict[int, int])

    def passes(self, message: Message) -> bool:
        """Carry a message out; False when it must wait, which changes nothing."""
        number = message.number
        if message.sends:
            self.sent[number] = self.sent.get(number, 0) + 1
            return True
        if self.sent.get(number, 0) < message.count:
            return False
        self.waited[number] = self.waited.get(number, 0) + 1
        if self.waited[number] >= message.count:
            del self.sent[number], self.waited[number]
        return True
