"""TIU commands: one method per instruction form (docs/hardware/instructions.md)."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from xdsl_tpu.backend.emitter.queues import CommandQueues
from xdsl_tpu.backend.emitter.scale import Scale, right_shift
from xdsl_tpu.backend.emitter.window import Piece, Window, lone_windows, one_by_one, read_part
from xdsl_tpu.backend.isa.codes import (
    AR,
    CMP,
    CONV,
    MM,
    MM2,
    SFU,
    LayoutCode,
    PorD,
    Rounding,
    TransBc,
)
from xdsl_tpu.backend.isa.operand_fields import OperandFields
from xdsl_tpu.backend.tensor import DType, Layout, LocalTensor, Shape4
from xdsl_tpu.dialects.errors import TpuError

Operand = LocalTensor | float
"""A tensor, or a constant in the precision of the other operand."""

_NOTHING: Mapping[str, int] = MappingProxyType({})
_LOWEST = {DType.F16: 0xFBFF, DType.F32: 0xFF7FFFFF, DType.BF16: 0xFF7F, DType.I8: 0x80}
"""The bits of the lowest finite number; 0 of types without a sign."""


class Arith(IntEnum):
    """Two-operand functions of the AR form."""

    MUL = AR.MUL
    ADD = AR.ADD
    SUB = AR.SUB
    MAX = AR.MAX
    MIN = AR.MIN
    AND = AR.AND
    OR = AR.OR
    XOR = AR.XOR
    ADD_SATURATE = AR.ADD_SATURATE
    DISTANCE = AR.FSUB_ABS  # |a - b|, of floats


class Compare(IntEnum):
    """Conditions of the select instruction: a ? b."""

    GREATER = CMP.SELECT_GT
    EQUAL = CMP.SELECT_EQ


class TiuEmitter(CommandQueues):
    """The TIU half of the emitter. Result and operands are on the same lanes unless said."""

    def arith(self, kind: Arith, out: LocalTensor, a: Operand, b: Operand) -> None:
        """out = a (op) b, element by element (5.1).

        An operand may be 1 long in n, h or w where `out` is longer (it is broadcast), and its
        c may equal the lane count when every channel group reads the same values.
        """
        self._element_wise(kind, out, a, b)

    def cast(
        self, out: LocalTensor, a: LocalTensor, rounding: Rounding = Rounding.HALF_EVEN
    ) -> None:
        """Convert a to the element type of out."""
        more = {"opd2_n_str": rounding, "opd2_sign": int(out.dtype.signed)}
        self._element_wise(AR.DATA_CONVERT, out, a, more=more)

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
        more = right_shift(-shift, rounding)
        self._element_wise(AR.ADD_SATURATE, out, a, addend, more)

    def shift_right(self, out: LocalTensor, a: LocalTensor, amount: int) -> None:
        """out = a >> amount of integers, toward zero; strides of both sides are free."""
        more = {"opd1_sign": 1, "opd2_n_str": Rounding.TOWARD_ZERO}
        more |= {"opd1_addr": -amount & 0xFF, "opd1_prec": DType.I8.code}
        self._element_wise(AR.ARITH_SHIFT, out, a, 0, more)

    def copy(self, out: LocalTensor, a: Operand) -> None:
        """out = a, within each lane; strides of both sides are free; a constant fills."""
        self._element_wise(AR.COPY, out, a)

    def convert(self, out: LocalTensor, a: LocalTensor) -> None:
        """out = a in the element type of out."""
        if out.dtype is a.dtype:
            self.copy(out, a)  # a cast from f32 to f32 would round to whole numbers
        else:
            self.cast(out, a)

    def absolute(self, out: LocalTensor, a: LocalTensor) -> None:
        """out = |a|."""
        self._element_wise(AR.ABS, out, a)

    def div(self, out: LocalTensor, a: Operand, b: Operand, iterations: int = 2) -> None:
        """out = a / b in f32, by `iterations` + 1 Newton steps (5.9)."""
        self._element_wise(AR.DIV, out, a, b, {"opd2_n_str": iterations})

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
        more, tensors = {"opd2_prec": out.dtype.code}, {"opd0": a}
        for name, operand in (("opd1", b), ("opd2", c), ("opd3", d)):
            if isinstance(operand, LocalTensor):
                tensors[name] = operand
            else:
                dtype = a.dtype if name == "opd1" else out.dtype
                more |= self._constant("sCMP", name, operand, dtype)
        self._emit("sCMP", condition, out, tensors, more)

    def mark_greater(self, out: LocalTensor, a: LocalTensor, b: LocalTensor, bits: int) -> None:
        """out = a > b ? a word of these bits : 0; b is broadcast as by `arith` (5.1)."""
        more = {"opd2_const": 1, "opd2_addr": bits}
        self._element_wise(AR.SELECT_GREATER, out, a, b, more)

    def taylor(self, out: LocalTensor, x: LocalTensor, table: LocalTensor) -> None:
        """out = polynomial in x by Horner; `table` (1, lanes, 1, terms) holds t0, t1, ... (5.3)."""
        more = {"opd1_n": table.shape[3], "opd2_n_str": 1 if out.dtype.bytes == 4 else 2}
        self._emit("sSFU", SFU.TAYLOR_4X, out, {"opd0": x, "opd1": table}, more)

    def rsqrt(self, out: LocalTensor, x: LocalTensor, iterations: int = 3) -> None:
        """out = 1 / sqrt(x) in f32, by `iterations` + 1 Newton steps (5.9)."""
        more = {"opd2_n_str": iterations, "opd1_n": iterations + 1}
        self._emit("sSFU", SFU.RSQRT, out, {"opd0": x}, more)

    @property
    def convolves_with_relu(self) -> bool:
        """Whether the chip's convolutions can apply a relu."""
        return "relu" in self.forms["sCONV"].by_name

    def conv(
        self,
        out: LocalTensor,
        x: LocalTensor,
        weight: LocalTensor,
        window: Window,
        bias: LocalTensor | None = None,
        accumulate: bool = False,
        relu: bool = False,
        scale: Scale | None = None,
    ) -> None:
        """out (n,oc,oh,ow) = x (n,ic,ih,iw) * weight + bias, all from lane 0 (5.4).

        weight (1, oc, 1, T) compact, T = input channels in blocks of the cube width, each block
        kh*kw positions long; f32: plain ic, ky, kx. bias (1, oc, 1, 1) f32 compact.
        `accumulate` adds to an f32 `out`. The sums of 8-bit integers are exact, in an i32 `out`,
        and have no bias: `accumulate` onto it. `relu`, where `convolves_with_relu`, makes negative
        sums 0. Where the chip `requantises`, integers have a bias (i32) and may get a `scale`.
        """
        x, window = read_part(out, x, window, self.chip)
        more = window.fields() | {"opd3_const": 1, "res_add": int(accumulate)}
        if window.fill:
            more["opd3_addr"] = x.dtype.bits(window.fill)
        more["opd2_const"] = int(bias is None)
        if relu:
            more["relu"] = 1
        if x.layout is Layout.FREE:
            more["opd0_str"] = LayoutCode.FREE
            more |= self._strides("sCONV", "opd0", x.strides, x)
        operands = {"opd0": x, "opd1": weight} | ({} if bias is None else {"opd2": bias})
        if scale is not None:
            operands |= scale.operands
            more |= scale.fields
        more |= self._no_zero_point("sCONV", x)
        self._emit("sCONV", CONV.CONV_NORMAL, out, operands, more, reads_result=accumulate)

    def _no_zero_point(self, form: str, x: LocalTensor) -> dict[str, int]:
        """Of products of integers, where forms have zero points of their right operand."""
        has_one = not x.dtype.is_float and "opd4_const" in self.forms[form].by_name
        return {"opd4_const": 1} if has_one else {}

    def mm2(
        self,
        out: LocalTensor,
        left: LocalTensor,
        right: LocalTensor,
        right_transpose: bool = False,
        accumulate: bool = False,
        bias: LocalTensor | None = None,
        scale: Scale | None = None,
    ) -> None:
        """out (1,M,1,N) = left (1,M,1,K) x right, rows on lanes from lane 0, EU-aligned (5.6).

        right is (1,K,1,N), or (1,N,1,K) with `right_transpose`. `accumulate` needs an f32 out.
        Where the chip `requantises`, integers may have a `bias` (1,lanes,1,N) i32, which every lane
        has of its own, and get a `scale`, by constants.
        """
        more = {"res_add": int(accumulate)}
        if not left.dtype.is_float:
            more["opd2_const"] = int(bias is None)
        function = MM2.MM2_NT if right_transpose else MM2.MM2_NN
        operands = {"opd0": left, "opd1": right} | ({} if bias is None else {"opd2": bias})
        if scale is not None:
            more |= scale.fields
        more |= self._no_zero_point("sMM2", left)
        self._emit("sMM2", function, out, operands, more, reads_result=accumulate)

    def mm(self, out: LocalTensor, left: LocalTensor, right: LocalTensor) -> None:
        """out (M,C,1,W) = left (M,CK,1,WK) x right (CK*WK,C,1,W): rows of f32 in blocks of columns
        that lie over the lanes from lane 0, EU-aligned."""
        more = {"opd1_w": left.shape[3], "opd2_const": 1}
        self._emit("sMM", MM.MM_NORMAL, out, {"opd0": left, "opd1": right}, more)

    def depthwise(
        self,
        out: LocalTensor,
        x: LocalTensor,
        weight: LocalTensor,
        window: Window,
        bias: LocalTensor | None = None,
        scale: Scale | None = None,
    ) -> None:
        """Per-channel convolution; weight (1,c,kh,kw), bias (1,c,1,1), both compact and of x's
        element type, which is also the type of the accumulator (5.7).

        Of 8-bit integers the bias and (exact) `out` are i32; of 8 bits with a `scale`, where the
        chip `requantises`."""
        more = {"opd2_const": int(bias is None), "opd2_sign": 0}
        if window.fill:
            more["opd3_addr"] = x.dtype.bits(window.fill)
        operands = {"opd1": weight, "opd2": bias}
        if scale is not None:
            more |= scale.fields
            operands |= scale.operands
        self._pool(PorD.DEPTHWISE, out, x, window, more, operands)

    def avg_pool(self, out: LocalTensor, x: LocalTensor, window: Window, scale: float) -> None:
        """Sum over the window of x * scale, in x's element type (5.7)."""
        more = {"opd2_n_str": Rounding.HALF_UP, "opd1_const": 1, "opd1_addr": x.dtype.bits(scale)}
        self._pool(PorD.AVG_POOL, out, x, window, more)

    def max_pool(self, out: LocalTensor, x: LocalTensor, window: Window) -> None:
        """Maximum over the window; pads never win (5.7)."""
        value = _LOWEST.get(x.dtype, 0) if any(window.pads) else 0
        self._pool(PorD.MAX_POOL, out, x, window, {"opd3_addr": value})

    def lane_copy(self, out: LocalTensor, a: LocalTensor) -> None:
        """Copy between lanes, EU-aligned; costs one pass per channel (5.10)."""
        self._emit("sTRANS_BC", TransBc.LANE_COPY, out, {"opd0": a})

    def lane_broadcast(self, out: LocalTensor, a: LocalTensor) -> None:
        """Copy a (n,1,h,w), which lies in one lane, to all lanes of out (5.10)."""
        self._emit("sTRANS_BC", TransBc.LANE_BROADCAST, out, {"opd0": a})

    def transpose_cw(self, out: LocalTensor, a: LocalTensor) -> None:
        """a (n,w,h,c) EU-aligned to out (n,c,h,w) EU-aligned, the `wc` function (6.2)."""
        self._emit("sTRANS_BC", TransBc.WC_TRANSPOSE, out, {"opd0": a})

    def static_broadcast(self, out: LocalTensor, offset: int) -> None:
        """Copy out.w elements from static memory at `offset` to each lane of out (1,c,1,w)."""
        more = {"opd0_c": out.shape[1], "opd0_w": out.shape[3]}
        more["opd0_addr"] = self.chip.static_tiu_base + offset
        self._emit("sTRANS_BC", TransBc.STATIC_BROADCAST, out, {}, more)

    def _pool(
        self,
        function: PorD,
        out: LocalTensor,
        x: LocalTensor,
        window: Window,
        more: Mapping[str, int],
        parameters: Mapping[str, LocalTensor | None] = MappingProxyType({}),
    ) -> None:
        """One command; one for each image and group of lanes where the rows that are read do not
        lie as those of a tensor of their size would: the form has no strides."""
        part, inner = read_part(out, x, lone_windows(out, x, window), self.chip)
        pieces = [Piece(out, part, parameters)]
        if part.layout is not x.layout:
            pieces = list(one_by_one(pieces[0], self.chip))
        for piece in pieces:
            given = {name: t for name, t in piece.parameters.items() if t is not None}
            fields = {**inner.fields(), "opd3_const": 1, **more}
            self._emit("sPorD", function, piece.out, {"opd0": piece.x} | given, fields)

    def _element_wise(
        self,
        function: int,
        out: LocalTensor,
        a: Operand,
        b: Operand | None = None,
        more: Mapping[str, int] = _NOTHING,
    ) -> None:
        """A function of AR on one or two operands; a given shift (`opd2`) is the third."""
        operands = (a,) if b is None else (a, b)
        fields = {"tsk_opd_num": 3 if "opd2_const" in more else len(operands)}
        if out.layout is not Layout.ALIGNED:
            fields["res0_str"] = LayoutCode.FREE
            fields |= self._strides("sAR", "res0", out.strides, out)
        tensors: dict[str, LocalTensor] = {}
        for name, operand, other in zip(("opd0", "opd1"), operands, (b, a), strict=False):
            if not isinstance(operand, LocalTensor):
                dtype = other.dtype if isinstance(other, LocalTensor) else out.dtype
                fields |= self._constant("sAR", name, operand, dtype)
                continue
            tensors[name] = operand
            if operand.layout is not Layout.ALIGNED or operand.shape != out.shape:
                strides = _broadcast_strides(operand, out.shape, self.chip.lanes)
                fields[f"{name}_str"] = LayoutCode.FREE
                fields |= self._strides("sAR", name, strides, out)
        self._emit("sAR", function, out, tensors, {**fields, **more})

    def _strides(self, form: str, name: str, strides: Shape4, like: LocalTensor) -> dict[str, int]:
        """Stride fields of an operand with the extents of `like`. A stride by which no element is
        reached (its extent is 1) and that does not fit in its field becomes the widest of the
        others that do, or 1."""
        names, largest = self.forms[form].operands[name].strides, self.limits.local_stride
        if max(strides) > largest:
            n, _, h, w = like.shape
            extents = (n, like.groups(self.chip), h, w)
            fitting = max((s for s in strides if s <= largest), default=1)
            pairs = zip(strides, extents, strict=True)
            written = (fitting if n == 1 and s > largest else s for s, n in pairs)
            return dict(zip(names, written, strict=True))
        return dict(zip(names, strides, strict=True))

    def _constant(self, form: str, name: str, value: float, dtype: DType) -> dict[str, int]:
        """A constant operand in the precision of an element type."""
        names = self.forms[form].operands[name]
        fields = {f"{name}_const": 1, f"{name}_addr": dtype.bits(value)}
        return fields | _type_fields(names, dtype)

    def _emit(
        self,
        form: str,
        function: int,
        out: LocalTensor,
        operands: Mapping[str, LocalTensor],
        more: Mapping[str, int] = _NOTHING,
        reads_result: bool = False,
    ) -> None:
        """Issue a function of a form on operands in local memory, by their names in the form:
        their addresses, sizes and types, in the fields that the form has for them, then `more`."""
        kind = self.forms[form]
        fields = {kind.function_field: int(function)}
        if (described := kind.instructions[int(function)].described) is not None:
            fields |= described.absent
        _write(fields, kind.operands["res0"], out)
        for name, operand in operands.items():
            _write(fields, kind.operands[name], operand)
        fields |= more
        self._issue(form, fields, out, *operands.values(), out if reads_result else None)

    def _issue(
        self, form: str, fields: dict[str, int], out: LocalTensor, *operands: LocalTensor | None
    ) -> None:
        reads = [o.span(self.chip) for o in operands if o is not None]
        self.issue(form, fields, reads, [out.span(self.chip)])


def _write(fields: dict[str, int], names: OperandFields, tensor: LocalTensor) -> None:
    """Where a tensor is, how large and of which type."""
    fields[names.address[0]] = tensor.address
    for axis, field in names.extents:
        fields[field] = tensor.shape[axis]
    fields |= _type_fields(names, tensor.dtype)


def _type_fields(names: OperandFields, dtype: DType) -> dict[str, int]:
    """Its precision, and its sign if that of such a type is set in commands of the form."""
    fields: dict[str, int] = {}
    if names.precision is not None:
        fields[names.precision] = dtype.code
    if names.sign is not None and (names.signed_floats or not dtype.is_float):
        fields[names.sign] = int(dtype.signed)
    return fields


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
