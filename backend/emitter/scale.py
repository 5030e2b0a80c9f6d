"""What commands make of integers on the way to their results: factors and shifts, rounded."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl_tpu.backend.isa.codes import Rounding
from xdsl_tpu.backend.tensor import LocalTensor


@dataclass(frozen=True, slots=True)
class Scale:
    """result (8 bits) = saturate(round(sum * multiplier / 2^shift) + zero point).

    `factor` is (multiplier, shift, zero point) for all elements, or a table of channels as
    `requantize` takes it.
    """

    factor: LocalTensor | tuple[int, int, int]
    rounding: Rounding

    @property
    def operands(self) -> Mapping[str, LocalTensor]:
        """The table, if there is one."""
        return {"opd5": self.factor} if isinstance(self.factor, LocalTensor) else {}

    @property
    def fields(self) -> Mapping[str, int]:
        """The fields of the command."""
        fields = {"rq": 1, "opd2_n_str": int(self.rounding)}
        if isinstance(self.factor, LocalTensor):
            return fields
        multiplier, shift, zero = self.factor
        fields |= {"opd5_const": 1, "opd5_addr": multiplier & 0xFFFFFFFF}
        return fields | {"opd5_shift": -shift & 0xFF, "opd5_zero": zero & 0xFFFF}


def right_shift(shift: int, rounding: Rounding) -> dict[str, int]:
    """The third operand of integer functions of AR: a shift of 8 bits, negative is right."""
    return {"opd2_const": 1, "opd2_addr": -shift & 0xFF, "opd2_n_str": rounding}
