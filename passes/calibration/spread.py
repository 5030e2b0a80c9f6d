"""Calibration spread: ranges are adjusted so that neighbours share a scale and a sign.

An op that moves or selects elements computes on the stored integers, so its result has to be
quantised as its operand is. Where the operand has no other reader the operand can take over the
result's range (backward), which is the better one behind a ReLU; elsewhere the result takes over
the operand's (forward). The order of steps is that of tpu-mlir.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.passes.calibration.ranges import Range, ends_in_relu, range_of, set_range
from xdsl_tpu.passes.tensors import is_weight

KEEP_SIGN = (top.AvgPoolOp, top.MaxPoolOp, top.AbsOp)
BACKWARD = (
    top.ReluOp,
    top.MaxPoolOp,
    top.Depth2SpaceOp,
    top.AbsOp,
    top.PReluOp,
    top.LeakyReluOp,
)
BACKWARD_TO_ALL = (top.ConcatOp, top.MinOp, top.MaxOp)
FORWARD = (
    top.ReluOp,
    top.MaxPoolOp,
    top.MinConstOp,
    top.MaxConstOp,
    top.ReshapeOp,
    top.UnsqueezeOp,
    top.SqueezeOp,
    top.SliceOp,
    top.SplitOp,
    top.FlattenOp,
    top.TileOp,
    top.PadOp,
    top.PermuteOp,
    top.ReverseOp,
    top.UpsampleOp,
    top.LeakyReluOp,
    top.AbsOp,
    top.PReluOp,
    top.Depth2SpaceOp,
    top.ShuffleChannelOp,
    top.SwapDimInnerOp,
)
"""Ops whose result is quantised as their first operand."""

RESCALES = (top.AddOp, top.ConvOp, top.DeconvOp, top.MatMulOp, top.MulOp, top.SubOp)
"""Ops that bring exact numbers to the scale of their result, whichever that is."""

UNSIGNED_SHARE = 0.1
"""How far below zero a range is taken to reach, in parts of its maximum, when only its sign is
known to be needed."""


def drop_ranges(func: FuncOp) -> None:
    """Make every calibrated type of a function the plain float it is of."""
    for op in func.body.block.ops:
        for place in range(len(op.results)):
            kind = op.results[place].type
            if isa(kind, TensorType[Attribute]) and isinstance(kind.element_type, CalibratedType):
                plain = TensorType(kind.element_type.expressed, kind.get_shape())
                Rewriter.replace_value_with_new_type(op.results[place], plain)


def spread_calibration(
    func: FuncOp, floats: Collection[Operation] = (), asymmetric: bool = False
) -> None:
    """Adjust the calibrated types of one function of top IR, in place.

    Parts that are cut out, or put together, in one of the `floats`, ops that compute on floats,
    keep their own ranges: that of the whole tensor may be far larger. So do magnitudes of
    `asymmetric` ranges, whose ends are not those of their operands.
    """
    apart = {op for op in floats if isinstance(op, top.ConcatOp | top.SliceOp | top.SplitOp)}
    if asymmetric:
        apart |= {op for op in func.body.block.ops if isinstance(op, top.AbsOp)}
    ops = [op for op in func.body.block.ops if op not in apart]
    _forward(_of(ops, (top.ReshapeOp, top.PermuteOp)))
    _each(_of(ops, KEEP_SIGN), _keep_sign)
    _each(_of(ops, (top.AddOp,)), _keep_sum_unsigned)
    _each(_of(ops, (top.MulOp,)), _keep_product_sign)
    _each(_of(ops, (top.AddConstOp, top.SubConstOp)), _keep_shifted_sign)
    _each(_of(reversed(ops), BACKWARD_TO_ALL), _backward_to_all)
    _each(_of(reversed(ops), BACKWARD), _backward)
    _forward(_of(ops, (*FORWARD, top.MulConstOp)))
    _each(_of(ops, KEEP_SIGN), _keep_sign)
    _each(_of(ops, (top.ConcatOp,)), partial(_backward_to_makers, asymmetric=asymmetric))


def _of(ops: Iterable[Operation], kinds: tuple[type[Operation], ...]) -> list[Operation]:
    return [op for op in ops if isinstance(op, kinds)]


def _each(ops: Iterable[Operation], rule: Callable[[Operation], None]) -> None:
    for op in ops:
        rule(op)


def _forward(ops: Iterable[Operation]) -> None:
    for op in ops:
        source = range_of(op.operands[0])
        if source is None or not holds_constant(op, source):
            continue
        if isinstance(op, top.MulConstOp):
            factor = op.const_val.value.data
            if factor == 0 or op.do_relu.value.data:
                continue
            source = Range(*sorted((source.min * factor, source.max * factor)))
        for result in list(op.results):
            own = range_of(result)
            if own is not None and not _grows(op, own, source):
                set_range(result, source)


def _grows(op: Operation, result: Range, source: Range) -> bool:
    """Whether an op has slopes, also negative ones, that take what is below zero beyond the range
    of its operand.

    tpu-mlir gives all results of these ops the range of their operands.
    """
    if isinstance(op, top.LeakyReluOp):
        return abs(op.alpha.value.data) > 1
    return isinstance(op, top.PReluOp) and (result.min < source.min or result.max > source.max)


def constant_of(op: Operation) -> float:
    """What an op puts beside its operand's numbers, or limits them to; 0, which all ranges hold,
    of other ops."""
    match op:
        case top.MinConstOp() | top.MaxConstOp():
            return op.const_val.value.data
        case top.PadOp():
            return op.val.value.data
        case _:
            return 0.0


def holds_constant(op: Operation, source: Range) -> bool:
    """Whether what an op does with its constant stays within the range of its operand."""
    constant = constant_of(op)
    low = isinstance(op, top.MaxConstOp) or constant >= source.min
    return low and (isinstance(op, top.MinConstOp) or constant <= source.max)


def _keep_sign(op: Operation) -> None:
    source, result = range_of(op.operands[0]), range_of(op.results[0])
    if source is None or result is None or source.is_signed == result.is_signed:
        return
    low = -UNSIGNED_SHARE * result.max if source.is_signed else 0.0
    set_range(op.results[0], Range(low, result.max))


def _keep_sum_unsigned(op: Operation) -> None:
    """A sum of numbers that are never negative is not, either."""
    assert isinstance(op, top.AddOp)
    result, sources = range_of(op.output), _ranges(op.operands)
    if result is None or sources is None or not result.is_signed:
        return
    if not any(source.is_signed for source in sources):
        set_range(op.output, Range(0.0, result.max))


def _keep_product_sign(op: Operation) -> None:
    assert isinstance(op, top.MulOp)
    result, sources = range_of(op.output), _ranges(op.operands)
    if result is None or sources is None or len(sources) != 2:
        return
    signed = op.inputs[0] is not op.inputs[1] and any(source.is_signed for source in sources)
    if signed and not result.is_signed and not op.do_relu.value.data:
        set_range(op.output, Range(-UNSIGNED_SHARE * result.max, result.max))
    elif not signed and result.is_signed:
        set_range(op.output, Range(0.0, result.max))


def _keep_shifted_sign(op: Operation) -> None:
    """x + c is not negative when neither is; it needs a sign when x + c reaches below zero."""
    assert isinstance(op, top.AddConstOp | top.SubConstOp)
    result, source = range_of(op.output), range_of(op.input)
    if result is None or source is None or op.do_relu.value.data:
        return
    constant = op.const_val.value.data
    if isinstance(op, top.AddConstOp):
        low = source.min + constant
    elif op.is_reverse.value.data:
        low = constant - source.max
    else:
        low = source.min - constant
    if low >= 0 and result.is_signed:
        set_range(op.output, Range(0.0, result.max))
    elif low < 0 and not result.is_signed:
        set_range(op.output, Range(-UNSIGNED_SHARE * result.max, result.max))


def _backward(op: Operation) -> None:
    """The only reader of a tensor passes its own range on to it."""
    source, wanted = range_of(op.operands[0]), range_of(op.results[0])
    if source is None or wanted is None or not op.operands[0].has_one_use():
        return
    if isinstance(op, top.PReluOp | top.LeakyReluOp):
        wanted = Range(source.min, wanted.max)
    elif isinstance(op, top.AbsOp) and source.is_signed:  # a ReLU behind it may have taken its sign
        wanted = Range(-wanted.max, wanted.max)
    set_range(op.operands[0], wanted)


def _backward_to_all(op: Operation) -> None:
    """All operands get the range of the result, or it gets theirs if that is the same."""
    result, sources = range_of(op.results[0]), _ranges(op.operands)
    if result is None or sources is None or not all(_is_used_by(v, op) for v in op.operands):
        return
    if isinstance(op, top.ConcatOp) and len({source.is_signed for source in sources}) > 1:
        return
    if len(set(sources)) == 1:
        set_range(op.results[0], sources[0])
        return
    for place in range(len(op.operands)):
        set_range(op.operands[place], result)


def _backward_to_makers(op: Operation, asymmetric: bool) -> None:
    """What is made for a Concat alone by ops that bring it to some scale in any case gets that of
    the result, also where another operand cannot: it would be brought to it in the Concat.

    A fused relu stops at the integer 0: where that is another number, as in `asymmetric` ranges
    from below zero, what it ends keeps its own.
    """
    result = range_of(op.results[0])
    if result is None:
        return
    for value in op.operands:
        maker = value.owner
        if not isinstance(maker, RESCALES) or not value.has_one_use():
            continue
        source, stops = range_of(value), asymmetric and result.is_signed and ends_in_relu(maker)
        if source is None or stops:
            continue
        if result.min <= source.min and source.max <= result.max:
            set_range(value, result)


def _is_used_by(value: SSAValue, op: Operation) -> bool:
    """Whether `op` reads the value once, and besides only pools do."""
    here = [use for use in value.uses if use.operation is op]
    others = [use.operation for use in value.uses if use.operation is not op]
    return len(here) == 1 and all(isinstance(other, top.MaxPoolOp) for other in others)


def _ranges(values: Iterable[SSAValue]) -> list[Range] | None:
    """The ranges of all values that are tensors; None when one is unknown, as a weight's."""
    found: list[Range] = []
    for value in values:
        if not isinstance(value.type, TensorType):
            continue
        one = None if is_weight(value) else range_of(value)
        if one is None:
            return None
        found.append(one)
    return found or None
