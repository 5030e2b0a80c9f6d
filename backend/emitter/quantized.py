"""TIU commands on quantised integers (docs/hardware/instructions.md#srq_dq)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter.scale import Scale, right_shift
from xdsl_tpu.backend.emitter.tiu import Operand, TiuEmitter
from xdsl_tpu.backend.emitter.window import Window
from xdsl_tpu.backend.isa.codes import AR, RQ_DQ, SG, LayoutCode, PorD, Rounding
from xdsl_tpu.backend.tensor import DType, Layout, LocalTensor, ceil_div
from xdsl_tpu.dialects.errors import TpuError


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
        more = right_shift(shift, rounding)
        if not isinstance(b, LocalTensor):
            kinds = {(1, True): DType.I8, (1, False): DType.U8, (2, True): DType.I16}
            kind = kinds.get((min(a.dtype.bytes, 2), out.dtype.signed), DType.U16)
            more |= self._constant("sAR", "opd1", b, kind)
        self._element_wise(AR.MUL_SATURATE, out, a, b, more)

    def add_saturate(
        self,
        out: LocalTensor,
        a: LocalTensor,
        b: Operand,
        shift: int = 0,
        rounding: Rounding = Rounding.HALF_AWAY,
    ) -> None:
        """out = saturate(round((a + b) / 2^shift)), signed when an operand is."""
        self._element_wise(AR.ADD_SATURATE, out, a, b, right_shift(shift, rounding))

    def subtract_saturate(self, out: LocalTensor, a: LocalTensor, b: LocalTensor) -> None:
        """out = saturate(a - b), always signed."""
        self._element_wise(AR.SUB_SATURATE, out, a, b)

    def requantize(
        self,
        out: LocalTensor,
        a: LocalTensor,
        factor: LocalTensor | tuple[int, int, int],
        rounding: Rounding,
    ) -> None:
        """out (8 bits) = saturate(round(a * multiplier / 2^shift) + zero point); a is i32.

        `factor` is (multiplier, shift, zero point) for all elements, or a table of channels i32:
        (1, c, 1, 3), EU-aligned, of (multiplier, -shift, zero point), or where the chip's
        `requant_words` are two (1, c, 1, 2) compact, of the multiplier, and -shift (8 bits) with
        the zero point in the upper half. Result and operand are EU-aligned.
        """
        more = {"opd2_n_str": rounding}
        if isinstance(factor, LocalTensor):
            self._convert(RQ_DQ.RQ1, out, {"opd0": a, "opd1": factor}, more)
            return
        multiplier, shift, zero = factor
        more |= {"opd1_const": 1, "opd1_addr": multiplier & 0xFFFFFFFF}
        more["opd2_addr"] = (zero & 0xFFFF) << 16 | -shift & 0xFF
        self._convert(RQ_DQ.RQ1, out, {"opd0": a}, more)

    def requantize_float(self, out: LocalTensor, a: LocalTensor, factors: LocalTensor) -> None:
        """out (8 bits) = saturate(round(a * factor + offset)), halves to even; a is i32.

        `factors` is a table of channels f32, (1, c, 1, 2), EU-aligned, of (factor, offset). Result
        and operand are EU-aligned.
        """
        self._convert(RQ_DQ.RQ0, out, {"opd0": a, "opd1": factors}, {})

    def dequantize(self, out: LocalTensor, a: LocalTensor, scale: float, zero: int = 0) -> None:
        """out (f32) = (a - zero) * scale; a has 8 bits, both are EU-aligned."""
        described = self.forms["sRQ_DQ"].instructions[RQ_DQ.DQ0].described
        assert described is not None
        more = {"opd1_const": 1, described.scale: DType.F32.bits(scale)}
        if zero:
            (other,) = {"opd1_addr", "opd2_addr"} - {described.scale}
            more[other] = zero & 0xFFFF
        self._convert(RQ_DQ.DQ0, out, {"opd0": a}, more)

    def _convert(
        self,
        function: RQ_DQ,
        out: LocalTensor,
        operands: Mapping[str, LocalTensor],
        more: Mapping[str, int],
    ) -> None:
        _require_aligned(out, operands["opd0"])
        fields = {"opd2_sign": int(out.dtype.signed), **more}
        self._emit("sRQ_DQ", function, out, operands, fields)

    def lookup(self, out: LocalTensor, index: LocalTensor, table: LocalTensor) -> None:
        """out = table[index as unsigned byte]; the table (1, lanes, 1, 256) lies in every lane.

        Result and index are EU-aligned. One element of a lane takes a cycle when all three are in
        banks of their own, else the variant with hazard detection is needed, and half a cycle more.
        """
        self._look_up(out, index, table, LayoutCode.LANES)

    def pick(self, out: LocalTensor, index: LocalTensor, table: LocalTensor) -> None:
        """out(0, c, 0, j) = table(0, c, 0, index(0, c, 0, j)): of each channel elements of its own,
        of any type, by unsigned indices of 8 or 16 bits. All are EU-aligned, and as fast as above.
        """
        _require_aligned(table)
        self._look_up(out, index, _one_row(table), LayoutCode.ALIGNED)

    def _look_up(
        self, out: LocalTensor, index: LocalTensor, table: LocalTensor, layout: LayoutCode
    ) -> None:
        _require_aligned(out, index)
        apart = not share_a_bank((out, index, table), self.chip)
        function = SG.PE_S_GATHER_D1COOR if apart else SG.PE_S_GATHER_HZD
        operands = {"opd0": table, "opd1": _one_row(index)}
        more = {"opd0_str": layout, "opd2_const": 1}
        self._emit("sSG", function, _one_row(out), operands, more)

    def integer_average(
        self,
        out: LocalTensor,
        x: LocalTensor,
        window: Window,
        factor: tuple[int, int],
        rounding: Rounding,
    ) -> None:
        """out = saturate(round(sum over the window * multiplier / 2^shift)), 8 bits (5.7)."""
        if self.chip.instructions.requantises:
            sums = {"opd1_const": 1, "opd1_addr": 1, "opd2_const": 1}
            scale = Scale((*factor, 0), rounding)
            self._pool(PorD.AVG_POOL, out, x, window, {**sums, **scale.fields})
            return
        multiplier, shift = factor
        more = {"opd2_n_str": rounding, "opd1_const": 1, "opd1_addr": multiplier & 0xFF}
        self._pool(PorD.AVG_POOL, out, x, window, more | {"opd2_addr": shift & 0xFF})


def _one_row(tensor: LocalTensor) -> LocalTensor:
    """An EU-aligned tensor with all elements of a channel in one row."""
    n, c, h, w = tensor.shape
    by_n, by_group, _, _ = tensor.strides
    return replace(tensor, shape=(n, c, 1, h * w), strides=(by_n, by_group, h * w, 1))


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
