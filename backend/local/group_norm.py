"""tpu.GroupNorm and tpu.InstanceNorm: rows of a group's channels and positions, in f32.

A group is one row of a lane; statistics are those of `norm`. Weight and bias belong to channels,
that is to parts of a row.
"""

import math

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels import norm
from xdsl_tpu.backend.kernels.mapping import Types
from xdsl_tpu.backend.kernels.reduction import plan_reduction
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import run
from xdsl_tpu.backend.local.row_views import shape_of
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import Viewed


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
    plan = plan_reduction(math.prod(x.shape[2:]), 1, context.chip.eu(DType.F32.bytes))
    types = Types(out.dtype, (x.dtype, *(value.dtype for value in given)))
    work = norm.in_f32(types, plan, norm.Form.of(context.op), flat=True)
    run(context, work, out, [x, *given], whole=x.shape)
