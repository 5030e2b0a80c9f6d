"""One operand as text: `[1,64,8,8]@0x1000:f16{4096,64,8,1}`, `const 0.5:f16`."""

import struct
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.asm.notation import LAYOUTS, types_of_operand
from xdsl_tpu.backend.isa.operand_fields import OperandFields

FLOAT_BITS = {"f16": 16, "bf16": 16, "f32": 32}
"""Float types with their width."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What is written of an operand; `place` is the address, or the bits of a constant."""

    shape: tuple[int, ...] = ()
    place: int | None = None
    constant: bool = False
    type: str | None = None
    layout: int = 0
    strides: tuple[int, ...] = ()

    def fields(self, names: OperandFields) -> dict[str, int]:
        """The fields this sets."""
        values = dict(zip(names.shape, self.shape, strict=False))
        if self.place is not None:
            values |= names.address_fields(self.place)
        if names.constant is not None:
            values[names.constant] = int(self.constant)
        if self.type is not None:
            code, sign = types_of_operand(names)[self.type]
            values |= {names.precision: code} if names.precision else {}
            values |= {names.sign: sign} if names.sign else {}
        if names.layout is not None:
            values[names.layout] = self.layout
        return values | dict(zip(names.strides, self.strides, strict=False))

    def __str__(self) -> str:
        shape = f"[{','.join(map(str, self.shape))}]" if self.shape else ""
        place = ""
        if self.place is not None:
            place = f"const {_constant(self)}" if self.constant else f"@{self.place:#x}"
        kind = f":{self.type}" if self.type is not None else ""
        steps = ",".join(map(str, self.strides)) or LAYOUTS.get(self.layout, "")
        return f"{shape}{place}{kind}{f'{{{steps}}}' if steps else ''}"


def _constant(operand: Operand) -> str:
    """A float as the shortest decimal with the same bits; anything else in hexadecimal."""
    bits = operand.place or 0
    if operand.type in FLOAT_BITS and not bits >> FLOAT_BITS[operand.type]:
        value = _float_of(bits, operand.type)
        decimal = str(value)
        if np.isfinite(value) and bits_of(float(decimal), operand.type) == bits:
            return decimal
    return hex(bits)


def _float_of(bits: int, kind: str) -> np.floating:
    if kind == "f16":
        return np.uint16(bits).view(np.float16)
    return np.uint32(bits << 16 if kind == "bf16" else bits).view(np.float32)


def bits_of(value: float, kind: str) -> int | None:
    """The bits of the nearest value; None when it is beyond the type."""
    try:
        if kind == "f16":
            return int.from_bytes(struct.pack("<e", value), "little")
        word = int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return None
    return word if kind == "f32" else (word + 0x7FFF + ((word >> 16) & 1)) >> 16
