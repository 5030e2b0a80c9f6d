"""tpu.GroupNorm and tpu.InstanceNorm: rows of a group's channels and positions, in f32.

A group is one row of a lane; statistics are those of `norm`. Weight and bias belong to channels,
that is to parts of a row.
"""

from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels import norm
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work, run_boxes
from xdsl_tpu.backend.kernels.reduction import Reduction, plan_reduction
from xdsl_tpu.backend.kernels.regions import Box
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned
from xdsl_tpu.dialects import tpu

F32 = DType.F32


def group_norm(context: KernelContext, op: Operation) -> None:
    """tpu.GroupNorm of N, C, .. over groups of channels and all positions.

    Raises TpuError when a group does not fit the memory of a lane.
    """
    assert isinstance(op, tpu.GroupNormOp)
    _layer(context, op, op.num_groups.value.data)


def instance_norm(context: KernelContext, op: Operation) -> None:
    """tpu.InstanceNorm: every channel is a group."""
    assert isinstance(op, tpu.InstanceNormOp)
    _layer(context, op, context.value(op.input).shape[1])


def _layer(context: KernelContext, op: "tpu.GroupNormOp | tpu.InstanceNormOp", groups: int) -> None:
    out, x = context.value(op.output), context.value(op.input)
    images, channels = x.shape[:2]
    sizes = (1, groups, channels // groups, x.elements // (images * channels))
    given = [context.value(value) for value in norm.parameters(op)]
    plan = plan_reduction(sizes[2] * sizes[3], 1, context.chip.eu(F32.bytes))
    work = _describe(plan, out.dtype, norm.Form.of(op))
    units = (1, context.chip.lanes, sizes[2], sizes[3])
    run_boxes(context, (out, x, *given), work, _boxes(images, sizes, given), units)


def _boxes(images: int, sizes: Shape4, given: Sequence[DdrValue]) -> list[Box]:
    """One box an image, because parameters are those of a group whatever the image."""
    _, groups, channels, positions = sizes
    full = (0, channels * positions, positions, 1)
    strides = (full, full, *((0, channels, 1, 0) for _ in given))
    if not given:
        return [Box((1, images * groups, channels, positions), (0, 0), strides)]
    size = groups * channels * positions
    nothing = (0,) * len(given)
    return [Box(sizes, (i * size, i * size, *nothing), strides) for i in range(images)]


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
