"""TIU commands: one method per instruction form (docs/hardware/instructions.md)."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from xdsl_tpu.backend.emitter.queues import CommandQueues
from xdsl_tpu.backend.emitter.window import Piece, Window, one_by_one, read_part
from xdsl_tpu.backend.tensor import DType, Layout, LocalTensor, Shape4
from xdsl_tpu.dialects.errors import TpuError

Operand = LocalTensor | float
"""A tensor, or a constant in the precision of the other operand."""

STRIDE_END = 1 << 16
"""Stride fields of TIU commands have 16 bits."""


class Arith(Enum):
    """Two-operand functions of the AR form."""

    MUL = 0
    ADD = 2
    SUB = 3
    MAX = 4
    MIN = 5
    AND = 7
    OR = 8
    XOR = 9
    ADD_SATURATE = 15


class Rounding(Enum):
    """Rounding modes of casts and shifts."""

    HALF_EVEN = 0
    HALF_AWAY = 1
    TOWARD_ZERO = 2
    FLOOR = 3
    CEIL = 4
    HALF_UP = 5
    HALF_DOWN = 6


class Compare(Enum):
    """Conditions of the select instruction: a ? b."""

    GREATER = 23
    EQUAL = 24


class TiuEmitter(CommandQueues):
    """The TIU half of the emitter. Result and operands are on the same lanes unless said."""

    def arith(self, kind: Arith, out: LocalTensor, a: Operand, b: Operand) -> None:
        """out = a (op) b, element by element (5.1).

        An operand may be 1 long in n, h or w where `out` is longer (it is broadcast), and its
        c may equal the lane count when every channel group reads the same values.
        """
        fields = self._ar_fields(kind.value, out, 2)
        fields |= self._operand("opd0", a, out, b) | self._operand("opd1", b, out, a)
        self._issue_ar(fields, out, a, b)

    def cast(
        self, out: LocalTensor, a: LocalTensor, rounding: Rounding = Rounding.HALF_EVEN
    ) -> None:
        """Convert a to the element type of out."""
        fields = self._ar_fields(14, out, 1) | self._operand("opd0", a, out, 0.0)
        fields |= {"opd2_n_str": rounding.value, "opd2_sign": int(out.dtype.signed)}
        self._issue_ar(fields, out, a)

    def add_shift(
        self,
        out: LocalTensor,
        a: LocalTensor,
        addend: int,
        shift: int,
        rounding: Rounding = Rounding.HALF_AWAY,
    ) -> None:
        """out = saturate((a + addend) << shift) on integers; builds float exponents.

        A negative shift goes to the right and rounds.
        """
        fields = self._ar_fields(Arith.ADD_SATURATE.value, out, 3)
        fields |= self._operand("opd0", a, out, addend) | self._operand("opd1", addend, out, a)
        fields |= {"opd2_const": 1, "opd2_addr": shift & 0xFF}
        fields |= {"opd2_n_str": rounding.value}
        self._issue_ar(fields, out, a)

    def copy(self, out: LocalTensor, a: Operand) -> None:
        """out = a, within each lane; strides of both sides are free; a constant fills."""
        fields = self._ar_fields(19, out, 1) | self._operand("opd0", a, out, out)
        self._issue_ar(fields, out, a)

    def absolute(self, out: LocalTensor, a: LocalTensor) -> None:
        """out = |a|."""
        self._issue_ar(self._ar_fields(26, out, 1) | self._operand("opd0", a, out, 0.0), out, a)

    def div(self, out: LocalTensor, a: Operand, b: Operand, iterations: int = 2) -> None:
        """out = a / b in f32, by `iterations` + 1 Newton steps (5.9)."""
        fields = self._ar_fields(12, out, 2) | {"opd2_n_str": iterations}
        fields |= self._operand("opd0", a, out, b) | self._operand("opd1", b, out, a)
        self._issue_ar(fields, out, a, b)

    def select(
        self,
        condition: Compare,
        out: LocalTensor,
        a: LocalTensor,
        b: Operand,
        c: Operand,
        d: Operand,
    ) -> None:
        """out = (a (condition) b) ? c : d; all tensors EU-aligned, same shape (5.2)."""
        fields: dict[str, int] = {"tsk_eu_typ": condition.value, "opd0_prec": a.dtype.code}
        fields |= {"opd2_prec": out.dtype.code, "opd0_sign": int(a.dtype.signed)}
        fields |= _result_shape(out) | {"res0_addr": out.address}
        for name, operand, dtype in (
            ("opd0", a, a.dtype),
            ("opd1", b, a.dtype),
            ("opd2", c, out.dtype),
            ("opd3", d, out.dtype),
        ):
            fields |= _constant_or_address(name, operand, dtype)
        self._issue("sCMP", fields, out, a, b, c, d)

    def taylor(self, out: LocalTensor, x: LocalTensor, table: LocalTensor) -> None:
        """out = polynomial in x by Horner; `table` (1, lanes, 1, terms) holds t0, t1, ... (5.3)."""
        fields: dict[str, int] = {"tsk_eu_typ": 12, "opd1_n": table.shape[3]}
        fields |= {"opd2_n_str": 1 if out.dtype.bytes == 4 else 2, "opd1_addr": table.address}
        self._issue_sfu(fields, out, x, table)

    def rsqrt(self, out: LocalTensor, x: LocalTensor, iterations: int = 3) -> None:
        """out = 1 / sqrt(x) in f32, by `iterations` + 1 Newton steps (5.9)."""
        fields: dict[str, int] = {"tsk_eu_typ": 17, "opd2_n_str": iterations}
        self._issue_sfu(fields | {"opd1_n": iterations + 1}, out, x)

    def conv(
        self,
        out: LocalTensor,
        x: LocalTensor,
        weight: LocalTensor,
        window: Window,
        bias: LocalTensor | None = None,
        accumulate: bool = False,
    ) -> None:
        """out (n,oc,oh,ow) = x (n,ic,ih,iw) * weight + bias, all from lane 0 (5.4).

        weight (1, oc, 1, T) compact, T = input channels in blocks of the cube width, each block
        kh*kw positions long; f32: plain ic, ky, kx. bias (1, oc, 1, 1) f32 compact.
        `accumulate` adds to an f32 `out`. The sums of 8-bit integers are exact, in an i32 `out`,
        and have no bias: `accumulate` onto it.
        """
        x, window = read_part(out, x, window, self.chip)
        _, c, h, w = x.shape
        fields = _result_shape(out) | window.fields() | {"opd0_c": c, "opd0_h": h, "opd0_w": w}
        fields |= {"res0_prec": out.dtype.code, "opd0_prec": x.dtype.code, "opd3_const": 1}
        fields |= {"opd1_addr": weight.address, "opd0_addr": x.address, "res0_addr": out.address}
        fields |= {"res_add": int(accumulate), "opd2_const": int(bias is None)}
        if bias is not None:
            fields["opd2_addr"] = bias.address
        if not x.dtype.is_float:
            signs = {"opd0_sign": int(x.dtype.signed), "opd1_sign": int(weight.dtype.signed)}
            fields |= signs
        if x.layout is Layout.FREE:
            fields |= {"opd0_str": 3} | self._strides("opd0", x.strides, x)
        self._issue("sCONV", fields, out, x, weight, bias, out if accumulate else None)

    def mm2(
        self,
        out: LocalTensor,
        left: LocalTensor,
        right: LocalTensor,
        right_transpose: bool = False,
        accumulate: bool = False,
    ) -> None:
        """out (1,M,1,N) = left (1,M,1,K) x right, rows on lanes from lane 0, EU-aligned (5.6).

        right is (1,K,1,N), or (1,N,1,K) with `right_transpose`. `accumulate` needs an f32 out.
        """
        fields: dict[str, int] = {"tsk_eu_typ": 5 if right_transpose else 4}
        fields |= {"res0_c": out.shape[1], "res0_w": out.shape[3], "res0_prec": out.dtype.code}
        fields |= {"opd1_c": right.shape[1], "opd1_w": right.shape[3], "opd0_prec": left.dtype.code}
        fields |= {"res0_addr": out.address, "opd0_addr": left.address, "opd1_addr": right.address}
        fields |= {"res_add": int(accumulate)}
        if not left.dtype.is_float:
            signs = {"opd0_sign": int(left.dtype.signed), "opd1_sign": int(right.dtype.signed)}
            fields |= signs | {"opd2_const": 1}
        self._issue("sMM2", fields, out, left, right, out if accumulate else None)

    def depthwise(
        self,
        out: LocalTensor,
        x: LocalTensor,
        weight: LocalTensor,
        window: Window,
        bias: LocalTensor | None = None,
    ) -> None:
        """Per-channel convolution; weight (1,c,kh,kw), bias (1,c,1,1), both compact and of x's
        element type, which is also the type of the accumulator (5.7).

        Of 8-bit integers the bias and (exact) `out` are i32."""
        fields: dict[str, int] = {} if x.dtype.is_float else {"opd1_sign": int(weight.dtype.signed)}
        fields |= {"opd2_const": int(bias is None)}
        self._pool(0, out, x, window, fields, {"opd1": weight, "opd2": bias})

    def avg_pool(self, out: LocalTensor, x: LocalTensor, window: Window, scale: float) -> None:
        """Sum over the window of x * scale, in x's element type (5.7)."""
        fields = {"opd2_n_str": Rounding.HALF_UP.value, "opd1_const": 1}
        self._pool(1, out, x, window, fields | {"opd1_addr": x.dtype.bits(scale)})

    def max_pool(self, out: LocalTensor, x: LocalTensor, window: Window) -> None:
        """Maximum over the window; pads never win (5.7)."""
        lowest = {DType.F16: 0xFBFF, DType.F32: 0xFF7FFFFF, DType.BF16: 0xFF7F, DType.I8: 0x80}
        value = lowest.get(x.dtype, 0) if any(window.pads) else 0
        self._pool(4, out, x, window, {"opd3_addr": value})

    def lane_copy(self, out: LocalTensor, a: LocalTensor) -> None:
        """Copy between lanes, EU-aligned; costs one pass per channel (5.10)."""
        self._transfer(2, out, a)

    def lane_broadcast(self, out: LocalTensor, a: LocalTensor) -> None:
        """Copy a (n,1,h,w), which lies in one lane, to all lanes of out (5.10)."""
        self._transfer(3, out, a)

    def transpose_cw(self, out: LocalTensor, a: LocalTensor) -> None:
        """a (n,w,h,c) EU-aligned to out (n,c,h,w) EU-aligned, the `wc` function (6.2)."""
        self._transfer(1, out, a)

    def static_broadcast(self, out: LocalTensor, offset: int) -> None:
        """Copy out.w elements from static memory at `offset` to each lane of out (1,c,1,w)."""
        fields = _result_shape(out) | {"tsk_eu_typ": 4, "res0_prec": out.dtype.code}
        fields |= {"opd0_c": out.shape[1], "opd0_w": out.shape[3], "res0_addr": out.address}
        self._issue("sTRANS_BC", fields | {"opd0_addr": self.chip.static_base + offset}, out)

    def _transfer(self, function: int, out: LocalTensor, a: LocalTensor) -> None:
        fields = _result_shape(out) | {"tsk_eu_typ": function, "res0_prec": out.dtype.code}
        fields |= {"opd0_c": a.shape[1], "opd0_w": a.shape[3]}
        self._issue("sTRANS_BC", fields | _addresses(out, a), out, a)

    def _pool(
        self,
        function: int,
        out: LocalTensor,
        x: LocalTensor,
        window: Window,
        more: dict[str, int],
        parameters: Mapping[str, LocalTensor | None] = MappingProxyType({}),
    ) -> None:
        """One command; one for each image and group of lanes where the rows that are read do not
        lie as those of a tensor of their size would: the form has no strides."""
        part, inner = read_part(out, x, window, self.chip)
        pieces = [Piece(out, part, parameters)]
        if part.layout is not x.layout:
            pieces = list(one_by_one(pieces[0], self.chip))
        for piece in pieces:
            fields = _pool_fields(function, piece.out, piece.x, inner) | more
            given = {name: t for name, t in piece.parameters.items() if t is not None}
            fields |= {f"{name}_addr": t.address for name, t in given.items()}
            self._issue("sPorD", fields, piece.out, piece.x, *given.values())

    def _issue_sfu(self, fields: dict[str, int], out: LocalTensor, *inputs: LocalTensor) -> None:
        fields |= _result_shape(out) | _addresses(out, inputs[0])
        fields |= {"res0_prec": out.dtype.code, "opd0_prec": inputs[0].dtype.code}
        self._issue("sSFU", fields, out, *inputs)

    def _ar_fields(self, function: int, out: LocalTensor, operands: int) -> dict[str, int]:
        fields = _result_shape(out) | {"tsk_eu_typ": function, "tsk_opd_num": operands}
        fields |= {"res0_prec": out.dtype.code, "res0_addr": out.address}
        if out.layout is not Layout.ALIGNED:
            fields |= {"res0_str": 3} | self._strides("res0", out.strides, out)
        return fields

    def _operand(
        self, name: str, operand: Operand, out: LocalTensor, other: Operand
    ) -> dict[str, int]:
        """Fields of an AR operand; a constant takes the other operand's precision."""
        if not isinstance(operand, LocalTensor):
            dtype = other.dtype if isinstance(other, LocalTensor) else out.dtype
            fields = {f"{name}_const": 1, f"{name}_addr": dtype.bits(operand)}
            return fields | {f"{name}_prec": dtype.code, f"{name}_sign": int(dtype.signed)}
        fields = {f"{name}_addr": operand.address, f"{name}_prec": operand.dtype.code}
        fields[f"{name}_sign"] = int(operand.dtype.signed)
        if operand.layout is Layout.ALIGNED and operand.shape == out.shape:
            return fields
        strides = _broadcast_strides(operand, out.shape, self.chip.lanes)
        return fields | {f"{name}_str": 3} | self._strides(name, strides, out)

    def _strides(self, name: str, strides: Shape4, like: LocalTensor) -> dict[str, int]:
        """Stride fields of an operand with the extents of `like`. A stride by which no element is
        reached (its extent is 1) and that does not fit in its field becomes the widest of the
        others that do, or 1."""
        n, _, h, w = like.shape
        extents = (n, like.groups(self.chip), h, w)
        fitting = max((s for s in strides if s < STRIDE_END), default=1)
        written = (
            fitting if extent == 1 and stride >= STRIDE_END else stride
            for stride, extent in zip(strides, extents, strict=True)
        )
        return {f"{name}_{axis}_str": s for axis, s in zip("nchw", written, strict=True)}

    def _issue_ar(self, fields: dict[str, int], out: LocalTensor, *operands: Operand) -> None:
        self._issue("sAR", fields, out, *operands)

    def _issue(
        self, form: str, fields: dict[str, int], out: LocalTensor, *operands: Operand | None
    ) -> None:
        reads = [o.span(self.chip) for o in operands if isinstance(o, LocalTensor)]
        self.issue(form, fields, reads, [out.span(self.chip)])


