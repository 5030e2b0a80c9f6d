"""tpu.Softmax: exp(x - max) / sum, in f16 for f16 rows, with powers of f16 digits
for bf16 rows, else in f32."""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Types, Work
from xdsl_tpu.backend.kernels.reduction import (
    Rows,
    dense_statistics,
)
from xdsl_tpu.backend.kernels.sequences import softmax as narrow_form
from xdsl_tpu.backend.kernels.sequences import softmax_bf16 as bf16_form
from xdsl_tpu.backend.kernels.sequences.exp import EXP2_6, EXP2_F32_SCRATCH, LOG2_E, exp2_f32
from xdsl_tpu.backend.kernels.sequences.row_room import RowShape
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.precision import Precision, precision_of

F32 = DType.F32
FAR_BELOW = -3e38
"""Never the largest of a row."""


def describe(op: "tpu.SoftmaxOp", types: Types, plan: Rows, inner: int, chip: Chip) -> ElementWise:
    """How a softmax along the height or the rows of a tensor is computed.

    `inner` elements lie between one and the next along the axis. Raises TpuError for a
    logarithmic softmax.
    """
    if bool(op.log.value.data):
        raise NoKernel(f"{where(op)}: log softmax has no kernel; compose it from softmax and log")
    scale = op.beta.value.data * LOG2_E
    shape = row_shape(plan, types, inner)
    if shape is not None and precision_of(op) is Precision.FAST:
        if types.out is DType.F16 and scale > 0:
            return _narrow(shape, scale, chip)
        if types.out is DType.BF16 and bf16_form.takes(shape, scale):
            return _of_bf16(shape, scale, chip)
    stages = plan.stages(F32)

    def compute(e: Emitter, work: Work) -> None:
        b, a, c, k, *rest = work.scratch
        pools, spare = rest[: len(stages)], rest[len(stages) :]
        x = _reducible(e, plan, work.operands[0], (a, b), negative=scale < 0)
        # A factor before the subtraction would round by as much as the largest score asks for.
        e.arith(Arith.SUB, a, x, plan.reduce(e, x, pools, maximum=True))
        e.arith(Arith.MUL, b, a, abs(scale))
        exp2_f32(e, b, b, (a, c, k), work.tables[0])
        inverse = _inverse(e, plan.reduce(e, b, pools), spare)
        narrow = work.out.dtype is not F32
        e.arith(Arith.MUL, plan.inner(a) if narrow else work.out, plan.inner(b), inverse)
        if narrow:
            e.cast(work.out, plan.inner(a))

    scratch = (*map(plan.tile, (F32, *EXP2_F32_SCRATCH)), *stages)
    return ElementWise(compute, (*scratch, plan.statistic(F32), plan.statistic(F32)), (EXP2_6,))


def _reducible(
    e: Emitter, plan: Rows, x: LocalTensor, spare: tuple[LocalTensor, LocalTensor], negative: bool
) -> LocalTensor:
    """x, or -x, in f32 with padding that is never the largest; x itself where that is so."""
    a, b = spare
    if not negative:
        return plan.widened(e, b, x, FAR_BELOW)
    if x.dtype is not F32:
        e.cast(plan.inner(a), x)
        x = plan.inner(a)
    e.arith(Arith.MUL, plan.inner(b), x, -1.0)
    plan.pad(e, b, FAR_BELOW)
    return b


def _inverse(e: Emitter, total: LocalTensor, spare: list[LocalTensor]) -> LocalTensor:
    """1 / total, one division for as many rows as a lane computes at a time."""
    if total.shape[0] == 1:
        e.div(spare[0], 1.0, total)
        return spare[0]
    dense, view = dense_statistics(e, spare[0], total.shape)
    inverse, result = dense_statistics(e, spare[1], total.shape)
    e.copy(view, total)
    e.div(inverse, 1.0, dense)
    return result


def row_shape(plan: Rows, types: Types, inner: int) -> RowShape | None:
    """The rows of a tensor as the sequences of 16 bits take them; None when it has others.

    Those take a tensor of width 1 for rows along its height: rows of one element are not theirs.
    """
    if inner != 1 or types.out not in (DType.F16, DType.BF16):
        return None
    if any(dtype is not types.out for dtype in types.operands):
        return None
    along_width = plan.along_width
    return None if along_width and plan.size == 1 else RowShape(plan.size, along_width)


def _narrow(shape: RowShape, scale: float, chip: Chip) -> ElementWise:
    def compute(e: Emitter, work: Work) -> None:
        x, table = work.operands[0], work.tables[0]
        narrow_form.softmax_f16(e, work.out, x, shape, work.scratch, table, scale)

    scratch = narrow_form.softmax_scratch(chip, shape)
    return ElementWise(compute, scratch, (narrow_form.TABLE,), DType.F16)


def _of_bf16(shape: RowShape, scale: float, chip: Chip) -> ElementWise:
    def compute(e: Emitter, work: Work) -> None:
        x, table = work.operands[0], work.tables[0]
        bf16_form.softmax_bf16(e, work.out, x, shape, work.scratch, table, scale)

    scratch = bf16_form.softmax_scratch_bf16(chip, shape)
    return ElementWise(compute, scratch, (narrow_form.TABLE,), DType.F16)
