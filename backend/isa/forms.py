"""The command forms of an instruction set: bit layouts, and what the functions of each do.

A form is one bit layout: the `s` forms are short, the others full. Encoding, decoding and
range checks derive from the field list.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from xdsl_tpu.backend.isa.instruction import Instruction
from xdsl_tpu.backend.isa.operand_fields import OperandFields, operand_fields


class Engine(Enum):
    """One of the two in-order command queues."""

    TIU = "TIU"
    GDMA = "GDMA"

    __hash__ = object.__hash__  # that of Enum is a function in Python, and keys are many


@dataclass(frozen=True)
class Field:
    """`width` bits at bit `offset` of the little-endian command."""

    name: str
    offset: int
    width: int

    @cached_property
    def mask(self) -> int:
        """The largest value that fits."""
        return (1 << self.width) - 1

    def of(self, word: int) -> int:
        """What a command says here, given its bits."""
        return (word >> self.offset) & self.mask


@dataclass(frozen=True)
class Register:
    """A register that has a field of commands in which all flags of `when` are set."""

    number: int
    when: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """The fields that tell the forms of an engine apart."""

    short: str
    opcode: str
    function: str


HEADERS = {
    Engine.TIU: Header("cmd_short", "tsk_typ", "tsk_eu_typ"),
    Engine.GDMA: Header("cmd_short", "cmd_type", "cmd_special_function"),
}


@dataclass(frozen=True, eq=False)
class Form:
    """One bit layout with its opcode; compared by identity, there is one object per form."""

    name: str
    family: str
    engine: Engine
    bits: int
    opcode: int | None
    short: int | None
    fields: tuple[Field, ...] = field(repr=False)
    instructions: dict[int, Instruction] = field(repr=False)  # by function
    signed_floats: bool = False  # whether commands set the sign of floats, too
    primed: bool = False  # whether a copy of nothing goes in front of each command
    registers: Mapping[str, Register] = field(default_factory=dict[str, Register], repr=False)

    @property
    def size(self) -> int:
        """Bytes of a command of this form."""
        return self.bits // 8

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """Fields by their name."""
        return {f.name: f for f in self.fields}

    @cached_property
    def functions(self) -> dict[int, str]:
        """What the numbers of the function field mean; nothing where there is no such list."""
        return {number: one.name for number, one in self.instructions.items()}

    @cached_property
    def operands(self) -> dict[str, OperandFields]:
        """The fields of each operand by its name, results first."""
        return operand_fields(self.by_name, self.signed_floats)

    @cached_property
    def function_field(self) -> str:
        """The field that selects the function within the form."""
        return HEADERS[self.engine].function

    @cached_property
    def fixed(self) -> dict[str, int]:
        """Fields that have the same value in every command of the form."""
        header = HEADERS[self.engine]
        values = {header.opcode: self.opcode, header.short: self.short}
        return {k: v for k, v in values.items() if v is not None and k in self.by_name}

    @cached_property
    def is_numbered(self) -> bool:
        """Whether commands say which of their queue they are; else their place does."""
        return "cmd_id" in self.by_name

    @cached_property
    def waits(self) -> bool:
        """Whether commands can wait for the other engine."""
        return "cmd_id_dep" in self.by_name

    def numbered(self, number: int, counted: bool = True) -> dict[str, int]:
        """The fields of a command that is this one of its queue, from 1; `counted` if others may
        wait for it."""
        return {"cmd_id": number, "cmd_id_en": int(counted)} if self.is_numbered else {}

    @cached_property
    def all_lanes(self) -> dict[str, int]:
        """The lane mask of a command for all lanes, where the form has one."""
        names = ("localmem_mask_l32", "localmem_mask_h32")
        return {name: self.by_name[name].mask for name in names if name in self.by_name}

    def largest(self, name: str) -> int:
        """The largest value that a field holds."""
        return self.by_name[name].mask
