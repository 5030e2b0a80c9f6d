"""How the fields of a form are written: together where an instruction set has them together.

    opd0_n opd0_c opd0_h opd0_w  opd0_addr  opd0_prec opd0_sign  opd0_str opd0_n_str ..
    opd0=[1,64,8,8]@0x1000:f16{4096,64,8,1}

Everything here is derived from the forms; one that is added needs no line. What the notation of
a command does not say is written as `field=value`, so the text never loses a bit.
"""

from collections.abc import Mapping
from functools import cache

from xdsl_tpu.backend.isa import Form, InstructionSet
from xdsl_tpu.backend.isa.codes import FLOATS, LayoutCode, Precision
from xdsl_tpu.backend.isa.operand_fields import OperandFields

SHORT_NAMES = {"id": "cmd_id", "dep": "cmd_id_dep"}
"""Fields of every command, under shorter names."""

VECTORS = {
    "pad": ("opd0_up_pad", "opd0_dn_pad", "opd0_lf_pad", "opd0_rt_pad"),
    "step": ("res_op_y_str", "res_op_x_str"),
    "insert": ("opd0_y_ins0", "opd0_x_ins0"),
    "dilate": ("opd1_y_ins0", "opd1_x_ins0"),
}
"""Fields of windows, written as lists (y before x)."""

LAYOUTS: dict[int, str] = {
    LayoutCode.COMPACT: "compact",
    LayoutCode.OFFSET: "offset",
    LayoutCode.LANES: "lanes",
}
"""Names of the layout codes without strides; 0 (EU-aligned) is not written."""

OPERAND_COUNT = "tsk_opd_num"
"""The number of operands, where a form has the field; not written if the `opd`s written tell it."""

COUNTED = ("opd0", "opd1", "opd2", "opd3")

_ALL_OPERANDS = ("CONV", "PorD", "MM", "LIN", "CMP")


def is_always_written(form: Form, name: str) -> bool:
    """Whether an operand is written even if all of its fields are zero.

    In some forms one that is no constant is surely read, even if it lies at address 0.
    """
    if name in ("res0", "opd0", "dst", "src"):
        return True
    told = form.family in _ALL_OPERANDS and f"{name}_const" in form.by_name
    return name in COUNTED and told


@cache
def types_of(with_sign: bool, signed_floats: bool) -> Mapping[str, tuple[int, int]]:
    """Precision code and sign by the name of the type."""
    named: dict[str, tuple[int, int]] = {}
    for code in Precision:
        name = code.name.lower()
        if code in FLOATS:
            named[name] = (code, int(with_sign and signed_floats))
        elif with_sign:
            named |= {f"s{name}": (code, 1), f"u{name}": (code, 0)}
        else:
            named[name] = (code, 0)
    return named


def types_of_operand(names: OperandFields) -> Mapping[str, tuple[int, int]]:
    """Those an operand can have; recorded commands set the sign of floats in some forms only."""
    return types_of(names.sign is not None, names.signed_floats)


@cache
def defaults_of(form: Form) -> Mapping[str, int]:
    """Fields that are not zero in a command that does not mention them."""
    usual = dict(form.all_lanes)
    if form.family != "SYSID" and form.is_numbered:
        usual["cmd_id_en"] = 1
    return usual | form.fixed


def mnemonic(form: Form, function: int) -> str:
    """`sAR.add`; only the form when it has one function."""
    if len(form.functions) < 2 and not function:
        return form.name
    return f"{form.name}.{form.functions.get(function, function)}"


@cache
def mnemonics(instructions: InstructionSet) -> Mapping[str, tuple[Form, int]]:
    """Form and function by every mnemonic there is a word for."""
    return {
        mnemonic(form, function): (form, function)
        for form in instructions.forms.values()
        for function in form.functions or (0,)
    }


def operand_count(name: str, count: int) -> int:
    """The number of operands when `name` is written behind operands that make `count`."""
    return max(count, COUNTED.index(name) + 1) if name in COUNTED else count
