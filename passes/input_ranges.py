"""Finding which inputs of a network are ids or positions, and how many rows their tables have.

Indices are followed from the ops that read or write by them back to the inputs that they come
from, through whatever moves numbers or adds constants to them.
"""

import math
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import (
    INPUT_RANGES,
    TRUTH,
    InputRange,
    ranges_attribute,
    ranges_of,
)
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.main_function import find_main, input_names
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of

Interval: TypeAlias = tuple[float, float]
"""The lowest and the highest number that a value may be."""

_INDEXED = frozenset({"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"})
"""Ops, of either dialect, that take indices into operand 0 as operand 1."""

_MOVES: dict[str, slice] = {
    **dict.fromkeys(("Cast", "Copy", "DtypeCast", "Input"), slice(1)),
    **dict.fromkeys(("Expand", "Flatten", "Repeat", "Reshape", "Tile", "View"), slice(1)),
    **dict.fromkeys(("Permute", "Reverse", "SwapDimInner", "Transpose"), slice(1)),
    **dict.fromkeys(("Slice", "SliceAxis", "Split", "StridedSlice", "Unpack"), slice(1)),
    **dict.fromkeys(("Gather", "GatherElements", "GatherND"), slice(1)),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), slice(1)),
    **dict.fromkeys(("Concat", "Pack"), slice(None)),
    "Where": slice(1, None),
}
"""Ops whose results are numbers of these operands."""


def record_input_ranges(module: ModuleOp) -> None:
    """Note in a top module which inputs are indices or masks, besides what it notes already."""
    if found := {**ranges_of(module), **input_ranges(module)}:
        module.attributes[INPUT_RANGES] = ranges_attribute(found)


def input_ranges(module: ModuleOp) -> dict[str, InputRange]:
    """The ranges of inputs that indices come from, and 0 and 1 for other integer inputs.

    What counts from the end of a table is left out: a range begins at 0 or above.
    """
    inner, main = find_main(module)
    intervals: dict[SSAValue, Interval] = {}
    seen: set[tuple[SSAValue, Interval]] = set()
    for op in inner.walk():
        if _kind(op) in _INDEXED and (rows := _rows(op)):
            _follow(op.operands[1], (0, rows - 1), module, intervals, seen)
    found: dict[str, InputRange] = {}
    for name, argument in zip(input_names(main), main.args, strict=True):
        if argument in intervals:
            low, high = intervals[argument]
            found[name] = InputRange(math.ceil(low), math.floor(high) + 1)
        elif _is_integer(argument):
            found[name] = TRUTH
    return found


def _kind(op: Operation) -> str:
    dialect, _, kind = op.name.partition(".")
    return kind if dialect in ("top", "tpu") else ""


def _rows(op: Operation) -> int:
    """How many rows the table of an op has, the fewest where it is indexed in several dimensions;
    0 when that is not known."""
    shape, indices = (known_shape(value.type) or () for value in op.operands[:2])
    if _kind(op) in ("GatherND", "ScatterND"):
        first = int(_number(op, "batch_dims"))
        return min(shape[first : first + indices[-1]], default=0) if indices else 0
    axis = int(_number(op, "axis"))
    return shape[axis] if -len(shape) <= axis < len(shape) else 0


def _attribute(op: Operation, name: str) -> Attribute | None:
    return op.properties.get(name, op.attributes.get(name))


def _number(op: Operation, name: str) -> float:
    """An attribute of an op; 0, which all of these default to, where it has none."""
    attribute = _attribute(op, name)
    match attribute:
        case IntegerAttr():
            return cast(IntegerAttr[Any], attribute).value.data
        case FloatAttr():
            return cast(FloatAttr[Any], attribute).value.data
        case _:
            return 0


def _follow(
    value: SSAValue,
    interval: Interval,
    module: ModuleOp,
    intervals: dict[SSAValue, Interval],
    seen: set[tuple[SSAValue, Interval]],
) -> None:
    """Narrow the intervals of all function arguments that `value` comes from."""
    waiting = [(value, interval)]
    while waiting:
        value, interval = waiting.pop()
        if (value, interval) in seen or interval[1] < 0:  # only numbers that count from the end
            continue
        seen.add((value, interval))
        if isinstance(value.owner, Operation):
            waiting += _sources(value.owner, interval, module)
            continue
        low, high = intervals.get(value, (0, math.inf))
        low, high = max(low, interval[0]), min(high, interval[1])
        if math.ceil(low) <= math.floor(high):
            intervals[value] = low, high


def _sources(
    op: Operation, interval: Interval, module: ModuleOp
) -> Iterator[tuple[SSAValue, Interval]]:
    """The operands that a result comes from, and what they may be so that it is in its interval."""
    low, high = interval
    kind = _kind(op)
    if kind in _MOVES:
        yield from ((operand, interval) for operand in op.operands[_MOVES[kind]])
    elif kind in ("AddConst", "SubConst", "MulConst"):
        yield op.operands[0], _undone(kind, op, interval)
    elif kind == "Add" and len(op.operands) == 2:
        for one, other in (op.operands, reversed(op.operands)):
            if (added := _extremes(other, module)) is not None:
                yield one, (low - added[0], high - added[1])


def _undone(kind: str, op: Operation, interval: Interval) -> Interval:
    """What the operand of an op with a constant may be."""
    low, high = interval
    constant = _number(op, "const_val")
    if kind == "MulConst":
        return (low / constant, high / constant) if constant > 0 else (0, math.inf)
    if kind == "AddConst":
        return low - constant, high - constant
    if _number(op, "is_reverse"):
        return constant - high, constant - low
    return low + constant, high + constant


def _extremes(value: SSAValue, module: ModuleOp) -> Interval | None:
    """The smallest and the largest number of a weight, and 0 of what is added only where indices
    are negative, (index < 0) * rows; None for other values."""
    if not isinstance(value.owner, Operation):
        return None
    if _kind(value.owner) in ("Mul", "MulConst") and any(map(_is_sign, value.owner.operands)):
        return 0, 0
    if _kind(value.owner) != "Weight":
        return None
    try:
        array = weights_of(module)[name_of(value) or ""]
    except TpuError:  # IR may be without its weights
        return None
    return (float(array.min()), float(array.max())) if array.size else None


def _is_sign(value: SSAValue) -> bool:
    """Whether it is 1 where something is below 0."""
    op = value.owner
    if not isinstance(op, Operation):
        return False
    if _kind(op) == "Cast":
        return _is_sign(op.operands[0])
    mode = _attribute(op, "mode")
    less = isinstance(mode, StringAttr) and mode.data == "Less"
    return _kind(op) == "CompareConst" and less and _number(op, "const_val") == 0


def _is_integer(value: SSAValue) -> bool:
    """Whether it is a tensor of 32-bit or 64-bit integers; bytes are quantised numbers."""
    if not isa(value.type, TensorType[Attribute]):
        return False
    element = value.type.element_type
    return isinstance(element, IntegerType) and element.bitwidth >= 32
