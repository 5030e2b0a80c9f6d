"""GELU, SiLU and their like between integers that stand for the same numbers.

A ramp less a polynomial needs floats for the polynomial only where a step of its operand is one of
its result (`tpu.SoftRamp`), which is three passes less of ten. Such a function gives nothing larger
than it is given, and hardly anything of what is far below zero: an operand that reaches farther
than the result loses nothing by being cut off there. What writes it does that by the way.
"""

from collections.abc import Iterator

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters.families.activation import ACTIVE_MODES
from xdsl_tpu.passes.calibration.ranges import Range, range_of, set_range
from xdsl_tpu.passes.calibration.spread import BACKWARD, BACKWARD_TO_ALL, FORWARD
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX
from xdsl_tpu.passes.lowering.int8.by_floats import plain_function
from xdsl_tpu.passes.lowering.int8.soft_ramp import CLOSE, RAMPS

COARSER = 1.04
"""How much larger than before the steps of an operand or a result may be."""

MOVES = (top.PermuteOp, top.ReshapeOp, top.SqueezeOp, top.UnsqueezeOp)

_SHARED = (*FORWARD, *BACKWARD, *BACKWARD_TO_ALL, top.MulConstOp)
"""Ops whose operands and results share ranges."""


def level_ramps(func: FuncOp) -> None:
    """Give operands and results of such functions one range where that costs no digits; not in a
    model that came quantised."""
    ops = list(func.body.block.ops)
    if any(isinstance(op, top.WeightOp) and op.scale is not None for op in ops):
        return
    for op in ops:
        shared = shared_range(op)
        if shared is not None:
            for value in (op.results[0], *_back(op.operands[0])):
                set_range(value, shared)


def shared_range(op: Operation) -> Range | None:
    """What operand and result of an op may both have; None for other ops and where it costs."""
    called = plain_function(op)
    if called is None or called.mode not in RAMPS:
        return None
    source, result = range_of(op.operands[0]), range_of(op.results[0])
    if source is None or result is None or not (source.is_signed and result.is_signed):
        return None
    *_, first = _back(op.operands[0])
    if not all(value.has_one_use() for value in _back(op.operands[0])):
        return None
    if not isinstance(first.owner, Operation) or isinstance(first.owner, (*_SHARED, top.InputOp)):
        return None
    given, made = source.threshold, result.threshold
    # Where the operand is cut off at both ends the result is off by as much.
    function, ends = ACTIVE_MODES[called.mode.value], np.array([-made, made])
    lost = float(np.abs(np.maximum(ends, 0) - function(ends)).max()) if made < given else 0.0
    if lost <= CLOSE * made / SIGNED_MAX and made <= COARSER * given:
        return Range(-made, made)
    readers = {use.operation for use in op.results[0].uses}
    free = not any(isinstance(one, _SHARED) for one in readers)
    return Range(-given, given) if free and given <= COARSER * made else None


def _back(value: SSAValue) -> Iterator[SSAValue]:
    """A value and those that it is after moves."""
    yield value
    while isinstance(op := value.owner, MOVES):
        value = op.operands[0]
        yield value
