"""Tensors made from numbers, shapes and other types."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.elements import element_type, integer_dtype, is_integer
from xdsl_tpu.dialects.interpreters.numerics.rounding import ROUND_MODES
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def _scalar(call: Call, index: int, default: float) -> float:
    value = call.optional(index)
    return default if value is None else float(value.reshape(-1)[0])


def constant_fill(call: Call) -> Array:
    """One value in the shape of the result, or the shape the operand holds."""
    shape = call.shape() or tuple(int(v) for v in call.tensor().reshape(-1))
    return np.full(shape, call.number("value"), np.float32)


def shape_of(call: Call) -> Array:
    """The sizes of the operand, cut to start:end:step where the op has those."""
    sizes = call.tensor().shape
    if call.has("start"):
        cut = slice(*(call.attribute(name) for name in ("start", "end", "step")))
        sizes = sizes[cut]
    return np.array(sizes, np.float32)


def size_of(call: Call) -> Array:
    """The number of elements, or the size of one axis."""
    x, axis = call.tensor(), call.attribute("axis")
    count = x.size if axis is None else x.shape[axis]
    return call.shaped(np.array([count], np.float32))


def arange(call: Call) -> Array:
    """start, end, step -> start, start + step, .. below end."""
    start, end, step = _scalar(call, 0, 0), _scalar(call, 1, 0), _scalar(call, 2, 1)
    return np.arange(start, end, step, dtype=np.float64).astype(np.float32)


def cast_to(call: Call) -> Array:
    """Whole numbers for an integer target by the rounding mode, else the same numbers."""
    x, target = call.tensor(), call.text("to")
    if is_integer(element_type(call.op.results[0].type)):
        return cast(call)
    return ROUND_MODES[call.text("round_mode")](x) if "INT" in target else x


def cast(call: Call) -> Array:
    """The numbers for the result's type; floats become integers by the rounding mode."""
    x = call.tensor()
    element = element_type(call.op.results[0].type)
    if is_integer(element) and x.dtype.kind == "f":
        limits = np.iinfo(integer_dtype(element))
        rounded = ROUND_MODES[call.text("round_mode")](x.astype(np.float64))
        return np.clip(rounded, limits.min, limits.max)
    return x


def retype(call: Call) -> Array:
    """The same numbers in another type."""
    return call.tensor()


RULES: Final[Rules] = {
    constant_fill: (top.ConstantFillOp, tpu.ConstantFillOp),
    shape_of: (top.ShapeOp, tpu.ShapeOp),
    size_of: (top.SizeOp,),
    arange: (top.ArangeOp, top.RangeOp, tpu.RangeOp),
    cast_to: (top.CastOp,),
    cast: (tpu.CastOp, tpu.DtypeCastOp),
    retype: (top.DtypeCastOp, tpu.ShapeCastOp),
}
