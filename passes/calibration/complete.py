"""Ranges that quantised models leave out: what only moves or selects numbers, sums and functions.

Tools for engines that fuse put integers only in front of products. The range of what lies between
a product and the next integers follows from these: numbers that are farther out make no difference
to them.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.calibration.import_table import REORDERS
from xdsl_tpu.passes.calibration.ranges import (
    Range,
    ends_in_relu,
    range_of,
    scaled_range,
    set_range,
)
from xdsl_tpu.passes.calibration.spread import BACKWARD_TO_ALL, FORWARD, constant_of, holds_constant
from xdsl_tpu.passes.tensors import is_weight

MOVING = (*REORDERS, top.UpsampleOp)
"""Ops whose result has the numbers of their operand, all of them."""

FLAT_BELOW: dict[type[Operation], float] = {top.GELUOp: 4.0, top.SiLUOp: 8.0}
"""Functions that are their operand far above zero, and how far below they are nothing."""

COMPUTED = (
    *FLAT_BELOW,
    top.AddConstOp,
    top.AddOp,
    top.ConvOp,
    top.DeconvOp,
    top.MatMulOp,
    top.MulConstOp,
    top.SubOp,
)
"""Ops whose results are given ranges by what reads them."""


def complete_ranges(func: FuncOp) -> None:
    """Give results without a range the one that follows from their neighbours'.

    Those of ops that move or select numbers have their operand's; those of products, sums and
    functions hold what their readers, where all have ranges, can tell apart.
    """
    ops = list(func.body.block.ops)
    _forward(ops)
    if _backward(ops):
        _forward(ops)


def _forward(ops: Iterable[Operation]) -> None:
    for op in ops:
        if not isinstance(op, (*FORWARD, *BACKWARD_TO_ALL)) or range_of(op.results[0]) is not None:
            continue
        known = [_known(value) for value in op.operands if isinstance(value.type, TensorType)]
        sources = [one for one in known if one is not None]
        if not sources or len(sources) < len(known):
            continue
        low, high = min(one.min for one in sources), max(one.max for one in sources)
        if not holds_constant(op, Range(low, high)):
            low, high = min(low, constant_of(op)), max(high, constant_of(op))
        for place in range(len(op.results)):
            set_range(op.results[place], Range(low, high))


def _known(value: SSAValue) -> Range | None:
    return None if is_weight(value) else range_of(value)


def _backward(ops: list[Operation]) -> bool:
    """From the last op to the first; whether a result got a range."""
    wanted = dict[SSAValue, Range]()
    found = False
    for op in reversed(ops):
        if not isinstance(op, (*MOVING, *COMPUTED)) or range_of(op.results[0]) is not None:
            continue
        (result,) = op.results
        wants = [_told_apart(use.operation, result, wanted) for use in result.uses]
        known = [one for one in wants if one is not None]
        if not known or len(known) < len(wants):
            continue
        low, high = min(one.min for one in known), max(one.max for one in known)
        wanted[result] = Range(0.0 if ends_in_relu(op) else low, high)
        if isinstance(op, COMPUTED) and high > 0:
            set_range(result, wanted[result])
            found = True
    return found


def _told_apart(op: Operation, value: SSAValue, wanted: dict[SSAValue, Range]) -> Range | None:
    """The numbers of an operand beyond which all give the same result; None when not known."""
    if not op.results:
        return None
    result = range_of(op.results[0]) or wanted.get(op.results[0])
    if result is None:
        return None
    far = result.threshold
    match op:
        case top.GELUOp() | top.SiLUOp():
            return Range(-max(far, FLAT_BELOW[type(op)]), max(far, FLAT_BELOW[type(op)]))
        case top.AddOp() | top.SubOp() if len(op.inputs) == 2 and op.coeff is None:
            other = scaled_range(op.inputs[1 if op.inputs[0] is value else 0])
            if other is None or op.inputs[0] is op.inputs[1]:
                return None
            far += other.threshold
            return Range(-far, far)
        case top.AddConstOp():
            far += abs(op.const_val.value.data)
            return Range(-far, far)
        case top.MulConstOp() if op.const_val.value.data:
            far /= abs(op.const_val.value.data)
            return Range(-far, far)
        case top.ReluOp():
            return Range(-far, far)
        case _:
            return result if isinstance(op, MOVING) else None
