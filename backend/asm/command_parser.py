"""A line of text as a command."""

from collections.abc import Iterator

from xdsl_tpu.backend.asm.lexer import Line, Token, describe, suggestion
from xdsl_tpu.backend.asm.notation import (
    LAYOUTS,
    OPERAND_COUNT,
    SHORT_NAMES,
    VECTORS,
    defaults_of,
    mnemonics,
    operand_count,
    types_of_operand,
)
from xdsl_tpu.backend.asm.operand import FLOAT_BITS, Operand, bits_of
from xdsl_tpu.backend.isa import Command, Form, InstructionSet
from xdsl_tpu.backend.isa.codes import LayoutCode
from xdsl_tpu.backend.isa.operand_fields import OperandFields


def parse_command(line: Line, instructions: InstructionSet) -> Command:
    """The command of an instruction set on a line.

    Raises AsmError, pointing at the place, for unknown names (with a suggestion) and values that
    do not fit.
    """
    form, function = _mnemonic(line, instructions)
    fields = dict(defaults_of(form)) | {form.function_field: function}
    stated: dict[str, Token] = {}
    operands = 0
    while not line.ended:
        name = line.word("a field or an operand")
        if name.text in stated:
            line.fail(name, f"'{name.text}' is given twice")
        stated[name.text] = name
        line.expect("=")
        if name.text in form.operands:
            operands = operand_count(name.text, operands)
        values = _item(line, form, name)
        for field, value in values.items():
            _check_fits(line, form, name, field, value)
        fields |= values
    if OPERAND_COUNT in form.by_name and OPERAND_COUNT not in stated:
        fields[OPERAND_COUNT] = min(operands, form.by_name[OPERAND_COUNT].mask)
    return Command(form, {name: value for name, value in fields.items() if value})


def _mnemonic(line: Line, instructions: InstructionSet) -> tuple[Form, int]:
    token = line.word("an instruction such as sAR.add")
    if (known := mnemonics(instructions).get(token.text)) is not None:
        form, function = known
    else:
        name, _, number = token.text.partition(".")
        form = instructions.forms.get(name)
        if form is None:
            hint = suggestion(name, list(instructions.forms))
            line.fail(token, f"unknown instruction '{name}'{hint}")
        if not number.isdecimal() or (form.functions and int(number) not in form.functions):
            words = list(form.functions.values())
            hint = suggestion(number, words) or f"; it has {', '.join(words) or 'one function'}"
            line.fail(token, f"{name} has no function '{number}'{hint}")
        function = int(number)
    if form.opcode is None:
        line.fail(token, f"the opcode of {form.name} is not known")
    _check_fits(line, form, token, form.function_field, function)
    return form, function


def _check_fits(line: Line, form: Form, token: Token, field: str, value: int) -> None:
    width = form.by_name[field].width
    if value >> width:
        line.fail(token, f"{field} = {value:#x} does not fit in {width} bits")


def _item(line: Line, form: Form, name: Token) -> dict[str, int]:
    """The fields set by what follows `name=`."""
    operand = form.operands.get(name.text)
    if operand is not None:
        return _parse_operand(line, operand).fields(operand)
    vector = VECTORS.get(name.text, ())
    if vector and all(field in form.by_name for field in vector):
        opening = line.expect("[")
        values = line.integers("]")
        if len(values) != len(vector):
            line.fail(opening, f"{name.text} takes {len(vector)} numbers, {len(values)} given")
        return dict(zip(vector, values, strict=True))
    field = SHORT_NAMES.get(name.text, name.text)
    if field in (*form.fixed, form.function_field):
        line.fail(name, f"{field} follows from the instruction's name")
    if field not in form.by_name:
        known = [*_item_names(form)]
        line.fail(name, f"{form.name} has no '{name.text}'{suggestion(name.text, known)}")
    return {field: line.integer()}


def _item_names(form: Form) -> Iterator[str]:
    yield from form.operands
    yield from SHORT_NAMES
    yield from (name for name, fields in VECTORS.items() if fields[0] in form.by_name)
    yield from (name for name in form.by_name if name not in (*form.fixed, form.function_field))


def _parse_operand(line: Line, names: OperandFields) -> Operand:
    """`[shape]`, then `@address` or `const value`, then `:type`, then `{strides}`; all optional."""
    shape: tuple[int, ...] = ()
    literal: Token | None = None
    place: int | None = None
    kind: str | None = None
    start = line.peek
    if line.accept("["):
        shape = _sized(line, start, "]", names.shape, "sizes")
    if line.accept("@"):
        place = line.integer()
    elif names.constant is not None and line.accept("const"):
        literal = line.take()
    if line.accept(":"):
        kind = _parse_type(line, names)
    if literal is not None:
        place = _parse_constant(line, literal, kind)
    layout, strides = _parse_strides(line, names)
    if line.peek is start:
        wanted = "[sizes], @address, const value, :type or {strides}"
        line.fail(start, f"{names.name} takes {wanted}, found {describe(start)}")
    return Operand(shape, place, literal is not None, kind, layout, strides)


def _sized(
    line: Line, opening: Token, close: str, fields: tuple[str, ...], what: str
) -> tuple[int, ...]:
    """As many numbers as there are fields."""
    values = line.integers(close)
    if len(values) != len(fields):
        named = ", ".join(fields) or "none"
        line.fail(opening, f"{len(fields)} {what} expected ({named}), {len(values)} given")
    return tuple(values)


def _parse_type(line: Line, names: OperandFields) -> str:
    token = line.word("a type")
    if names.precision is None:
        line.fail(token, f"{names.name} has no type of its own here")
    if token.text not in types_of_operand(names):
        known = list(types_of_operand(names))
        hint = suggestion(token.text, known) or f"; known: {', '.join(known)}"
        line.fail(token, f"{names.name} cannot be of type '{token.text}'{hint}")
    return token.text


def _parse_constant(line: Line, token: Token, kind: str | None) -> int:
    """The bits: given in hexadecimal or as a whole number, or the float nearest to a decimal."""
    if token.kind != "number":
        line.fail(token, f"expected a number after 'const', found {describe(token)}")
    if not token.text.startswith(("0x", "0X")) and kind in FLOAT_BITS:
        bits = bits_of(float(token.text), kind)
        if bits is None:
            line.fail(token, f"{token.text} is beyond {kind}")
        return bits
    try:
        value = int(token.text, 0)
    except ValueError:
        line.fail(token, f"{token.text} needs a float type, such as :f32")
    if value < 0:
        line.fail(token, "a negative constant needs a float type; give its bits in hexadecimal")
    return value


def _parse_strides(line: Line, names: OperandFields) -> tuple[int, tuple[int, ...]]:
    """The layout code and the strides of `{4096,64,8,1}` or `{compact}`."""
    opening = line.peek
    if not line.accept("{"):
        return 0, ()
    codes = {word: code for code, word in LAYOUTS.items()}
    if line.peek.kind == "word":
        word = line.take()
        if names.layout is None or word.text not in codes:
            hint = suggestion(word.text, list(codes)) if names.layout else ""
            line.fail(word, f"{names.name} has no layout '{word.text}'{hint}")
        line.expect("}")
        return codes[word.text], ()
    return LayoutCode.FREE, _sized(line, opening, "}", names.strides, "strides")
