"""Every top op with an 8-bit form. Those left out, and those whose function says so, run in F16."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import F64
from xdsl_tpu.passes.calibration.ranges import ends_in_relu, range_of
from xdsl_tpu.passes.calibration.steps import step_of
from xdsl_tpu.passes.lowering import activation, movement
from xdsl_tpu.passes.lowering.context import Lowering, LoweringContext
from xdsl_tpu.passes.lowering.int8 import conv, elementwise, functions, lut, matmul, pool
from xdsl_tpu.passes.tensors import is_weight

Int8Lowering: TypeAlias = Callable[[Operation, LoweringContext], Sequence[SSAValue] | None]
"""As `Lowering`; None when this op has no 8-bit form after all."""


def _as_it_is(lowering: Lowering) -> Int8Lowering:
    """The float lowering of an op that computes on integers as on any numbers."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
        first = step_of(op.operands[0])
        if first is None or is_weight(op.operands[0]) or _exceeds_limit(op):
            return None
        results = lowering(op, ctx)
        for made in results:
            if isinstance(made.owner, Operation) and "relu_limit" in made.owner.attributes:
                made.owner.attributes.update(relu_limit=F64.encode(-1.0))
        return results

    return lower


def _exceeds_limit(op: Operation) -> bool:
    """Whether a ReLU has a limit that saturation does not keep: its operand's range is larger."""
    known = range_of(op.results[0])
    if not isinstance(op, top.ReluOp) or known is None:
        return False
    limit = op.relu_limit.value.data
    return 0 <= limit < known.max


SELECTING: tuple[type[Operation], ...] = (
    top.Depth2SpaceOp,
    top.PermuteOp,
    top.ReverseOp,
    top.ShuffleChannelOp,
    top.SliceOp,
    top.SplitOp,
    top.SwapChannelOp,
    top.SwapDimInnerOp,
    top.UpsampleOp,
)
"""Ops that move elements; calibration spread has given their results the scale of the input."""

FOLLOWING: tuple[type[Operation], ...] = (
    top.FlattenOp,
    top.ReshapeOp,
    top.SqueezeOp,
    top.TileOp,
    top.UnsqueezeOp,
)
"""Ops that take the type of their input, whatever it is."""

INT8_LOWERINGS: dict[type[Operation], Int8Lowering] = {
    **{kind: _as_it_is(movement.LOWERINGS[kind]) for kind in SELECTING},
    **{kind: lut.look_up for kind in functions.FUNCTIONS},
    top.AbsOp: _as_it_is(activation.LOWERINGS[top.AbsOp]),
    top.AddConstOp: elementwise.add_const,
    top.AddOp: elementwise.add_or_sub,
    top.AvgPoolOp: pool.average,
    top.ConcatOp: elementwise.concat,
    top.ConvOp: conv.conv,
    top.DeconvOp: conv.deconv,
    top.LeakyReluOp: elementwise.leaky_relu,
    top.MatMulOp: matmul.matmul,
    top.MaxOp: elementwise.same_scale(tpu.MaxOp),
    top.MaxPoolOp: pool.maximum,
    top.MinOp: elementwise.same_scale(tpu.MinOp),
    top.MulConstOp: elementwise.mul_const,
    top.MulOp: elementwise.mul,
    top.ReluOp: _as_it_is(activation.LOWERINGS[top.ReluOp]),
    top.SubConstOp: elementwise.add_const,
    top.SubOp: elementwise.add_or_sub,
}


def in_8_bits(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """What `op` becomes in 8 bits; None when it has no such form, or a range is not known.

    A fused relu stops at the integer 0, so it needs a result in which that stands for zero.
    """
    lowering = INT8_LOWERINGS.get(type(op))
    if lowering is None or not has_ranges(op):
        return None
    tensors = [value for value in op.operands if not is_weight(value)]
    found = {step_of(v, ctx.asymmetric) for v in tensors if isinstance(v.type, TensorType)}
    results = {step_of(v, ctx.asymmetric) for v in op.results if isinstance(v.type, TensorType)}
    points = {step is not None and step.zero_point != 0 for step in found | results}
    if True in points:
        stops = ends_in_relu(op) and any(step is not None and step.zero_point for step in results)
        lowering = None if stops else _with_zero_points(op, len(found | results) == 1)
    return None if lowering is None else lowering(op, ctx)


def _with_zero_points(op: Operation, alike: bool) -> Int8Lowering | None:
    """The form of an op some of whose integers have a zero point; `alike` if all have one step."""
    if type(op) in functions.WITH_ZERO_POINTS:
        return lut.look_up
    if isinstance(op, top.ConcatOp | top.ConvOp | top.MatMulOp) or type(op) in (
        *functions.FUNCTIONS,
        *FOLLOWING,
    ):
        return INT8_LOWERINGS[type(op)]
    same = isinstance(op, top.MaxPoolOp) or type(op) in SELECTING
    return INT8_LOWERINGS[type(op)] if same and alike else None


def has_ranges(op: Operation) -> bool:
    """Whether the range of every result and of every operand but weights is known."""
    results = all(
        (known := range_of(result)) is not None and known.threshold > 0
        for result in op.results
        if isinstance(result.type, TensorType)
    )
    tensors = (value for value in op.operands if isinstance(value.type, TensorType))
    return results and all(is_weight(value) or step_of(value) is not None for value in tensors)
