"""sVC: every element of one vector combined with every element of another.

docs/hardware/instructions.md#slin-and-svc, and the form's operand table: A is (1, opd0_c, 1,
opd0_w) whose last block holds opd1_w elements, B is (1, res0_c, 1, res0_w), both EU-aligned;
result(i, c, 0, w) = A[i] (op) B(0, c, 0, w). The operations are those of sAR.
"""

from collections.abc import Callable

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import VC
from xdsl_tpu.backend.machine import newton
from xdsl_tpu.backend.machine.arith import below, equal_bits, maximum, minimum, same_float
from xdsl_tpu.backend.machine.elements import F32, Array, Element, element
from xdsl_tpu.backend.machine.saturating import high_half, saturating
from xdsl_tpu.backend.machine.state import Executor, Executors, State, require

_DIVISION_STEPS = 2
"""One less than the steps of a division."""


def _vectors(state: State, command: Command, kinds: tuple[Element, Element]) -> tuple[Array, Array]:
    """A as (n, 1, 1, 1) and B as (1, c, 1, w), as they are stored."""
    blocks, width = command["opd0_c"], command["opd0_w"]
    length = (blocks - 1) * width + command["opd1_w"]
    a = state.eu_aligned(command["opd0_addr"], (1, blocks, 1, width), kinds[0]).read()
    shape = (1, command["res0_c"], 1, command["res0_w"])
    b = state.eu_aligned(command["opd1_addr"], shape, kinds[1]).read()
    return a.reshape(-1)[:length].reshape(-1, 1, 1, 1), b


def _kinds(command: Command) -> tuple[Element, Element, Element]:
    """Element types of result, A and B; integer results are signed if an operand is."""
    signs = command["opd0_sign"], command["opd1_sign"]
    return (
        element(command["res0_prec"], signs[0] | signs[1]),
        element(command["opd0_prec"], signs[0]),
        element(command["opd1_prec"], signs[1]),
    )


def _combine(
    compute: Callable[[Element, Array, Array], Array], moves: bool = False, plain: bool = False
) -> Executor:
    """`compute(result type, a, b)` on every pair; the storage of signed and unsigned is one.

    What only `moves` bits is stored as it is; `plain` operands are not flushed.
    """

    def execute(state: State, command: Command) -> None:
        kind, kind0, kind1 = _kinds(command)
        a, b = _vectors(state, command, (kind0, kind1))
        shape = (len(a), command["res0_c"], 1, command["res0_w"])
        a, b = (
            np.array(np.broadcast_to(k.load(v) if plain else state.load(k, v), shape))
            for k, v in ((kind0, a), (kind1, b))
        )
        values = compute(kind, a, b)
        values = kind.pack(values) if moves else kind.store(values)
        state.eu_aligned(command["res0_addr"], shape, kind).write(values)

    return execute


def _arithmetic(operation: np.ufunc) -> Executor:
    """Floats of one type round once; integers keep the low bits."""

    def execute(state: State, command: Command) -> None:
        is_float = same_float(_kinds(command))

        def compute(kind: Element, a: Array, b: Array) -> Array:
            if is_float:
                return state.computed(operation, a, b)
            return operation(a, b, dtype=np.int64, casting="unsafe")

        _combine(compute)(state, command)

    return execute


def _of_one_type(compute: Callable[[Array, Array], Array], floats: bool) -> Executor:
    def execute(state: State, command: Command) -> None:
        kinds = _kinds(command)
        require(len(set(kinds)) == 1, "operands and result need one element type")
        require(floats or not kinds[0].is_float, "bitwise operations are for integers")
        _combine(lambda kind, a, b: compute(a, b), moves=True)(state, command)

    return execute


def _saturating(state: State, command: Command) -> None:
    _, compute = saturating(command, np.zeros((), np.int64), 0)
    execute = _combine(lambda kind, a, b: compute(a, b))
    execute(state, command)


def _select(condition: Callable[[Array, Array], Array]) -> Executor:
    """condition(a, b) ? opd2 : 0 with a constant opd2."""

    def execute(state: State, command: Command) -> None:
        kinds = _kinds(command)
        require(kinds[1] is kinds[2], "the operands need one element type")
        chosen = kinds[0].immediate(command["opd2_addr"])

        def compute(kind: Element, a: Array, b: Array) -> Array:
            return np.where(condition(a, b), chosen, np.zeros((), chosen.dtype))

        _combine(compute, moves=True, plain=condition is equal_bits)(state, command)

    return execute


def _high_half(state: State, command: Command) -> None:
    compute = high_half(command)
    _combine(lambda kind, a, b: compute(a, b))(state, command)


def divide(state: State, command: Command) -> None:
    """f32 a / b with three Newton steps, whatever `opd2_n_str` says."""
    require(set(_kinds(command)) == {F32}, "division is simulated in f32 only")
    _combine(lambda kind, a, b: newton.divide(a, b, _DIVISION_STEPS))(state, command)


EXECUTORS: Executors = {
    ("sVC", VC.MUL): _arithmetic(np.multiply),
    ("sVC", VC.ADD): _arithmetic(np.add),
    ("sVC", VC.SUB): _arithmetic(np.subtract),
    ("sVC", VC.MAX): _of_one_type(maximum, floats=True),
    ("sVC", VC.MIN): _of_one_type(minimum, floats=True),
    ("sVC", VC.AND): _of_one_type(np.bitwise_and, floats=False),
    ("sVC", VC.OR): _of_one_type(np.bitwise_or, floats=False),
    ("sVC", VC.XOR): _of_one_type(np.bitwise_xor, floats=False),
    ("sVC", VC.SELECT_GT): _select(np.greater),
    ("sVC", VC.SELECT_EQ): _select(equal_bits),
    ("sVC", VC.DIV): divide,
    ("sVC", VC.SELECT_LT): _select(below),
    ("sVC", VC.ADD_SATURATE): _saturating,
    ("sVC", VC.SUB_SATURATE): _saturating,
    ("sVC", VC.MUL_SATURATE): _saturating,
    ("sVC", VC.MUL_DHR): _high_half,
}
