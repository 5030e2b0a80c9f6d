"""Which fields of a form say what an operand is, read off the fields' names.

    opd0_n opd0_c opd0_h opd0_w  opd0_addr  opd0_prec opd0_sign  opd0_const  opd0_str opd0_n_str ..
    src_nsize ..  src_start_addr_l32 src_start_addr_h8  src_data_format  src_nstride ..

A form that is added needs no line here.
"""

from collections.abc import Collection
from dataclasses import dataclass

from xdsl_tpu.backend.isa.terms import Fields

AXES = "nchw"
_LOW_BITS = 32  # of an address in two fields, `_l32` and `_h8`
_LOW_MASK = (1 << _LOW_BITS) - 1


@dataclass(frozen=True, slots=True)
class OperandFields:
    """The fields of one operand of a form; absent ones are empty or None.

    `address` is one field, or a low and a high one; `extents` are the sizes by their axis.
    """

    name: str
    address: tuple[str, ...]
    extents: tuple[tuple[int, str], ...]
    strides: tuple[str, ...]
    layout: str | None
    precision: str | None
    sign: str | None
    constant: str | None
    signed_floats: bool

    @property
    def shape(self) -> tuple[str, ...]:
        """The fields of the sizes that the form has."""
        return tuple(name for _, name in self.extents)

    def address_fields(self, address: int) -> dict[str, int]:
        """The fields that hold an address."""
        low, *high = self.address
        if not high:
            return {low: address}
        return {low: address & _LOW_MASK, high[0]: address >> _LOW_BITS}

    def address_in(self, fields: Fields) -> int:
        """The address that the fields of a command hold."""
        low, *high = self.address
        return fields[low] | sum(fields[name] << _LOW_BITS for name in high)


def operand_fields(known: Collection[str], signed_floats: bool) -> dict[str, OperandFields]:
    """The operands of a form with these fields, results first."""
    tiu = ((name, f"{name}_addr") for name in ("res0", "res1", *(f"opd{i}" for i in range(6))))
    gdma = ((name, f"{name}_start_addr_l32") for name in ("dst", "src", "index", "mask"))
    found = {name: _of_tiu(known, name, signed_floats) for name, at in tiu if at in known}
    return found | {name: _of_gdma(known, name) for name, at in gdma if at in known}


def _of_tiu(known: Collection[str], name: str, signed_floats: bool) -> OperandFields:
    strides = tuple(f"{name}_{axis}_str" for axis in AXES)
    layout = _known(known, f"{name}_str")
    return OperandFields(
        name=name,
        address=(f"{name}_addr",),
        extents=_extents(known, f"{name}_{{}}"),
        strides=strides if layout and all(f in known for f in strides) else (),
        layout=layout,
        precision=_known(known, f"{name}_prec"),
        sign=_known(known, f"{name}_sign"),
        constant=_known(known, f"{name}_const"),
        signed_floats=signed_floats,
    )


def _of_gdma(known: Collection[str], name: str) -> OperandFields:
    return OperandFields(
        name=name,
        address=(f"{name}_start_addr_l32", f"{name}_start_addr_h8"),
        extents=_extents(known, f"{name}_{{}}size"),
        strides=tuple(f for f in (f"{name}_{axis}stride" for axis in AXES) if f in known),
        layout=None,
        precision=_known(known, f"{name}_data_format"),
        sign=None,
        constant=None,
        signed_floats=False,
    )


def _extents(known: Collection[str], pattern: str) -> tuple[tuple[int, str], ...]:
    named = ((axis, pattern.format(letter)) for axis, letter in enumerate(AXES))
    return tuple((axis, name) for axis, name in named if name in known)


def _known(known: Collection[str], name: str) -> str | None:
    return name if name in known else None
