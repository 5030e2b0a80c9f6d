"""A command, and its bytes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from xdsl_tpu.backend.isa.forms import FORMS, Engine, Form
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True, slots=True)
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
    def function_name(self) -> str:
        """The function in words, or its number when the reference names none."""
        return self.form.functions.get(self.function, str(self.function))

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


def decode(data: bytes | memoryview, engine: Engine) -> Command:
    """The command at the start of `data`; fields that are zero are left out.

    Raises EncodingError when no form matches or the bytes end early.
    """
    form = _form_of(data, engine)
    if len(data) < form.size:
        raise EncodingError(f"a {form.name} command needs {form.size} bytes, {len(data)} are left")
    word = int.from_bytes(data[: form.size], "little")
    values = ((f.name, (word >> f.offset) & f.mask) for f in form.fields)
    return Command(form, {name: value for name, value in values if value})


def decode_stream(data: bytes | memoryview, engine: Engine, count: int) -> Iterator[Command]:
    """The first `count` commands of a queue, which lie back to back."""
    view = memoryview(data)
    for _ in range(count):
        command = decode(view, engine)
        view = view[command.form.size :]
        yield command


def _form_of(data: bytes | memoryview, engine: Engine) -> Form:
    """Select the form by opcode, short flag and, for shared opcodes, function."""
    if len(data) < 16:
        raise EncodingError(f"{engine.value} queue: {len(data)} bytes left, too few for a command")
    head = int.from_bytes(data[:8], "little")
    if engine is Engine.TIU:
        short, opcode, function = head & 1, (head >> 41) & 15, (head >> 45) & 31
    else:
        short, opcode, function = (head >> 3) & 1, (head >> 32) & 15, (head >> 36) & 7
    for form in _BY_OPCODE.get((engine, opcode), ()):
        if form.short in (None, short) and (not form.functions or function in form.functions):
            return form
    raise EncodingError(
        f"{engine.value} queue: no command form has opcode {opcode}, function {function}, "
        f"short flag {short}"
    )


_BY_OPCODE: dict[tuple[Engine, int], list[Form]] = {}
for _form in FORMS.values():
    if _form.opcode is not None:
        _BY_OPCODE.setdefault((_form.engine, _form.opcode), []).append(_form)
