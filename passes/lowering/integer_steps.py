"""Arithmetic on 32-bit integers that the chip has no instruction for, in steps that it has.

The TIU adds, subtracts, multiplies, compares and selects 32-bit integers
(docs/hardware/instructions.md#sar). It neither divides them nor adds them up: pools, products and
the division are for floats, which hold integers up to 2^24 only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.passes.lowering.context import F32
from xdsl_tpu.passes.lowering.steps import Shape, Steps
from xdsl_tpu.passes.tensors import shape_of

FOLDS: dict[str, type[NamedOp]] = {
    "ReduceL1": tpu.AddOp,
    "ReduceMax": tpu.MaxOp,
    "ReduceMin": tpu.MinOp,
    "ReduceProd": tpu.MulOp,
    "ReduceSum": tpu.AddOp,
}
"""Mode of a reduction -> what joins two elements; ReduceL1 is of magnitudes."""

APPROXIMATIONS = 2
"""Quotients in f32 that add up to one that is off by at most 1: each leaves 2^-22 of its dividend
(the division of the chip is off by 2 ulp), so of 2^31 the first leaves 2^9 divisors at most."""


@dataclass(frozen=True)
class Division:
    """A quotient without its fraction, and what is left, which has the sign of the dividend."""

    quotient: SSAValue
    rest: SSAValue


def reduced_integers(
    do: Steps, label: str, value: SSAValue, axes: Sequence[int], mode: str
) -> SSAValue:
    """Integers joined along axes, which stay as 1: one half with the other, again and again."""
    target = FOLDS[mode]
    if mode == "ReduceL1":
        value = magnitude(do, f"{label}_size", value)
    for axis in axes:
        value = _folded(do, f"{label}{axis}", value, axis, target)
    return value


def _folded(do: Steps, label: str, value: SSAValue, axis: int, target: type[NamedOp]) -> SSAValue:
    left_over: list[SSAValue] = []
    size, turn = shape_of(value)[axis], 0
    while size > 1:
        half, name = size // 2, f"{label}_{turn}"
        if size % 2:
            left_over.append(do.cut(f"{name}_rest", value, axis, size - 1, size, INTEGER))
        first = do.cut(f"{name}_first", value, axis, 0, half, INTEGER)
        second = do.cut(f"{name}_second", value, axis, half, 2 * half, INTEGER)
        value = do.step(name, target, [first, second], shape_of(first), INTEGER)
        size, turn = half, turn + 1
    if left_over:
        value = do.step(label, target, [value, *left_over], shape_of(value), INTEGER)
    return value


def running_sum(do: Steps, value: SSAValue, axis: int) -> SSAValue:
    """Sums of all integers up to each one along an axis: added to itself moved by 1, 2, 4, ..."""
    shape, step = shape_of(value), 1
    while step < shape[axis]:
        gap = [step if place == axis else size for place, size in enumerate(shape)]
        kept = do.cut(f"kept{step}", value, axis, 0, shape[axis] - step, INTEGER)
        zeros = do.integers(f"zeros{step}", np.zeros(gap, np.int32))
        moved = do.step(f"moved{step}", tpu.ConcatOp, [zeros, kept], shape, INTEGER, axis=axis)
        value = do.step(f"sum{step}", tpu.AddOp, [value, moved], shape, INTEGER)
        step *= 2
    return value


def magnitude(do: Steps, label: str, value: SSAValue) -> SSAValue:
    """|x| = max(x, -x)."""
    shape = shape_of(value)
    minus = do.step(f"{label}_minus", tpu.MulConstOp, [value], shape, INTEGER, const_val=-1.0)
    return do.step(label, tpu.MaxOp, [value, minus], shape, INTEGER)


def sign(do: Steps, label: str, value: SSAValue) -> SSAValue:
    """-1, 0 or 1."""
    limits = {"min": -1.0, "max": 1.0}
    return do.step(label, tpu.ClipOp, [value], shape_of(value), INTEGER, **limits)


def divided(do: Steps, a: SSAValue, b: SSAValue, shape: Shape) -> Division:
    """a / b towards zero, and a - b * that: exact for all integers but the lowest, -2^31.

    |a| and |b| are divided in f32, what is left over again, and then once corrected.
    """

    def step(label: str, target: type[NamedOp], *operands: SSAValue) -> SSAValue:
        return do.step(label, target, operands, shape, INTEGER)

    divisor = magnitude(do, "divisor", b)
    rest, quotient = magnitude(do, "dividend", a), None
    for turn in range(APPROXIMATIONS):
        ratio = do.step(f"ratio{turn}", tpu.DivOp, [rest, divisor], shape, F32)
        towards = {"round_mode": "TowardsZero"}
        part = do.step(f"part{turn}", tpu.CastOp, [ratio], shape, INTEGER, **towards)
        rest = step(f"left{turn}", tpu.SubOp, rest, step(f"taken{turn}", tpu.MulOp, part, divisor))
        quotient = part if quotient is None else step(f"sum{turn}", tpu.AddOp, quotient, part)
    assert quotient is not None
    low = do.compared_with("low", rest, 0, "Less")
    rest = step("raised", tpu.AddOp, rest, step("one_more", tpu.MulOp, low, divisor))
    high = do.compared("high", rest, divisor, "GreaterOrEqual", INTEGER)
    rest = step("rest", tpu.SubOp, rest, step("one_less", tpu.MulOp, high, divisor))
    quotient = step("size", tpu.AddOp, step("lowered", tpu.SubOp, quotient, low), high)
    signs = sign(do, "sign_of_a", a), sign(do, "sign_of_b", b)
    quotient = step("signed", tpu.MulOp, quotient, step("signs", tpu.MulOp, *signs))
    return Division(quotient, step("signed_rest", tpu.MulOp, rest, signs[0]))
