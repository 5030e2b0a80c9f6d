"""tpu.LayerNorm by mean and mean square of the difference, tpu.RMSNorm by the mean square; in f16
for f16 rows, else in f32."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Types, Work
from xdsl_tpu.backend.kernels.reduction import Rows, column, dense_statistics
from xdsl_tpu.backend.kernels.sequences import norm as narrow_form
from xdsl_tpu.backend.kernels.sequences import norm_bf16
from xdsl_tpu.backend.kernels.sequences.row_room import RowShape
from xdsl_tpu.backend.kernels.sequences.row_set import rows_of
from xdsl_tpu.backend.kernels.softmax import row_shape
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.precision import Precision, precision_of

F32 = DType.F32

_NARROW = {
    DType.F16: (
        narrow_form.layer_norm_f16,
        narrow_form.rms_norm_f16,
        narrow_form.norm_scratch,
    ),
    DType.BF16: (
        norm_bf16.layer_norm_bf16,
        norm_bf16.rms_norm_bf16,
        norm_bf16.norm_scratch_bf16,
    ),
}
"""Of rows of 16 bits: with a mean taken off, without, and their scratch tensors."""


RowNorm: TypeAlias = tpu.LayerNormOp | tpu.RMSNormOp
Norm: TypeAlias = RowNorm | tpu.GroupNormOp | tpu.InstanceNormOp | tpu.PixelNormOp


@dataclass(frozen=True, slots=True)
class Form:
    """Which normalisation: with or without a mean taken off, with or without a weight."""

    epsilon: float
    has_weight: bool
    centred: bool = True

    @classmethod
    def of(cls, op: Norm) -> "Form":
        """That of an op."""
        has_weight = not is_none(op.operands[1])
        return cls(op.eps.value.data, has_weight, not isinstance(op, tpu.RMSNormOp))

    @property
    def steps(self) -> tuple[Arith, ...]:
        """What is done with each of the parameters."""
        return (Arith.MUL, Arith.ADD) if self.has_weight else (Arith.ADD,)


def row_size(op: RowNorm, shape: Sequence[int]) -> int:
    """The elements of a row: the dimensions from `axis` on, or the last."""
    axis = op.axis.value.data % len(shape) if isinstance(op, tpu.LayerNormOp) else -1
    return math.prod(shape[axis:])


def describe(op: RowNorm | tpu.PixelNormOp, types: Types, plan: Rows, chip: Chip) -> ElementWise:
    """How a normalisation along the rows of a tensor is computed.

    The operands are x and whatever of weight and bias there is, in every lane and with the size of
    the reduced axis.
    """
    form, shape = Form.of(op), row_shape(plan, types, 1)
    if shape is not None and narrow_form.takes(shape, chip) and precision_of(op) is Precision.FAST:
        return _narrow(shape, form, types.out, chip)
    return in_f32(types, plan, form)


def in_f32(types: Types, plan: Rows, form: Form, flat: bool = False) -> ElementWise:
    """How a normalisation is computed whose numbers are all widened to f32.

    `flat`: all that a lane has of an image is one column for the plan, and weight and bias belong
    to its rows.
    """

    def narrow(kind: Scratch) -> Scratch:
        return replace(kind, width=1) if flat else kind

    stages, statistic = [*map(narrow, plan.stages(F32))], narrow(plan.statistic(F32))
    widens = any(dtype is not F32 for dtype in types.operands[1:])

    def compute(e: Emitter, work: Work) -> None:
        x, *given = work.operands
        a, b, *rest = work.scratch
        pools, spare = rest[: len(stages)], rest[len(stages) :]
        tiles = (column(e, a), column(e, b)) if flat else (a, b)
        _normalise(e, plan, tiles, column(e, x) if flat else x, pools, spare, form)
        _affine(e, work, (plan.inner(b), plan.inner(a)), given, form, spare[-1])

    tile = plan.tile(F32)
    scratch = (tile, tile, *stages, statistic, statistic)
    return ElementWise(compute, (*scratch, narrow(tile)) if widens else scratch)


def _narrow(shape: RowShape, form: Form, dtype: DType, chip: Chip) -> ElementWise:
    layer_norm, rms_norm, scratch_of = _NARROW[dtype]
    normed = layer_norm if form.centred else rms_norm

    def compute(e: Emitter, work: Work) -> None:
        x, *given = work.operands
        steps = list(zip(form.steps, given, strict=False))
        out, rows = rows_of(work.out, chip), rows_of(x, chip)
        normed(e, out, rows, work.scratch, form.epsilon, steps)

    return ElementWise(compute, scratch_of(chip, shape))


def _normalise(
    e: Emitter,
    plan: Rows,
    tiles: tuple[LocalTensor, LocalTensor],
    x: LocalTensor,
    pools: Sequence[LocalTensor],
    spare: Sequence[LocalTensor],
    form: Form,
) -> None:
    """(x - mean) / sqrt(variance + epsilon), into the second tile; the mean is 0 if not centred."""
    a, b = tiles
    mean = spare[0]
    x = plan.widened(e, b, x, 0.0 if form.centred else None)
    if form.centred:
        total = plan.reduce(e, x, pools)
        e.arith(Arith.MUL, mean, total, 1.0 / plan.size)
        e.arith(Arith.SUB, a, x, mean)
    else:
        e.copy(a, x)
    plan.pad(e, a, 0.0)
    e.arith(Arith.MUL, b, a, a)
    factor = _inverse_root(e, plan.reduce(e, b, pools), spare, plan.size, form.epsilon)
    e.arith(Arith.MUL, b, a, factor)


def _inverse_root(
    e: Emitter, total: LocalTensor, spare: Sequence[LocalTensor], size: int, epsilon: float
) -> LocalTensor:
    """1 / sqrt(total / size + epsilon), computed for all images of a lane together."""
    s, t = spare[:2]
    factor = s
    if total.shape[0] > 1:
        t, view = dense_statistics(e, spare[1], total.shape)
        s, factor = dense_statistics(e, spare[0], total.shape)
        e.copy(view, total)
        total = t
    e.arith(Arith.MUL, s, total, 1.0 / size)
    e.arith(Arith.ADD, t, s, epsilon)
    e.rsqrt(s, t)
    return factor


def _affine(
    e: Emitter,
    work: Work,
    tiles: tuple[LocalTensor, LocalTensor],
    given: Sequence[LocalTensor],
    form: Form,
    wide: LocalTensor,
) -> None:
    """x * weight + bias, each if given, into the result; x and spare room are the tiles."""
    x, spare = tiles
    for kind, parameter in zip(form.steps, given, strict=False):
        last = parameter is given[-1]
        target = work.out if last and work.out.dtype is F32 else spare
        e.arith(kind, target, x, _widened(e, wide, parameter))
        spare, x = x, target
    if not given or work.out.dtype is not F32:
        e.convert(work.out, x)


def _widened(e: Emitter, room: LocalTensor, parameter: LocalTensor) -> LocalTensor:
    """A parameter in f32, using the memory of a scratch tensor if it is not."""
    if parameter.dtype is F32:
        return parameter
    wide = aligned(e.chip, room.address, parameter.shape, F32)
    e.cast(wide, parameter)
    return wide
