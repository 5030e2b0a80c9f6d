"""Which fields of a form are written together, read off the form's field names.

    opd0_n opd0_c opd0_h opd0_w  opd0_addr  opd0_prec opd0_sign  opd0_str opd0_n_str ..
    opd0=[1,64,8,8]@0x1000:f16{4096,64,8,1}

Everything here is derived from `FORMS`; a form that is added needs no line. What the notation of
a command does not say is written as `field=value`, so the text never loses a bit.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from xdsl_tpu.backend.isa import FORMS, Engine, Form

AXES = "nchw"

SHORT_NAMES = {"id": "cmd_id", "dep": "cmd_id_dep"}
"""Fields of every command, under shorter names."""

VECTORS = {
    "pad": ("opd0_up_pad", "opd0_dn_pad", "opd0_lf_pad", "opd0_rt_pad"),
    "step": ("res_op_y_str", "res_op_x_str"),
    "insert": ("opd0_y_ins0", "opd0_x_ins0"),
    "dilate": ("opd1_y_ins0", "opd1_x_ins0"),
}
"""Fields of windows, written as lists (y before x)."""

TYPES = {0: "i8", 1: "f16", 2: "f32", 3: "i16", 4: "i32", 5: "bf16", 6: "i4"}
"""Names of the precision codes; integers get a prefix when the operand has a sign field."""

LAYOUTS = {1: "compact", 2: "offset", 4: "lanes"}
"""Names of the layout codes without strides; 0 (EU-aligned) is not written."""

EXPLICIT = 3
"""The layout code of explicit strides."""

OPERAND_COUNT = "tsk_opd_num"
"""The number of operands, where a form has the field; not written if the `opd`s written tell it."""

COUNTED = ("opd0", "opd1", "opd2", "opd3")

_ALL_OPERANDS = ("CONV", "PorD", "MM", "LIN", "CMP")
_SIGNED_FLOATS = ("AR", "CMP")
_FLOATS = ("f16", "f32", "bf16")


@dataclass(frozen=True, slots=True)
class OperandFields:
    """The fields of one operand of a form; absent ones are empty or None.

    `address` is one field, or a low and a high one.
    """

    name: str
    address: tuple[str, ...]
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    layout: str | None
    precision: str | None
    sign: str | None
    constant: str | None
    always: bool  # written even if all of its fields are zero
    types: Mapping[str, tuple[int, int]]  # precision code and sign by the type's name


@cache
def operands_of(form: Form) -> dict[str, OperandFields]:
    """The operands of a form by name, results first."""
    find = _tiu_operand if form.engine is Engine.TIU else _gdma_operand
    names = ("res0", "res1", *(f"opd{i}" for i in range(4)), "dst", "src", "index", "mask")
    found = ((name, find(form, name)) for name in names)
    return {name: operand for name, operand in found if operand is not None}


def _tiu_operand(form: Form, name: str) -> OperandFields | None:
    known = form.by_name
    if f"{name}_addr" not in known:
        return None
    strides = tuple(f"{name}_{axis}_str" for axis in AXES)
    sign = _known(form, f"{name}_sign")
    layout = _known(form, f"{name}_str")
    return OperandFields(
        name=name,
        address=(f"{name}_addr",),
        shape=tuple(f for f in (f"{name}_{axis}" for axis in AXES) if f in known),
        strides=strides if layout and all(f in known for f in strides) else (),
        layout=layout,
        precision=_known(form, f"{name}_prec"),
        sign=sign,
        constant=_known(form, f"{name}_const"),
        always=name in ("res0", "opd0") or (name in COUNTED and _tells_presence(form, name)),
        types=_types(sign is not None, form.family in _SIGNED_FLOATS),
    )


def _tells_presence(form: Form, name: str) -> bool:
    """Whether an operand that is no constant is surely read, even if it lies at address 0."""
    return form.family in _ALL_OPERANDS and f"{name}_const" in form.by_name


def _gdma_operand(form: Form, name: str) -> OperandFields | None:
    known = form.by_name
    if f"{name}_start_addr_l32" not in known:
        return None
    return OperandFields(
        name=name,
        address=(f"{name}_start_addr_l32", f"{name}_start_addr_h8"),
        shape=tuple(f for f in (f"{name}_{axis}size" for axis in AXES) if f in known),
        strides=tuple(f for f in (f"{name}_{axis}stride" for axis in AXES) if f in known),
        layout=None,
        precision=_known(form, f"{name}_data_format"),
        sign=None,
        constant=None,
        always=name in ("dst", "src"),
        types=_types(False, False),
    )


def _types(with_sign: bool, signed_floats: bool) -> dict[str, tuple[int, int]]:
    """Types of an operand; recorded commands set the sign of floats in some forms only."""
    named: dict[str, tuple[int, int]] = {}
    for code, name in TYPES.items():
        if name in _FLOATS:
            named[name] = (code, int(with_sign and signed_floats))
        elif with_sign:
            named |= {f"s{name}": (code, 1), f"u{name}": (code, 0)}
        else:
            named[name] = (code, 0)
    return named


def _known(form: Form, name: str) -> str | None:
    return name if name in form.by_name else None


@cache
def defaults_of(form: Form) -> Mapping[str, int]:
    """Fields that are not zero in a command that does not mention them."""
    usual = {"localmem_mask_l32": 0xFFFFFFFF, "localmem_mask_h32": 0xFFFFFFFF}
    if form.family != "SYSID":
        usual["cmd_id_en"] = 1
    return {name: value for name, value in usual.items() if name in form.by_name} | form.fixed


@cache
def function_words(form: Form) -> dict[int, str]:
    """The word for each function, from its description, or its number where two would be equal."""
    plain = {number: text.split(" (")[0].lower() for number, text in form.functions.items()}
    words = {number: re.sub(r"\W+", "_", text).strip("_") for number, text in plain.items()}
    spoken = list(words.values())
    return {
        number: word if word and spoken.count(word) == 1 else str(number)
        for number, word in words.items()
    }


def mnemonic(form: Form, function: int) -> str:
    """`sAR.add`; only the form when it has one function."""
    if form.functions in ({}, {0: "0"}) and not function:
        return form.name
    return f"{form.name}.{function_words(form).get(function, function)}"


@cache
def mnemonics() -> dict[str, tuple[Form, int]]:
    """Form and function by every mnemonic there is a word for."""
    found: dict[str, tuple[Form, int]] = {}
    for form in FORMS.values():
        for function in form.functions or {0: ""}:
            found[mnemonic(form, function)] = (form, function)
    return found


def operand_count(name: str, count: int) -> int:
    """The number of operands when `name` is written behind operands that make `count`."""
    return max(count, COUNTED.index(name) + 1) if name in COUNTED else count
