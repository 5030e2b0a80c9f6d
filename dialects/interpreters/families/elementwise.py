"""Element by element over broadcastable tensors, or over one tensor and a constant."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.interpreters.call import Call, Rule
from xdsl_tpu.dialects.interpreters.numerics.normalization import affine, per_channel
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]
Binary = Callable[[Any, Any], Array]

COMPARE: Final[Mapping[str, Binary]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "Greater": operator.gt,
    "GreaterOrEqual": operator.ge,
    "Less": operator.lt,
    "LessOrEqual": operator.le,
    "And": np.logical_and,
    "Xor": np.logical_xor,
    "Not": lambda x, _: np.logical_not(x),
}

SHAPE_ARITHMETIC: Final[Mapping[str, Binary]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": lambda x, y: np.floor_divide(x, y),
    "Min": np.minimum,
    "Max": np.maximum,
    **{mode: COMPARE[mode] for mode in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")},
}
"""`type` of tpu.ShapeArith."""


def _scaled(call: Call) -> list[Array]:
    """The operands times their coefficients, where the op has any."""
    tensors = call.tensors()
    factors = call.numbers("coeff")
    if not factors:
        return tensors
    pairs = zip(tensors, factors, strict=True)
    return [x if factor == 1.0 else x * factor for x, factor in pairs]


def add(call: Call) -> Array:
    """Sum of all operands, each times its coefficient."""
    return functools.reduce(operator.add, _scaled(call) if call.has("coeff") else call.tensors())


def subtract(call: Call) -> Array:
    """First minus second, or the other way round."""
    left, right = _scaled(call)
    return right - left if call.flag("is_reverse") else left - right


def nary(function: Binary) -> Rule:
    """All operands combined from the left."""
    return lambda call: functools.reduce(function, call.tensors())


def binary(function: Binary) -> Rule:
    """Two operands."""
    return lambda call: function(call.tensor(0), call.tensor(1))


def _beside(x: Array, number: float) -> tuple[Array, float]:
    """A tensor and a number to compute with: integers in 64 bits beside a whole number."""
    if x.dtype.kind == "f" or not float(number).is_integer():
        return x, number
    return x.astype(np.int64), int(number)


def with_constant(function: Binary, attribute: str = "const_val") -> Rule:
    """The operand and a constant attribute; the constant first when `is_reverse` is set."""

    def rule(call: Call) -> Array:
        x, constant = _beside(call.tensor(), call.number(attribute))
        reverse = call.has("is_reverse") and call.flag("is_reverse")
        return function(constant, x) if reverse else function(x, constant)

    return rule


def divide(call: Call) -> Array:
    """First over second, or the other way round; of integers without the fraction."""
    left, right = call.tensors()
    if call.has("is_reverse") and call.flag("is_reverse"):
        left, right = right, left
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        return left / right
    wide = left.astype(np.int64)
    rest = np.fmod(wide, right)
    return np.where(right == 0, 0, (wide - rest) // np.where(right == 0, 1, right))


def reciprocal(call: Call) -> Array:
    """const_val / x."""
    return call.number("const_val") / call.tensor()


def constant_power(call: Call) -> Array:
    """const_val ** x."""
    return np.power(np.float32(call.number("const_val")), call.tensor())


def clip(call: Call) -> Array:
    """Clamped to min .. max."""
    x, low, high = call.tensor(), call.number("min"), call.number("max")
    if x.dtype.kind != "f":
        return np.clip(x.astype(np.int64), int(low), int(high))
    return np.clip(x, np.float32(low), np.float32(high))


def compare(call: Call) -> Array:
    """1 where the comparison holds, else 0."""
    result = COMPARE[call.text("mode")](call.tensor(0), call.tensor(1))
    return result.astype(np.float32)


def compare_constant(call: Call) -> Array:
    """`x mode constant`, or `constant mode x` when `inversed`."""
    x, constant = call.tensor(), call.number("const_val")
    if call.text("mode") == "Not":
        return np.logical_not(x).astype(np.float32)
    x, constant = _beside(x, constant)
    sides: tuple[Any, Any] = (constant, x) if call.flag("inversed") else (x, constant)
    return np.asarray(COMPARE[call.text("mode")](*sides)).astype(np.float32)


def select(call: Call) -> Array:
    """The second where the first is not zero, else the third; either may be a constant."""
    return np.where(call.tensor() != 0, _branch(call, "x", 1), _branch(call, "y", 2))


def _branch(call: Call, letter: str, index: int) -> Array:
    """A branch of a Where: a tensor, or a number (whole where the result holds integers)."""
    if not call.flag(f"{letter}_is_const"):
        return call.tensor(index)
    number = call.number(f"{letter}_const_val")
    return np.asarray(int(number) if is_integer_tensor(call.op.results[0]) else number)


def masked_fill(call: Call) -> Array:
    """The constant where the condition is not zero (`inversed`: where it is zero)."""
    constant, branch = call.number("const_val"), call.tensor(1)
    sides = (branch, constant) if call.flag("inversed") else (constant, branch)
    return np.where(call.tensor() != 0, *sides)


def scale(call: Call) -> Array:
    """x * scale + bias, one of each per channel."""
    x = call.tensor()
    return affine(x, per_channel(call.tensor(1), x.ndim), per_channel(call.optional(2), x.ndim))


def shape_arithmetic(call: Call) -> Array:
    """Integers of shapes: division rounds down."""
    kind = call.text("type")
    if kind not in SHAPE_ARITHMETIC:
        raise ValueError(f"shape arithmetic {kind!r} is unknown")
    return functools.reduce(SHAPE_ARITHMETIC[kind], call.tensors())


RULES: Final[Rules] = {
    add: (top.AddOp, tpu.AddOp, tpu.CastAddOp),
    subtract: (top.SubOp, tpu.SubOp),
    nary(operator.mul): (top.MulOp, tpu.MulOp),
    nary(np.maximum): (top.MaxOp, tpu.MaxOp),
    nary(np.minimum): (top.MinOp, tpu.MinOp),
    nary(np.logical_and): (top.LogicalAndOp, tpu.LogicalAndOp),
    binary(np.fmod): (top.ModOp,),
    binary(np.mod): (top.RemainderOp,),
    binary(np.power): (top.Pow3Op,),
    with_constant(operator.add): (top.AddConstOp, tpu.AddConstOp),
    with_constant(operator.sub): (top.SubConstOp, tpu.SubConstOp),
    with_constant(operator.mul): (top.MulConstOp, tpu.MulConstOp),
    with_constant(np.divide): (top.DivConstOp,),
    with_constant(np.maximum): (top.MaxConstOp, tpu.MaxConstOp),
    with_constant(np.minimum): (top.MinConstOp, tpu.MinConstOp),
    with_constant(np.power, "exponent"): (top.PowOp, tpu.ShapePowOp),
    divide: (top.DivOp, tpu.DivOp),
    reciprocal: (top.ReciprocalOp, tpu.ReciprocalOp),
    constant_power: (top.Pow2Op,),
    clip: (top.ClipOp, tpu.ClipOp, tpu.ShapeClipOp),
    compare: (top.CompareOp, tpu.CompareOp),
    compare_constant: (top.CompareConstOp, tpu.CompareConstOp),
    select: (top.WhereOp, tpu.WhereOp),
    masked_fill: (top.MaskedFillOp, tpu.MaskedFillOp),
    scale: (top.ScaleOp, tpu.ScaleOp),
    shape_arithmetic: (tpu.ShapeArithOp,),
}
