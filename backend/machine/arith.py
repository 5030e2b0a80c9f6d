"""sAR: element-wise arithmetic, comparisons with selection, shifts, casts and copies.

docs/hardware/instructions.md#sar.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, Precision
from xdsl_tpu.backend.machine import newton
from xdsl_tpu.backend.machine.convert import convert
from xdsl_tpu.backend.machine.elements import (
    F32,
    U4,
    Array,
    Element,
    element,
    element_or_int4,
    flushed,
    raw_element,
    widened,
)
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.nibbles import Nibbles
from xdsl_tpu.backend.machine.rounding import shift_right
from xdsl_tpu.backend.machine.state import (
    Executor,
    Executors,
    State,
    require,
    same_spans,
    short_tensor,
    views_of,
)

_SHIFTER_BITS = 0x1F
"""The bits of an amount that a 32-bit shifter reads."""


def _operand(state: State, command: Command, name: str, kind: Element) -> Placed | Array:
    if command[f"{name}_const"]:
        return kind.immediate(command[f"{name}_addr"])
    return short_tensor(state, command, name, kind)


def apply(
    state: State,
    command: Command,
    kinds: tuple[Element, Element, Element],
    compute: Callable[[Array, Array], Array],
    moves: bool = False,
) -> None:
    """result = compute(opd0, opd1), span by span; `kinds` are result, opd0, opd1.

    What only `moves` bits is stored as it is, and operands are not flushed for it.
    """
    kind, kind0, kind1 = kinds
    result = short_tensor(state, command, "res0", kind)
    opd0 = _operand(state, command, "opd0", kind0)
    single = command["tsk_opd_num"] == 1  # the fields of opd1 mean nothing then
    opd1 = kind1.immediate(0) if single else _operand(state, command, "opd1", kind1)
    same_spans(result, *(o for o in (opd0, opd1) if isinstance(o, Placed)))
    count = len(result.views)
    views = zip(result.views, views_of(opd0, count), views_of(opd1, count), strict=True)
    for target, stored0, stored1 in views:
        a, b = (
            _values(state, kind, stored, moves)
            for kind, stored in ((kind0, stored0), (kind1, stored1))
        )
        values = np.asarray(compute(a, b))
        target[...] = kind.pack(values) if moves else kind.store(values)


def _values(state: State, kind: Element, stored: Array, moves: bool) -> Array:
    """The values of a view, or of a constant, which is loaded already."""
    if stored.ndim == 0:
        return stored if moves else state.constant(stored)
    return kind.load(stored) if moves else state.load(kind, stored)


def kinds_of(command: Command) -> tuple[Element, Element, Element]:
    """Element types of result, opd0, opd1; integer results are signed if an operand is."""
    sign0, sign1 = command["opd0_sign"], command["opd1_sign"]
    return (
        element(command["res0_prec"], sign0 | sign1),
        element(command["opd0_prec"], sign0),
        element(command["opd1_prec"], sign1),
    )


def same_float(kinds: tuple[Element, Element, Element]) -> bool:
    """Whether the operation is on floats; raises TpuError when float types are mixed."""
    if not any(kind.is_float for kind in kinds):
        return False
    names = "/".join(kind.name for kind in kinds)
    require(len(set(kinds)) == 1, f"result and operands of types {names}: float types must agree")
    return True


def _arithmetic(operation: np.ufunc) -> Executor:
    """Floats round once; integers keep the low bits."""

    def integers(a: Array, b: Array) -> Array:
        return operation(a, b, dtype=np.int64, casting="unsafe")

    def execute(state: State, command: Command) -> None:
        def floats(a: Array, b: Array) -> Array:
            return state.computed(operation, a, b)

        kinds = kinds_of(command)
        apply(state, command, kinds, floats if same_float(kinds) else integers)

    return execute


def choose(condition: Array, a: Array, b: Array) -> Array:
    """condition ? a : b on bits, without a branch per element; a and b have one dtype."""
    bits = np.dtype(f"u{a.dtype.itemsize}")
    mask = np.negative(condition.view(np.uint8).astype(bits))
    left, right = _bits(a, bits), _bits(b, bits)
    return (right ^ ((left ^ right) & mask)).view(a.dtype)


def _bits(values: Array, dtype: np.dtype[Any]) -> Array:
    return values.view(dtype)


def _comparable(values: Array) -> Array:
    """f16 is compared as f32: the same order, and numpy is faster."""
    return widened(values)


def maximum(a: Array, b: Array) -> Array:
    """a > b ? a : b."""
    return choose(np.asarray(np.greater(_comparable(a), _comparable(b))), a, b)


def minimum(a: Array, b: Array) -> Array:
    """a >= b ? b : a."""
    return choose(np.asarray(np.greater_equal(_comparable(a), _comparable(b))), b, a)


def _extremum(compute: Callable[[Array, Array], Array]) -> Executor:
    def execute(state: State, command: Command) -> None:
        kinds = kinds_of(command)
        require(len(set(kinds)) == 1, "max and min need operands and result of one type")

        def of_flushed(a: Array, b: Array) -> Array:
            return compute(flushed(a), flushed(b)) if state.exact else compute(a, b)

        apply(state, command, kinds, of_flushed, moves=True)

    return execute


def divide(state: State, command: Command) -> None:
    """f32 a / b with `opd2_n_str` + 1 Newton steps."""
    kinds = kinds_of(command)
    require(kinds == (F32, F32, F32), "division is simulated in f32 only")
    apply(state, command, kinds, lambda a, b: newton.divide(a, b, command["opd2_n_str"]))


def data_convert(state: State, command: Command) -> None:
    """Cast by the rounding mode in `opd2_n_str`; `opd2_sign` is the sign of the result.

    Unverified: casts between f16 and bf16, and those from and to int4, which saturate and round
    like those of other integers.
    """
    source = element_or_int4(command["opd0_prec"], command["opd0_sign"])
    target = element_or_int4(command["res0_prec"], command["opd2_sign"])
    mode = command["opd2_n_str"]
    result = short_tensor(state, command, "res0", target)
    opd0 = _operand(state, command, "opd0", source)
    if isinstance(opd0, Placed):
        same_spans(result, opd0)
    if source.packed or target.packed:
        _through_values(state, result, opd0, source, lambda a: convert(a, source, target, mode))
        return
    for view, stored in zip(result.views, views_of(opd0, len(result.views)), strict=True):
        values = stored if stored.ndim == 0 else source.load(stored)
        if state.exact and source is F32 and target is not F32:
            values = flushed(values)
        view[...] = convert(values, source, target, mode)


def _through_values(
    state: State,
    result: Placed,
    opd0: Placed | Array,
    kind: Element,
    compute: Callable[[Array], Array],
) -> None:
    """result = compute(opd0) of int4 tensors, whose views are not their elements."""
    stored = opd0.read() if isinstance(opd0, Placed) else opd0
    values = compute(state.load(kind, stored))
    sizes = result.sizes if isinstance(result, Nibbles) else result.shape
    result.write(np.broadcast_to(values, sizes))


def copy(state: State, command: Command) -> None:
    """Move bits; both sides have free strides, a constant fills.

    Unverified: int4, which must be EU-aligned on both sides.
    """
    if command["res0_prec"] == Precision.I4:
        _copy_int4(state, command)
        return
    kind = raw_element(command["res0_prec"])
    apply(state, command, (kind, kind, kind), lambda a, b: a)


def _copy_int4(state: State, command: Command) -> None:
    result = short_tensor(state, command, "res0", U4)
    opd0 = _operand(state, command, "opd0", U4)
    if isinstance(opd0, Placed):
        require(command["opd0_prec"] == Precision.I4, "a copy of int4 needs an int4 operand")
        same_spans(result, opd0)
    _through_values(state, result, opd0, U4, lambda a: a)


def absolute(state: State, command: Command) -> None:
    """|a|; of floats the sign bit goes, whatever the others are.

    Unsigned integers stay as they are, the smallest signed one wraps to itself.
    """
    kind = element(command["res0_prec"], command["opd0_sign"])
    require(command["opd0_prec"] == command["res0_prec"], "abs keeps the element type")
    if not kind.is_float:
        apply(state, command, (kind, kind, kind), lambda a, b: np.abs(a))
        return
    raw = raw_element(command["res0_prec"])
    magnitude = raw.storage.type(raw.limits[1] >> 1)
    apply(state, command, (raw, raw, raw), lambda a, b: a & magnitude)


def _bitwise(operation: np.ufunc) -> Executor:
    def execute(state: State, command: Command) -> None:
        kind = raw_element(command["res0_prec"])
        codes = {command[f"{name}_prec"] for name in ("res0", "opd0", "opd1")}
        require(len(codes) == 1, "bitwise operations need one element type")
        apply(state, command, (kind, kind, kind), operation)

    return execute


def _shifting(compute: Callable[[Array, Array, int, int], Array], signed: bool) -> Executor:
    """`compute(values, amount, bits, mode)`: the amount is the low byte of opd1, negative = right.

    The values have the sign that `opd0_sign` says where it matters (`signed`).
    """

    def execute(state: State, command: Command) -> None:
        kind = element(command["res0_prec"], command["opd0_sign"] if signed else 0)
        require(not kind.is_float, "shifts are for integers")
        require(command["opd0_prec"] == command["res0_prec"], "shifts keep the element type")
        amounts = element(command["opd1_prec"], 1)
        require(not amounts.is_float, "an amount of a shift is an integer")
        bits, mode = 8 * kind.size, command["opd2_n_str"]
        apply(
            state,
            command,
            (kind, kind, amounts),
            lambda a, b: compute(a, _low_byte(b), bits, mode),
        )

    return execute


def _low_byte(amount: Array) -> npt.NDArray[np.int64]:
    """What the shifters read of an amount, as a signed number."""
    return amount.astype(np.int8).astype(np.int64)


def _shift_bits(values: Array, amount: Array, bits: int, mode: int) -> Array:
    """Left shifts drop bits and take the low five bits of the amount, right shifts round."""
    wide = values.astype(np.int32 if bits <= 16 else np.int64)  # what falls off is dropped anyway
    left = (np.maximum(amount, 0) & _SHIFTER_BITS).astype(wide.dtype)
    return shift_right(wide, np.maximum(-amount, 0), mode) << left


def _rotate(values: Array, amount: Array, bits: int, mode: int) -> Array:
    """Both halves take the low five bits of their amount, so short types lose bits."""
    wide = values.astype(np.int64)
    far, near = np.abs(amount), bits - np.abs(amount)
    left, right = np.where(amount < 0, near, far), np.where(amount < 0, far, near)
    return (wide << (left & _SHIFTER_BITS)) | (wide >> (right & _SHIFTER_BITS))


def _select(condition: Callable[[Array, Array], Array]) -> Executor:
    """condition(a, b) ? opd2 : 0 with a constant opd2."""

    def execute(state: State, command: Command) -> None:
        kinds = kinds_of(command)
        require(bool(command["opd2_const"]), "select needs a constant opd2")
        chosen = kinds[0].immediate(command["opd2_addr"])
        zero = np.zeros((), chosen.dtype)
        flushes = state.exact and condition is not equal_bits

        def compute(a: Array, b: Array) -> Array:
            if flushes:
                a, b = flushed(a), flushed(b)
            return np.where(condition(a, b), chosen, zero)

        apply(state, command, kinds, compute, moves=True)

    return execute


def below(a: Array, b: Array) -> Array:
    """Neither a >= b nor the same bits: a NaN is below all others, and all others below a NaN."""
    return ~(np.greater_equal(a, b) | equal_bits(a, b))


def equal_bits(a: Array, b: Array) -> Array:
    """Equality of bit patterns: -0 differs from +0, a NaN equals itself."""
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return np.equal(a.view(bits), b.view(bits))


def invert(state: State, command: Command) -> None:
    """~a of integers."""
    kind = raw_element(command["res0_prec"])
    require(not element(command["res0_prec"]).is_float, "not is simulated for integers only")
    require(command["opd0_prec"] == command["res0_prec"], "not keeps the element type")
    apply(state, command, (kind, kind, kind), lambda a, b: np.invert(a))


def difference(state: State, command: Command) -> None:
    """|a - b| of floats as d < 0 ? -d : d with d = b - a, which is rounded once."""
    kinds = kinds_of(command)
    require(same_float(kinds), "fsub_abs is for floats")

    def compute(a: Array, b: Array) -> Array:
        gap = state.settled(np.subtract(b, a), b, a)
        return np.where(gap < 0, -gap, gap)

    apply(state, command, kinds, compute)


EXECUTORS: Executors = {
    ("sAR", AR.MUL): _arithmetic(np.multiply),
    ("sAR", AR.NOT): invert,
    ("sAR", AR.ADD): _arithmetic(np.add),
    ("sAR", AR.SUB): _arithmetic(np.subtract),
    ("sAR", AR.MAX): _extremum(maximum),
    ("sAR", AR.MIN): _extremum(minimum),
    ("sAR", AR.LOGIC_SHIFT): _shifting(_shift_bits, signed=False),
    ("sAR", AR.AND): _bitwise(np.bitwise_and),
    ("sAR", AR.OR): _bitwise(np.bitwise_or),
    ("sAR", AR.XOR): _bitwise(np.bitwise_xor),
    ("sAR", AR.SELECT_GREATER): _select(np.greater),
    ("sAR", AR.SELECT_EQUAL): _select(equal_bits),
    ("sAR", AR.DIV): divide,
    ("sAR", AR.SELECT_LESS): _select(below),
    ("sAR", AR.DATA_CONVERT): data_convert,
    ("sAR", AR.COPY): copy,
    ("sAR", AR.ARITH_SHIFT): _shifting(_shift_bits, signed=True),
    ("sAR", AR.ROTATE_SHIFT): _shifting(_rotate, signed=False),
    ("sAR", AR.ABS): absolute,
    ("sAR", AR.FSUB_ABS): difference,
}
