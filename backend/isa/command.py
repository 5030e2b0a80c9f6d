"""A command, and its bytes."""

from collections.abc import Mapping
from itertools import chain

from xdsl_tpu.backend.isa.forms import Engine, Form
from xdsl_tpu.backend.isa.instruction import Instruction
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class Command:
    """One instruction: a form and the values of its fields (absent fields are zero)."""

    form: Form
    fields: Mapping[str, int]

    def __getitem__(self, name: str) -> int:
        return self.fields.get(name, 0)

    @property
    def function(self) -> int:
        """The EU type (TIU) or special function (GDMA)."""
        return self.fields.get(self.form.function_field, 0)

    @property
    def instruction(self) -> Instruction:
        """What is declared of the function; nothing of one that the form does not have."""
        function = self.fields.get(self.form.function_field, 0)
        found = self.form.instructions.get(function)
        return Instruction(function, str(function)) if found is None else found

    @property
    def function_name(self) -> str:
        """The function in words, or its number when the reference names none."""
        return self.instruction.name

    def not_understood(self) -> str:
        """The first field that is set and nobody knows what it does, in words, or nothing."""
        names = self.instruction.unknown
        if names.isdisjoint(self.fields):
            return ""
        for name in self.form.by_name:
            if name in names and self[name]:
                return f"{name} = {self[name]}: what this field does here is not known"
        return ""

    @property
    def engine(self) -> Engine:
        """The queue the command belongs to."""
        return self.form.engine


class EncodingError(TpuError):
    """A field value that does not fit, or bytes that are no command."""


def encode(command: Command) -> bytes:
    """The bytes of a command.

    Raises EncodingError when the form has no such field, the value does not fit in it, the bytes
    would be those of another form, or the form's opcode is not known.
    """
    form = command.form
    if form.opcode is None:
        raise EncodingError(f"the opcode of {form.name} is not known")
    word = 0
    by_name = form.by_name
    for name, value in chain(form.fixed.items(), command.fields.items()):
        field = by_name.get(name)
        if field is None:
            raise EncodingError(f"{form.name} has no field '{name}'")
        if not 0 <= value <= field.mask:
            raise EncodingError(
                f"{form.name} ({command.function_name}): {name} = {value} "
                f"does not fit in {field.width} bits"
            )
        word |= value << field.offset
    _check_form(command)
    word &= (1 << form.bits) - 1  # what is in registers lies behind
    return word.to_bytes(form.size, "little")


def _check_form(command: Command) -> None:
    """The fields that tell forms apart must be the form's own."""
    form = command.form
    for name, value in form.fixed.items():
        if command.fields.get(name, value) != value:
            raise EncodingError(f"{form.name}: {name} is {value}, not {command[name]}")
    if form.functions and command.function not in form.functions:
        known = ", ".join(
            f"{number} {name}".removesuffix(" 0") for number, name in form.functions.items()
        )
        raise EncodingError(f"{form.name} has no function {command.function}; it has {known}")
