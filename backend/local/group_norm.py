"""tpu.GroupNorm and tpu.InstanceNorm: rows of a group's channels and positions, in f32.

A group is one row of a lane; statistics are those of `norm`. Weight and bias belong to channels,
that is to parts of a row.
"""

import math

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels import norm
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work
from xdsl_tpu.backend.kernels.reduction import Reduction, plan_reduction
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import run
from xdsl_tpu.backend.local.row_views import shape_of
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import Viewed

F32 = DType.F32


def view(op: Operation, chip: Chip) -> tuple[Viewed]:
    """N, C, .. as images of one channel for each group, whose rows are its channels."""
    images, channels, *positions = shape_of(op)
    groups = op.num_groups.value.data if isinstance(op, tpu.GroupNormOp) else channels
    shape = (images, groups, channels // groups, math.prod(positions))
    rows = (None if is_none(value) else (1, *shape[1:3], 1) for value in op.operands[1:3])
    return (Viewed((shape, *rows, None, None), shape),)


def group_norm(context: LocalContext) -> None:
    """Emit a norm of all rows of each channel; weight and bias are (1, channels, rows, 1)."""
    assert isinstance(context.op, tpu.GroupNormOp | tpu.InstanceNormOp)
    out, (x, *given) = context.out.tensor, [v.tensor for v in context.operands if v is not None]
    plan = plan_reduction(x.shape[2] * x.shape[3], 1, context.chip.eu(F32.bytes))
    work = _describe(plan, out.dtype, norm.Form.of(context.op))
    run(context, work, out, [x, *given], whole=x.shape)


def _describe(plan: Reduction, out: DType, form: norm.Form) -> ElementWise:
    """How the groups of a tile (n, groups, channels, positions) are computed."""
    stages = [Scratch(F32, kind.height, 1) for kind in plan.stages(F32)]

    def compute(e: Emitter, work: Work) -> None:
        x, *given = work.operands
        a, b, *rest = work.scratch
        pools, spare = rest[: len(stages)], rest[len(stages) :]
        columns = _column(e, a), _column(e, b)
        norm.normalise(e, plan, columns, _column(e, x), pools, spare, form)
        value, room = b, a
        for kind, parameter in zip(form.steps, given, strict=False):
            e.arith(kind, room, value, norm.widened(e, spare[2], parameter))
            value, room = room, value
        (e.copy if out is F32 else e.cast)(work.out, value)

    statistics = (Scratch(F32, 1, 1), Scratch(F32, 1, 1), Scratch(F32, None, 1))
    return ElementWise(compute, (Scratch(F32), Scratch(F32), *stages, *statistics))


def _column(e: Emitter, x: LocalTensor) -> LocalTensor:
    """(n, c, h, w) as one column (n, c, h * w, 1), the same memory."""
    n, c, h, w = x.shape
    return aligned(e.chip, x.address, (n, c, h * w, 1), x.dtype)
