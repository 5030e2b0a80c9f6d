"""Which ops have rows that are too long, and what takes their place."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.precision import Precision, precision_of
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.tpu import ActiveMode, PoolMode
from xdsl_tpu.passes.graph import sole_user
from xdsl_tpu.passes.lowering.context import F16
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.split_long_rows.channels import (
    ChannelNorm,
    image_of,
    normalised_channels,
    normalised_lengths,
    pays_off,
    rows_of_image,
)
from xdsl_tpu.passes.split_long_rows.norms import Norm, normalised
from xdsl_tpu.passes.split_long_rows.rows import (
    Extent,
    Rows,
    finished,
    in_f32,
    mean_of_rows,
    reduced_rows,
)
from xdsl_tpu.passes.tensors import element_bytes, element_of, shape_of

Split: TypeAlias = Callable[[Operation, Rows], SSAValue | None]
"""Builds what replaces an op with rows that are too long; None for one whose rows fit."""


def _moved(op: Operation) -> int:
    """Bytes of an element of the result and of the first operand, in two buffers each."""
    return 2 * (element_bytes(op.operands[0]) + element_bytes(op.results[0]))


def _narrow(op: Operation) -> bool:
    """Whether a short 16-bit sequence computes the op, which needs less room."""
    values = [value for value in op.operands if not is_none(value)]
    return precision_of(op) is Precision.FAST and all(
        stored_element(element_of(value)) == F16 for value in (*values, *op.results)
    )


def _reduce(op: Operation, rows: Rows) -> SSAValue | None:
    """reduce(x) -> the reduction of the reductions of parts."""
    assert isinstance(op, tpu.ReduceOp)
    shape = shape_of(op.input)
    axes = sorted(axis % len(shape) for axis in ints(op.axes))
    first, last = axes[0], axes[-1] + 1
    if axes != list(range(first, last)):
        return None
    extent = (math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:]))
    if rows.fits((2 * element_bytes(op.input) + 9) * extent[1]):
        return None
    do, mode = Steps(op, rows.ctx), op.mode.data
    x = in_f32(do, "x", op.input, extent)
    if mode == "ReduceMean":
        return finished(do, mean_of_rows(rows, do, "mean", x, extent))
    return finished(do, reduced_rows(rows, do, "part", x, extent, mode))


def _pool(op: Operation, rows: Rows) -> SSAValue | None:
    """pool(x) of one window, the whole image -> a reduction of its rows, then of those."""
    assert isinstance(op, tpu.Pool1DOp | tpu.Pool2DOp)
    shape = shape_of(op.input)
    size = math.prod(shape[2:])
    whole = ints(op.kernel_shape) == shape[2:] and not any(ints(op.pads))
    if not whole or bool(op.is_adaptive.value.data) or bool(op.do_relu.value.data):
        return None
    if rows.fits(2 * element_bytes(op.input) * size):
        return None
    extent = (shape[0] * shape[1], size, 1)
    do = Steps(op, rows.ctx)
    x = in_f32(do, "x", op.input, extent)
    if op.pool_mode.data is PoolMode.Avg:
        return finished(do, mean_of_rows(rows, do, "mean", x, extent))
    return finished(do, reduced_rows(rows, do, "part", x, extent, "ReduceMax"))


def _softmax(op: Operation, rows: Rows) -> SSAValue | None:
    """softmax(x) -> e / sum(e) with e = exp(beta * (x - max(x))), in f32."""
    assert isinstance(op, tpu.SoftmaxOp)
    shape, beta = shape_of(op.input), op.beta.value.data
    axis = op.axis.value.data % len(shape)
    extent: Extent = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    room = 9 if extent[2] == 1 and beta > 0 and _narrow(op) else 13
    if bool(op.log.value.data) or rows.fits((_moved(op) + room) * extent[1]):
        return None
    do = Steps(op, rows.ctx)
    x = in_f32(do, "x", op.input, extent)
    last = "ReduceMax" if beta >= 0 else "ReduceMin"
    largest = reduced_rows(rows, do, "max", x, extent, last)
    below = do.step("below", tpu.SubOp, [x, largest], extent)
    if beta != 1.0:
        below = do.step("scaled", tpu.MulConstOp, [below], extent, const_val=beta)
    power = do.step("exp", tpu.ActiveOp, [below], extent, mode=ActiveMode.EXP)
    total = reduced_rows(rows, do, "sum", power, extent, "ReduceSum")
    inverse = do.step("inverse", tpu.ReciprocalOp, [total], shape_of(total), const_val=1.0)
    return finished(do, do.step("share", tpu.MulOp, [power, inverse], extent))


def _norm(op: Operation, rows: Rows, norm: Norm, given: Sequence[SSAValue]) -> SSAValue | None:
    """A normalisation whose statistics are those of `norm.extent`."""
    return normalised(op, rows, norm) if _is_long(op, rows, norm, given) else None


def _is_long(op: Operation, rows: Rows, norm: Norm, given: Sequence[SSAValue]) -> bool:
    """Whether no lane has room for the row of a normalisation."""
    present = [element_bytes(value) for value in given if not is_none(value)]
    widened = not norm.along_row or any(size < 4 for size in present)
    per_channel = 2 * sum(present) + (4 if widened else 0)
    if norm.along_row and isinstance(op, tpu.LayerNormOp) and _narrow(op):
        needed = (_moved(op) + 2 * sum(present) + 6) * norm.extent[1]
    else:
        channels = norm.extent[1] if norm.along_row else norm.channels_of_row
        needed = (_moved(op) + 9) * norm.extent[1] + per_channel * channels
    return not rows.fits(needed)


def _group_norm(op: Operation, rows: Rows) -> SSAValue | None:
    """A group is a row; weight and bias belong to channels."""
    assert isinstance(op, tpu.GroupNormOp | tpu.InstanceNormOp)
    n, c, *rest = shape_of(op.input)
    groups = op.num_groups.value.data if isinstance(op, tpu.GroupNormOp) else c
    positions = math.prod(rest)
    extent = (n * groups, c // groups * positions, 1)
    affine = ((n, c, positions), (1, c, 1))
    norm = Norm(extent, op.eps.value.data, op.weight, op.bias, affine, c // groups)
    image = image_of(shape_of(op.input), rows)
    is_long = _is_long(op, rows, norm, (op.weight, op.bias))
    if image is None and is_long:
        return normalised(op, rows, norm)
    # A channel of one line is in a lane as it stands: rows made of it fit no slices of neighbours.
    if image is None or (groups == c and len(rest) == 1 and not is_long):
        return None
    if not (is_long or pays_off(image, groups, element_bytes(op.input), rows.chip)):
        return None
    by_channel = ChannelNorm(op.input, image, groups, norm.epsilon, norm.weight, op.bias)
    do = Steps(op, rows.ctx)
    return finished(do, normalised_channels(do, by_channel))


def _layer_norm(op: Operation, rows: Rows) -> SSAValue | None:
    """A row are all dimensions from the axis on; it has weight and bias for each element."""
    assert isinstance(op, tpu.LayerNormOp)
    shape = shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    outer, size = math.prod(shape[:axis]), math.prod(shape[axis:])
    affine = ((outer, size), (1, size))
    norm = Norm((outer, size, 1), op.eps.value.data, op.weight, op.bias, affine, size, True)
    return _norm(op, rows, norm, (op.weight, op.bias))


def _rms_norm(op: Operation, rows: Rows) -> SSAValue | None:
    """A row is the last dimension; no mean is taken off."""
    assert isinstance(op, tpu.RMSNormOp)
    shape = shape_of(op.input)
    outer, size = math.prod(shape[:-1]), shape[-1]
    affine = ((outer, size), (1, size))
    norm = Norm(
        (outer, size, 1), op.eps.value.data, op.gamma, None, affine, size, True, centred=False
    )
    image = rows_of_image(op.input, outer, size, rows)
    if image is None or not _is_long(op, rows, norm, (op.gamma,)):
        return _norm(op, rows, norm, (op.gamma,))
    factor = _factor_behind(op)
    do = Steps(op, rows.ctx)
    return finished(do, normalised_lengths(do, image, norm.epsilon, factor, op.gamma))


def _factor_behind(op: tpu.RMSNormOp) -> float:
    """What a MulConst, the op's only user, multiplies by; the op takes its name and place."""
    scaled = sole_user(op.output, tpu.MulConstOp)
    if scaled is None or bool(scaled.do_relu.value.data) or scaled.output.type != op.output.type:
        return 1.0
    factor = scaled.const_val.value.data
    op.location = scaled.location
    scaled.output.replace_all_uses_with(op.output)
    scaled.detach()
    scaled.erase()
    return factor


SPLITS: dict[type[Operation], Split] = {
    tpu.GroupNormOp: _group_norm,
    tpu.InstanceNormOp: _group_norm,
    tpu.LayerNormOp: _layer_norm,
    tpu.Pool1DOp: _pool,
    tpu.Pool2DOp: _pool,
    tpu.ReduceOp: _reduce,
    tpu.RMSNormOp: _rms_norm,
    tpu.SoftmaxOp: _softmax,
}
