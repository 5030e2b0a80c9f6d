"""sSFU: polynomials by table, reciprocal square roots, exponents.

docs/hardware/instructions.md#ssfu and docs/hardware/instructions.md#reciprocals-and-roots.
"""

from collections.abc import Iterator

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import SFU, Precision
from xdsl_tpu.backend.machine import newton
from xdsl_tpu.backend.machine.elements import BF16, F16, F32, Array, Element, element
from xdsl_tpu.backend.machine.state import Executors, State, require, result_shape, same_spans

_MANTISSA_BITS = {F16: 10, BF16: 7, F32: 23}


def taylor(state: State, command: Command) -> None:
    """Horner from the highest of opd1_n coefficients; every step rounded to the operand type.

    Each lane has its own coefficients: a compact (1, lanes, 1, opd1_n) table.
    """
    kind = element(command["opd0_prec"])
    require(command["res0_prec"] == command["opd0_prec"], "the result has the operand type")
    require(kind.is_float, "polynomials are simulated for floats")
    shape, terms = result_shape(command), command["opd1_n"]
    result = state.eu_aligned(command["res0_addr"], shape, kind)
    opd0 = state.eu_aligned(command["opd0_addr"], shape, kind)
    same_spans(result, opd0)
    _, offset = state.memory.local.split(command["opd1_addr"])
    require(terms > 0, "the table is empty")
    require(offset + terms * kind.size <= state.chip.local_bytes, "the table leaves its lane")
    table = state.load(kind, state.memory.local.rows(offset, terms, kind.storage))
    for span, target, stored in zip(result.spans, result.views, opd0.views, strict=True):
        lanes = table[span.lane : span.lane + span.lanes, :, None, None]
        x = state.load(kind, np.ascontiguousarray(stored))
        total = np.empty_like(x)
        total[...] = lanes[:, terms - 1]
        for k in range(terms - 2, -1, -1):
            total = kind.load(kind.store(state.computed(np.multiply, total, x)))
            term = lanes[:, k]
            total = kind.load(kind.store(state.settled(total + term, total, term)))
        target[...] = kind.store(total)


def rsqrt(state: State, command: Command) -> None:
    """1 / sqrt(x) of f32 with `opd2_n_str` + 1 Newton steps.

    Of f16 it is what the C model stores, which is not a root; see `newton.rsqrt_half`.
    """
    kind = element(command["opd0_prec"])
    require(command["res0_prec"] == command["opd0_prec"], "the result has the operand type")
    require(kind in (F16, F32), "rsqrt is simulated for f16 and f32")
    steps = command["opd2_n_str"]
    for target, stored in _pairs(state, command, kind, kind):
        if kind is F32:
            target[...] = newton.rsqrt(stored, steps)
        else:
            bits = np.ascontiguousarray(stored).view(np.uint16)
            target[...] = newton.rsqrt_half(bits, steps).view(np.float16)


def normalize(state: State, command: Command) -> None:
    """The power of two near |x| with the sign of x, or its biased exponent as an integer.

    Two thirds of the mantissa's range, rounded down to an even number, are added to the bits of
    a number without a sign bit (so 4/3 rounds down and more rounds up); negative numbers are
    rounded toward zero. The exponent field of the sum is the result; it is 9 bits wide for a
    NaN, whose power of two is then zero.
    """
    kind = element(command["opd0_prec"])
    require(kind in _MANTISSA_BITS, "normalize is simulated for floats")
    mantissa, width = _MANTISSA_BITS[kind], 8 * kind.size
    code = Precision.I32 if kind is F32 else Precision.I16
    integer, as_integer = element(code), command["res0_prec"] == code
    require(
        as_integer or command["res0_prec"] == command["opd0_prec"],
        f"the result of normalize is {kind.name} or {integer.name}",
    )
    bits_type = np.dtype(f"u{kind.size}")
    target_kind = integer if as_integer else kind
    for target, stored in _pairs(state, command, target_kind, kind):
        bits = np.ascontiguousarray(stored).view(bits_type).astype(np.int64)
        sign = bits & (1 << (width - 1))
        third = ((1 << mantissa) - 1) // 3
        exponent = ((bits - sign) + np.where(sign, 0, 2 * third)) >> mantissa
        field = exponent & ((1 << (width - 1 - mantissa)) - 1)
        values = exponent if as_integer else (field << mantissa) | sign
        target[...] = values.astype(bits_type).view(target.dtype)


def _pairs(
    state: State, command: Command, kind: Element, source: Element
) -> Iterator[tuple[Array, Array]]:
    """The views of result and operand."""
    shape = result_shape(command)
    result = state.eu_aligned(command["res0_addr"], shape, kind)
    opd0 = state.eu_aligned(command["opd0_addr"], shape, source)
    same_spans(result, opd0)
    return zip(result.views, opd0.views, strict=True)


EXECUTORS: Executors = {
    ("sSFU", SFU.TAYLOR_4X): taylor,
    ("sSFU", SFU.TAYLOR): taylor,
    ("sSFU", SFU.NORMALIZE): normalize,
    ("sSFU", SFU.RSQRT): rsqrt,
}
