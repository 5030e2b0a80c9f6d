"""Tensors that 8 bits with one scale cannot hold: some part of them is far smaller than the rest.

A class token among patches, or the denominators that one matrix product gives beside numerators,
have so few steps of the whole tensor's scale left that they become 0. Whoever reads such a part by
itself, or normalises every row by itself, then reads nothing.
"""

from collections.abc import Iterable, Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.tensors import is_weight

TOO_FINE = 16
"""Ratio of a tensor's threshold to that of a part of it above which the part is lost in 8 bits:
it would have less than eight steps."""

FINER = 2
"""The same ratio where the tensor is in floats anyway: a bit is lost in its scale."""

NEVER = 1e-8
"""A threshold below which the ratio says nothing."""

PARTS = (top.SliceOp, top.SplitOp)
"""Ops whose results are parts of their operand."""

MOVES = (
    top.FlattenOp,
    top.PermuteOp,
    top.ReshapeOp,
    top.SqueezeOp,
    top.UnsqueezeOp,
)
"""Ops whose results hold all of their operand."""

CARRY = (*MOVES, top.AddOp, top.SubOp, top.AddConstOp, top.MulConstOp, top.ConcatOp)
"""Ops whose rows are as different as those of their operands."""


def fine_ops(func: FuncOp) -> set[Operation]:
    """The ops that make, pass on or take apart tensors with parts too fine for their scale.

    Their results need 16 bits. They are found from ranges as calibration saw them, before ranges
    are spread: a Slice whose range is far smaller than that of its operand; a Concat with an
    operand far smaller than its result; and what divides. From there backwards up to the op that
    computes the tensor, and for a Concat forwards along sums, whose rows stay as different, and to
    parts of these that are finer than the whole.
    """
    ops = list(func.body.block.ops)
    found: set[Operation] = set()
    for op in ops:
        if isinstance(op, PARTS) and _is_fine(op.results, op.operands[0]):
            found.add(op)
            _mark_sources(op.operands[0], found)
        elif isinstance(op, top.DivOp) and not op.is_reverse.value.data:
            _mark_sources(op.inputs[-1], found)
    uneven: set[Operation] = {op for op in ops if isinstance(op, top.ConcatOp) and _is_uneven(op)}
    for op in ops:
        if isinstance(op, CARRY) and any(value.owner in uneven for value in op.operands):
            uneven.add(op)
    for op in ops:
        source = op.operands[0] if isinstance(op, PARTS) else None
        if source is not None and source.owner in uneven and _is_fine(op.results, source, FINER):
            found.add(op)
    return found | uneven


def _mark_sources(value: SSAValue, found: set[Operation]) -> None:
    """Mark what a value comes from: up to and with the op that computes it.

    Of a sum those operands are followed that are sums or moved tensors themselves. What a
    branch with a scale of its own adds is not: its rows come out of a product.
    """
    op = value.owner
    if not isinstance(op, Operation) or op in found or range_of(value) is None:
        return
    if isinstance(op, top.InputOp | top.WeightOp):
        return
    found.add(op)
    if isinstance(op, (*MOVES, *PARTS, top.AddConstOp, top.MulConstOp)):
        _mark_sources(op.operands[0], found)
    elif isinstance(op, CARRY):
        for operand in op.operands:
            if isinstance(operand.owner, (*CARRY, *PARTS)):
                _mark_sources(operand, found)


def _is_uneven(op: top.ConcatOp) -> bool:
    parts = [value for value in op.inputs if not is_weight(value)]
    return len(parts) > 1 and any(_is_fine([part], op.output) for part in parts)


def _is_fine(parts: Iterable[SSAValue], whole: SSAValue, ratio: float = TOO_FINE) -> bool:
    """Whether one of the parts has a threshold far below that of the whole."""
    known = range_of(whole)
    if known is None:
        return False
    return any(NEVER <= part < known.threshold / ratio for part in _thresholds(parts))


def _thresholds(values: Iterable[SSAValue]) -> Iterator[float]:
    for value in values:
        known = range_of(value)
        if known is not None:
            yield known.threshold
