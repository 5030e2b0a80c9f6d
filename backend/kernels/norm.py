"""tpu.LayerNorm, in f32, by mean and mean square of the difference."""

import math
from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work
from xdsl_tpu.backend.kernels.reduction import Reduction, plan_reduction, reduce_height
from xdsl_tpu.backend.kernels.rows import FULL, PARAMETER, row_layer
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned
from xdsl_tpu.dialects import tpu

F32 = DType.F32


def layer_norm(context: KernelContext, op: Operation) -> None:
    """tpu.LayerNorm over the dimensions from `axis` on, with optional weight and bias."""
    assert isinstance(op, tpu.LayerNormOp)
    out, x = context.value(op.output), context.value(op.input)
    axis = op.axis.value.data % len(x.shape)
    extent = (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]), 1)
    plan = plan_reduction(extent[1], 1, context.chip.eu(F32.bytes))
    weight, bias = context.optional(op.weight), context.optional(op.bias)
    parameters = [value for value in (weight, bias) if value is not None]
    stages = plan.scratch(F32)
    epsilon = op.eps.value.data

    def compute(e: Emitter, work: Work) -> None:
        x, *given = work.operands
        normalised = _normalise(e, work, x, plan, epsilon)
        _affine(e, work, normalised, given, weight is not None)

    tiles = (Scratch(F32), Scratch(F32), Scratch(F32))
    scratch = (*tiles, *stages, Scratch(F32, 1), Scratch(F32, 1))
    values = (out, x, *parameters)
    kinds = (FULL, FULL, *(PARAMETER for _ in parameters))
    row_layer(context, values, kinds, extent, ElementWise(compute, scratch))


def _normalise(
    e: Emitter, work: Work, x: LocalTensor, plan: Reduction, epsilon: float
) -> LocalTensor:
    """(x - mean) / sqrt(variance + epsilon), in scratch 1."""
    a, b, _, *rest = work.scratch
    stages, s, t = rest[:-2], rest[-2], rest[-1]
    if x.dtype is not F32:
        e.cast(b, x)
        x = b
    height = x.shape[2]
    total = reduce_height(e, x, plan, stages)
    e.arith(Arith.MUL, s, total, 1.0 / height)
    e.arith(Arith.SUB, a, x, s)
    e.arith(Arith.MUL, b, a, a)
    total = reduce_height(e, b, plan, stages)
    e.arith(Arith.MUL, s, total, 1.0 / height)
    e.arith(Arith.ADD, t, s, epsilon)
    e.rsqrt(s, t)
    e.arith(Arith.MUL, b, a, s)
    return b


def _affine(
    e: Emitter, work: Work, x: LocalTensor, given: Sequence[LocalTensor], has_weight: bool
) -> None:
    """x * weight + bias, each if given, into the result; x is scratch 1."""
    kinds = [Arith.MUL, Arith.ADD] if has_weight else [Arith.ADD]
    spare, wide = work.scratch[0], work.scratch[2]
    for kind, parameter in zip(kinds, given, strict=False):
        last = parameter is given[-1]
        target = work.out if last and work.out.dtype is F32 else spare
        e.arith(kind, target, x, _widened(e, wide, parameter))
        spare, x = x, target
    if not given or work.out.dtype is not F32:
        (e.copy if work.out.dtype is F32 else e.cast)(work.out, x)


def _widened(e: Emitter, room: LocalTensor, parameter: LocalTensor) -> LocalTensor:
    """A parameter in f32, using the memory of a tile-sized scratch tensor if it is not."""
    if parameter.dtype is F32:
        return parameter
    wide = aligned(e.chip, room.address, parameter.shape, F32)
    e.cast(wide, parameter)
    return wide
