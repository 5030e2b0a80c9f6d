"""A command as one line of text.

`Operand.fields` is what the text of an operand means; every field of the command that comes out
otherwise is written as `field=value`. So no command is lost in its text.
"""

from xdsl_tpu.backend.asm.notation import (
    COUNTED,
    LAYOUTS,
    OPERAND_COUNT,
    SHORT_NAMES,
    VECTORS,
    defaults_of,
    is_always_written,
    mnemonic,
    operand_count,
    types_of_operand,
)
from xdsl_tpu.backend.asm.operand import Operand
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import LayoutCode
from xdsl_tpu.backend.isa.operand_fields import OperandFields

_DECIMAL_LIMIT = 1 << 16


def command_text(command: Command) -> str:
    """The command as one line: `sAR.add id=2 dep=1 res0=[1,64,1,8]@0x40:f16 opd0=...`."""
    form = command.form
    items = [
        f"{short}={command[name]}" for short, name in SHORT_NAMES.items() if name in form.by_name
    ]
    meant = dict(defaults_of(form)) | {form.function_field: command.function}
    meant |= {name: command[name] for name in SHORT_NAMES.values()}
    count = 0
    for name, names in form.operands.items():
        operand = _written(command, names)
        if operand is not None:
            items.append(f"{name}={operand}")
            meant |= operand.fields(names)
            count = operand_count(name, count)
    meant[OPERAND_COUNT] = count
    for name, fields in VECTORS.items():
        if all(f in form.by_name for f in fields) and any(command[f] for f in fields):
            items.append(f"{name}=[{','.join(str(command[f]) for f in fields)}]")
            meant |= {f: command[f] for f in fields}
    left = (f.name for f in form.fields if command[f.name] != meant.get(f.name, 0))
    # A field that a form fixes and a hand-made command leaves out is no difference.
    items += [f"{name}={_number(command[name])}" for name in left if name not in form.fixed]
    return " ".join([mnemonic(form, command.function), *items])


def _written(command: Command, names: OperandFields) -> Operand | None:
    """What to write of an operand; None when the command seems not to have it."""
    shape = tuple(command[f] for f in names.shape)
    strides = tuple(command[f] for f in names.strides)
    place = names.address_in(command)
    constant = names.constant is not None and bool(command[names.constant])
    layout = command[names.layout] if names.layout is not None else 0
    counted = names.name in COUNTED[: command[OPERAND_COUNT]]
    always = is_always_written(command.form, names.name)
    used = always or constant or counted or place or layout or any(shape) or any(strides)
    if not used:
        return None
    explicit = bool(strides) and (layout == LayoutCode.FREE if names.layout else any(strides))
    return Operand(
        shape=shape if any(shape) else (),
        place=place,
        constant=constant,
        type=_type(command, names),
        layout=layout if explicit or layout in LAYOUTS else 0,
        strides=strides if explicit else (),
    )


def _type(command: Command, names: OperandFields) -> str | None:
    """The type whose precision and sign are the command's; of floats only the precision."""
    if names.precision is None:
        return None
    code = command[names.precision]
    sign = command[names.sign] if names.sign is not None else 0
    types = types_of_operand(names)
    found = [name for name, value in types.items() if value[0] == code]
    exact = [name for name in found if types[name] == (code, sign)]
    return next(iter(exact or found), None)


def _number(value: int) -> str:
    return str(value) if value < _DECIMAL_LIMIT else hex(value)
