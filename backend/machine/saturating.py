"""sAR 15, 16, 20: integer sums, differences and products that are shifted and saturate.

docs/hardware/instructions.md#sar.
"""

from collections.abc import Callable

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR
from xdsl_tpu.backend.machine.arith import apply
from xdsl_tpu.backend.machine.elements import U32, Array, Element, element
from xdsl_tpu.backend.machine.rounding import shift
from xdsl_tpu.backend.machine.state import Executors, State, require

_STICKY_BITS = 3
_LARGE = np.uint64(1 << 62)
_OPERATIONS: dict[int, np.ufunc] = {
    AR.ADD_SATURATE: np.add,
    AR.SUB_SATURATE: np.subtract,
    AR.MUL_SATURATE: np.multiply,
}
"""Of AR, and of VC, whose functions have the same numbers."""


def saturating(
    command: Command, amount: Array, mode: int
) -> tuple[tuple[Element, Element, Element], Callable[[Array, Array], Array]]:
    """Types of result, opd0 and opd1, and a function (a, b) -> saturate(shift(a op b)).

    The result is signed if an operand is, that of a difference always. `amount` is positive for
    left shifts; right shifts round by `mode`. Raises TpuError for floats.
    """
    sign0, sign1 = command["opd0_sign"], command["opd1_sign"]
    signed = command.function == AR.SUB_SATURATE or bool(sign0 | sign1)
    kind = element(command["res0_prec"], int(signed))
    kinds = kind, element(command["opd0_prec"], sign0), element(command["opd1_prec"], sign1)
    require(not any(k.is_float for k in kinds), "saturating operations are for integers")
    limits = np.iinfo(kind.storage)
    low, high = int(limits.min), int(limits.max)
    operation = _OPERATIONS[command.function]

    short = max(k.size for k in kinds) <= (2 if operation is not np.multiply else 1)
    wide = np.int32 if short and not np.any(amount) else np.int64

    def compute(a: Array, b: Array) -> Array:
        exact = operation(a, b, dtype=wide, casting="unsafe")
        if wide is np.int32:
            return np.clip(exact, low, high)
        return shift(exact, amount, mode, low, high)

    if operation is np.multiply and kinds[1] is U32 and kinds[2] is U32:
        return kinds, _unsigned_products(amount, mode, high)
    return kinds, compute


def _unsigned_products(amount: Array, mode: int, high: int) -> Callable[[Array, Array], Array]:
    """Products of u32 need 64 bits: what a right shift loses first is kept in a sticky bit."""

    def compute(a: Array, b: Array) -> Array:
        exact = np.multiply(a, b, dtype=np.uint64)
        if amount > -_STICKY_BITS:
            return shift(np.minimum(exact, _LARGE).astype(np.int64), amount, mode, 0, high)
        sticky = (exact & np.uint64((1 << _STICKY_BITS) - 1)) != 0
        short = (exact >> np.uint64(_STICKY_BITS)).astype(np.int64) | sticky
        return shift(short, amount + _STICKY_BITS, mode, 0, high)

    return compute


def high_half(command: Command) -> Callable[[Array, Array], Array]:
    """A function (a, b) -> the high half of 2 * a * b, rounded by `opd2_n_str`, saturated.

    Operands and result have one integer type of b bits, so 2 * a * b / 2^b is computed.
    """
    codes = {command[f"{name}_prec"] for name in ("res0", "opd0", "opd1")}
    kind = element(command["res0_prec"], command["opd0_sign"])
    require(len(codes) == 1 and not kind.is_float, "mul_dhr needs integers of one type")
    signed = bool(command["opd0_sign"] and command["opd1_sign"])
    require(signed, "mul_dhr is simulated for signed operands")
    limits, amount = np.iinfo(kind.storage), np.asarray(1 - 8 * kind.size)

    def compute(a: Array, b: Array) -> Array:
        exact = np.multiply(a, b, dtype=np.int64)
        return shift(exact, amount, command["opd2_n_str"], int(limits.min), int(limits.max))

    return compute


def _execute(state: State, command: Command) -> None:
    amount = np.asarray(_shift_amount(command))
    kinds, compute = saturating(command, amount, command["opd2_n_str"])
    apply(state, command, kinds, compute)


def _shift_amount(command: Command) -> int:
    if command["tsk_opd_num"] < 3:
        return 0
    require(bool(command["opd2_const"]), "only a constant shift (opd2) is simulated")
    amount = command["opd2_addr"] & 0xFF
    return amount - 0x100 if amount & 0x80 else amount


def _execute_high_half(state: State, command: Command) -> None:
    kind = element(command["res0_prec"])
    apply(state, command, (kind, kind, kind), high_half(command))


EXECUTORS: Executors = {
    **{("sAR", function): _execute for function in _OPERATIONS},
    ("sAR", AR.MUL_DHR): _execute_high_half,
}
