"""Resizing of images: rows and columns that are old ones or lie between two neighbours."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interpreters.numerics.resize import interpolate_axis, neighbours
from xdsl_tpu.passes.lowering.context import LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.matrices import product_along
from xdsl_tpu.passes.lowering.resampling import Resampling
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.tensors import is_weight, shape_of


def _interp(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """interp(x) -> Resample(x, shares); of rank 3 products with the matrices that resize the unit
    vectors.

    A constant target shape is not looked at: shape inference has turned it into scales.
    """
    assert isinstance(op, top.InterpOp)
    do, shape, target = Steps(op, ctx), shape_of(op.input), shape_of(op.output)
    if not is_none(op.target_shape) and not is_weight(op.target_shape):
        raise do.refuse("its size is not constant")
    scales = (op.scale_h.value.data, op.scale_w.value.data)[4 - len(shape) :]
    if min(scales) <= 0:
        raise do.refuse("its scales are not known")
    axes = [a for a in range(2, len(shape)) if shape[a] != target[a] or scales[a - 2] != 1]
    axes = axes or [len(shape) - 1]
    modes = op.mode.data, op.coord_mode.data
    x = ctx.as_type(op.input, ctx.element)
    if len(shape) == 4:
        pairs = {a: neighbours(shape[a], target[a], scales[a - 2], *modes) for a in axes}
        ways = {a: Resampling.between(*pair, shape[a]) for a, pair in pairs.items()}
        return [_resample(do, x, ways)]
    for axis in axes:
        unit = np.eye(shape[axis], dtype=np.float32)
        matrix = interpolate_axis(unit, 1, target[axis], scales[axis - 2], *modes)
        x = product_along(do, x, axis, matrix, ctx.element, "" if axis == axes[-1] else f"_{axis}")
    return [x]


def _resample(do: Steps, x: SSAValue, ways: dict[int, Resampling]) -> SSAValue:
    element, none = do.ctx.element, Resampling(())
    rows, columns = ways.get(2, none), ways.get(3, none)
    numbers: Array = np.array([*rows.shares, *columns.shares], np.float32)
    shares = do.ctx.none()
    if numbers.size:
        shares = do.weight("shares", numbers.reshape(1, 1, 1, -1), element)
    return do.last(
        tpu.ResampleOp,
        [x, shares],
        element,
        rows=rows.first,
        columns=columns.first,
        blend_rows=bool(rows.shares),
        blend_columns=bool(columns.shares),
    )


LOWERINGS: Lowerings = {top.InterpOp: _interp}
