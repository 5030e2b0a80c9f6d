"""tpu.Reduce: sum, mean, max, min and L2 over neighbouring dimensions, in f32."""

import math
from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.cheapest import cheapest
from xdsl_tpu.backend.kernels.column_sums import column_sums
from xdsl_tpu.backend.kernels.mapping import ElementWise, Types, Work
from xdsl_tpu.backend.kernels.reduction import Rows, plan_reduction
from xdsl_tpu.backend.kernels.rows import FULL, REDUCED, row_layer
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import NoKernel

F32 = DType.F32
SUMS = ("ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2")
MODES = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2")


def reduce(context: KernelContext, op: Operation) -> None:
    """tpu.Reduce over axes that lie next to each other."""
    assert isinstance(op, tpu.ReduceOp)
    out, x = context.value(op.output), context.value(op.input)
    extent = reduced_extent(op, x.shape)
    mode = op.mode.data
    plan = plan_reduction(extent[1], extent[2], context.chip.eu(F32.bytes))
    work = describe(op, Types(out.dtype, (x.dtype,)), plan)

    def within_lanes(context: KernelContext) -> None:
        row_layer(context, (out, x), (REDUCED, FULL), extent, work)

    def along_lanes(context: KernelContext) -> None:
        def prepare(e: Emitter, target: LocalTensor, tile: LocalTensor) -> None:
            if tile.dtype is not F32:
                e.cast(target, tile)
                tile = target
            _prepared(e, mode, target, tile)

        def finish(e: Emitter, result: LocalTensor, spare: LocalTensor, total: LocalTensor) -> None:
            _finished(e, mode, result, spare, total, extent[1])

        changed = prepare if mode in ("ReduceL1", "ReduceL2") else None
        column_sums(context, out, x, extent, changed, finish)

    if extent[2] == 1 or mode not in SUMS:
        within_lanes(context)
        return
    key = (mode, extent, out.dtype, x.dtype)
    cheapest(context, (within_lanes, along_lanes), key)(context)


def reduced_extent(op: "tpu.ReduceOp", shape: Sequence[int]) -> tuple[int, int, int]:
    """Elements outside, along and inside the reduced axes.

    Raises TpuError when they are not neighbours.
    """
    axes = sorted(a % len(shape) for a in ints(op.axes))
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise NoKernel(
            f"{where(op)}: axes {axes} are not neighbours; reduce them one after another"
        )
    return (
        math.prod(shape[: axes[0]]),
        math.prod(shape[a] for a in axes),
        math.prod(shape[axes[-1] + 1 :]),
    )


def describe(op: "tpu.ReduceOp", types: Types, plan: Rows) -> ElementWise:
    """How a reduction along the height or the rows of a tensor is computed.

    Raises TpuError for an unknown mode.
    """
    mode = op.mode.data
    if mode not in MODES:
        raise NoKernel(f"{where(op)}: mode {mode} has no kernel; known: {', '.join(MODES)}")
    stages = plan.stages(F32)
    largest = mode in ("ReduceMax", "ReduceMin")

    def compute(e: Emitter, work: Work) -> None:
        a, b, s, *pools = work.scratch
        x = work.operands[0]
        if x.dtype is not F32:
            e.cast(plan.inner(a), x)
            x = a
        elif plan.inner(a) is not a:
            e.copy(plan.inner(a), x)
            x = a
        x = _prepared(e, mode, b, x)
        if x is not work.operands[0]:
            plan.pad(e, x, -3e38 if largest else 0.0)
        total = plan.reduce(e, x, pools, maximum=largest)
        _finished(e, mode, work.out, s, total, plan.size)

    tiles = (plan.tile(F32), plan.tile(F32))
    return ElementWise(compute, (*tiles, plan.statistic(F32), *stages))


def _prepared(e: Emitter, mode: str, target: LocalTensor, x: LocalTensor) -> LocalTensor:
    """What is summed, or whose maximum is taken."""
    if mode == "ReduceMin":
        e.arith(Arith.MUL, target, x, -1.0)
    elif mode == "ReduceL1":
        e.absolute(target, x)
    elif mode == "ReduceL2":
        e.arith(Arith.MUL, target, x, x)
    else:
        return x
    return target


def _finished(
    e: Emitter, mode: str, out: LocalTensor, spare: LocalTensor, total: LocalTensor, size: int
) -> None:
    """The result from the sum or maximum."""
    if mode == "ReduceL2":
        e.rsqrt(spare, total)
        target = out if out.dtype is F32 else total
        e.arith(Arith.MUL, target, total, spare)
        if target is not out:
            e.cast(out, target)
        return
    factor = {"ReduceMean": 1.0 / size, "ReduceMin": -1.0}.get(mode, 1.0)
    if out.dtype is F32:
        e.arith(Arith.MUL, out, total, factor)
    else:
        e.arith(Arith.MUL, spare, total, factor)
        e.cast(out, spare)