def _pool_fields(function: int, out: LocalTensor, x: LocalTensor, window: Window) -> dict[str, int]:
    fields = _result_shape(out) | window.fields() | _addresses(out, x)
    fields |= {"tsk_eu_typ": function, "opd0_h": x.shape[2], "opd0_w": x.shape[3]}
    fields |= {"res0_prec": out.dtype.code, "opd0_prec": x.dtype.code, "opd3_const": 1}
    if not x.dtype.is_float:
        fields["opd0_sign"] = int(x.dtype.signed)
    return fields


def _result_shape(out: LocalTensor) -> dict[str, int]:
    n, c, h, w = out.shape
    return {"res0_n": n, "res0_c": c, "res0_h": h, "res0_w": w}


def _addresses(out: LocalTensor, a: LocalTensor) -> dict[str, int]:
    return {"res0_addr": out.address, "opd0_addr": a.address}


def _constant_or_address(name: str, operand: Operand, dtype: DType) -> dict[str, int]:
    if isinstance(operand, LocalTensor):
        return {f"{name}_addr": operand.address}
    return {f"{name}_const": 1, f"{name}_addr": dtype.bits(operand)}


def _broadcast_strides(operand: LocalTensor, shape: Shape4, lanes: int) -> Shape4:
    """Strides of an operand read with the result's shape: 0 where it is repeated."""
    strides = list(operand.strides)
    for axis, (own, wanted) in enumerate(zip(operand.shape, shape, strict=True)):
        if own == wanted:
            continue
        if (own == 1 and axis != 1) or (axis == 1 and own == min(lanes, wanted)):
            strides[axis] = 0
        else:
            raise TpuError(f"an operand of shape {operand.shape} cannot be read as {shape}")
    return strides[0], strides[1], strides[2], strides[3]
