"""Element by element over broadcastable tensors, or over one tensor and a constant."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
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


def with_constant(function: Binary, attribute: str = "const_val") -> Rule:
    """The operand and a constant attribute; the constant first when `is_reverse` is set."""

    def rule(call: Call) -> Array:
        x, constant = call.tensor(), call.number(attribute)
        reverse = call.has("is_reverse") and call.flag("is_reverse")
        return function(constant, x) if reverse else function(x, constant)

    return rule


def divide(call: Call) -> Array:
    """First over second, or the other way round."""
    left, right = call.tensors()
    return right / left if call.flag("is_reverse") else left / right


def reciprocal(call: Call) -> Array:
    """const_val / x."""
    return call.number("const_val") / call.tensor()


def constant_power(call: Call) -> Array:
    """const_val ** x."""
    return np.power(np.float32(call.number("const_val")), call.tensor())


def clip(call: Call) -> Array:
    """Clamped to min .. max."""
    return np.clip(call.tensor(), np.float32(call.number("min")), np.float32(call.number("max")))


def compare(call: Call) -> Array:
    """1 where the comparison holds, else 0."""
    result = COMPARE[call.text("mode")](call.tensor(0), call.tensor(1))
    return result.astype(np.float32)


def compare_constant(call: Call) -> Array:
    """`x mode constant`, or `constant mode x` when `inversed`."""
    x, constant = call.tensor(), call.number("const_val")
    if call.text("mode") == "Not":
        return np.logical_not(x).astype(np.float32)
    sides = (constant, x) if call.flag("inversed") else (x, constant)
    return np.asarray(COMPARE[call.text("mode")](*sides)).astype(np.float32)


def select(call: Call) -> Array:
    """The second where the first is not zero, else the third; either may be a constant."""
    chosen = call.number("x_const_val") if call.flag("x_is_const") else call.tensor(1)
    other = call.number("y_const_val") if call.flag("y_is_const") else call.tensor(2)
    return np.where(call.tensor() != 0, chosen, other)


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
