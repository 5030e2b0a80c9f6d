"""What tpu.Reduce computes: sum, mean, max, min and L2 over neighbouring dimensions, in f32."""

import math
from collections.abc import Sequence

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Types, Work
from xdsl_tpu.backend.kernels.reduction import Rows
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import NoKernel

F32 = DType.F32
SUMS = ("ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2")
_MOST = float.fromhex("0x1.fffffep127")
LAST = {"ReduceMax": -_MOST, "ReduceMin": _MOST}
"""What is chosen last, of what is chosen rather than added up."""
MODES = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2")


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

    def compute(e: Emitter, work: Work) -> None:
        a, b, s, *pools = work.scratch
        x = plan.widened(e, a, work.operands[0], LAST.get(mode, 0.0))
        x = prepared(e, mode, b, x)
        total = plan.reduce(e, x, pools, maximum=mode in LAST)
        finished(e, mode, work.out, s, total, plan.size)

    tiles = (plan.tile(F32), plan.tile(F32))
    return ElementWise(compute, (*tiles, plan.statistic(F32), *stages))


def prepared(e: Emitter, mode: str, target: LocalTensor, x: LocalTensor) -> LocalTensor:
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


def finished(
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
