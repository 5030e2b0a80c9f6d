"""TIU commands on quantised integers (docs/hardware/instructions.md#srq_dq)."""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter.tiu import Operand, Rounding, TiuEmitter
from xdsl_tpu.backend.emitter.window import Window
from xdsl_tpu.backend.tensor import DType, Layout, LocalTensor, ceil_div
from xdsl_tpu.dialects.errors import TpuError

_MULTIPLY_SATURATE, _SUBTRACT_SATURATE = 20, 16
_LANE_TABLE = 4
_GATHER, _GATHER_WITH_HAZARDS = 5, 13


class QuantizedEmitter(TiuEmitter):
    """Commands that only integers have: rounding shifts, requantisation, tables."""

    def multiply_shift(
        self,
        out: LocalTensor,
        a: LocalTensor,
        b: Operand,
        shift: int = 0,
        rounding: Rounding = Rounding.HALF_AWAY,
    ) -> None:
        """out = saturate(round(a * b / 2^shift)).

        The result is signed when an operand is, so an unsigned `out` needs unsigned operands. A
        constant `b` has 8 bits (16 beside 16-bit operands) and the sign of `out`.
        """
        fields = self._ar_fields(_MULTIPLY_SATURATE, out, 3)
        fields |= self._operand("opd0", a, out, 0)
        fields |= self._factor(out, a, b)
        fields |= _right_shift(shift, rounding)
        self._issue_ar(fields, out, a, b)

    def _factor(self, out: LocalTensor, a: LocalTensor, b: Operand) -> dict[str, int]:
        if isinstance(b, LocalTensor):
            return self._operand("opd1", b, out, a)
        kinds = {(1, True): DType.I8, (1, False): DType.U8, (2, True): DType.I16}
        kind = kinds.get((min(a.dtype.bytes, 2), out.dtype.signed), DType.U16)
        fields = {"opd1_const": 1, "opd1_addr": kind.bits(b), "opd1_prec": kind.code}
        return fields | {"opd1_sign": int(kind.signed)}

    def add_saturate(
        self,
        out: LocalTensor,
        a: LocalTensor,
        b: Operand,
        shift: int = 0,
        rounding: Rounding = Rounding.HALF_AWAY,
    ) -> None:
        """out = saturate(round((a + b) / 2^shift)), signed when an operand is."""
        fields = self._ar_fields(15, out, 3)
        fields |= self._operand("opd0", a, out, b) | self._operand("opd1", b, out, a)
        fields |= _right_shift(shift, rounding)
        self._issue_ar(fields, out, a, b)

    def subtract_saturate(self, out: LocalTensor, a: LocalTensor, b: LocalTensor) -> None:
        """out = saturate(a - b), always signed."""
        fields = self._ar_fields(_SUBTRACT_SATURATE, out, 2)
        fields |= self._operand("opd0", a, out, b) | self._operand("opd1", b, out, a)
        self._issue_ar(fields, out, a, b)

    def requantize(
        self,
        out: LocalTensor,
        a: LocalTensor,
        factor: LocalTensor | tuple[int, int],
        rounding: Rounding,
    ) -> None:
        """out (8 bits) = saturate(round(a * multiplier / 2^shift) + zero point); a is i32.

        `factor` is (multiplier, shift) for all elements, or a table (1, c, 1, 3) i32, EU-aligned,
        of (multiplier, -shift, zero point). Result and operand are EU-aligned.
        """
        fields = self._conversion_fields(1, out, a) | {"opd2_n_str": rounding.value}
        if isinstance(factor, LocalTensor):
            fields["opd1_addr"] = factor.address
            self._issue("sRQ_DQ", fields, out, a, factor)
            return
        multiplier, shift = factor
        fields |= {"opd1_const": 1, "opd1_addr": multiplier & 0xFFFFFFFF}
        fields |= {"opd2_addr": -shift & 0xFF}
        self._issue("sRQ_DQ", fields, out, a)

    def dequantize(self, out: LocalTensor, a: LocalTensor, scale: float) -> None:
        """out (f32) = a * scale; a has 8 bits, both are EU-aligned."""
        fields = self._conversion_fields(3, out, a) | {"opd1_const": 1}
        self._issue("sRQ_DQ", fields | {"opd2_addr": DType.F32.bits(scale)}, out, a)

    def _conversion_fields(self, function: int, out: LocalTensor, a: LocalTensor) -> dict[str, int]:
        _require_aligned(out, a)
        n, c, h, w = out.shape
        fields = {"tsk_eu_typ": function, "res0_n": n, "res0_c": c, "res0_h": h, "res0_w": w}
        fields |= {"res0_prec": out.dtype.code, "opd0_prec": a.dtype.code}
        fields |= {"opd0_sign": int(a.dtype.signed), "opd2_sign": int(out.dtype.signed)}
        return fields | {"res0_addr": out.address, "opd0_addr": a.address}

    def lookup(self, out: LocalTensor, index: LocalTensor, table: LocalTensor) -> None:
        """out = table[index as unsigned byte]; the table (1, lanes, 1, 256) lies in every lane.

        Result and index are EU-aligned. One element of a lane takes a cycle when all three are in
        banks of their own, else the variant with hazard detection is needed, and half a cycle more.
        """
        _require_aligned(out, index)
        n, c, h, w = out.shape
        apart = not share_a_bank((out, index, table), self.chip)
        fields = {"tsk_eu_typ": _GATHER if apart else _GATHER_WITH_HAZARDS, "res0_n": n}
        fields |= {"res0_c": c, "res0_h": 1, "res0_w": h * w}
        fields |= {"opd0_str": _LANE_TABLE, "opd0_h": 1, "opd0_w": table.shape[3]}
        fields |= {"opd1_c": c, "opd1_w": h * w, "opd1_prec": DType.U8.code}
        fields |= {"res0_prec": out.dtype.code, "opd0_prec": table.dtype.code, "opd2_const": 1}
        fields |= {"res0_addr": out.address, "opd0_addr": table.address}
        self._issue("sSG", fields | {"opd1_addr": index.address}, out, index, table)

    def integer_average(
        self,
        out: LocalTensor,
        x: LocalTensor,
        window: Window,
        factor: tuple[int, int],
        rounding: Rounding,
    ) -> None:
        """out = saturate(round(sum over the window * multiplier / 2^shift)), 8 bits (5.7)."""
        multiplier, shift = factor
        fields = {"opd2_n_str": rounding.value, "opd1_const": 1, "opd1_addr": multiplier & 0xFF}
        self._pool(1, out, x, window, fields | {"opd2_addr": shift & 0xFF})


def _right_shift(shift: int, rounding: Rounding) -> dict[str, int]:
    return {"opd2_const": 1, "opd2_addr": -shift & 0xFF, "opd2_n_str": rounding.value}


def _require_aligned(*tensors: LocalTensor) -> None:
    if any(tensor.layout is not Layout.ALIGNED for tensor in tensors):
        raise TpuError("requantisation and look-up need EU-aligned tensors")


def banks_of(tensor: LocalTensor, chip: Chip) -> set[int]:
    """The banks of local memory that a tensor touches."""
    first, end = tensor.span(chip)
    return set(range(first // chip.bank_bytes, ceil_div(end, chip.bank_bytes)))


def share_a_bank(tensors: Sequence[LocalTensor], chip: Chip) -> bool:
    """Whether two tensors touch the same bank of local memory."""
    seen: set[int] = set()
    for tensor in tensors:
        banks = banks_of(tensor, chip)
        if seen & banks:
            return True
        seen |= banks
    return False
