"""Normalisations of long rows: mean, differences and their mean square, one after the other."""

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.context import F32
from xdsl_tpu.passes.lowering.steps import Shape, Steps
from xdsl_tpu.passes.split_long_rows.rows import (
    Extent,
    Rows,
    finished,
    in_f32,
    mean_of_rows,
    parameter,
)
from xdsl_tpu.passes.tensors import shape_of


@dataclass(frozen=True)
class Norm:
    """A normalisation of the rows of `extent`.

    `affine` are the shapes in which weight and bias meet the tensor: the tensor's, and theirs.
    They belong to `channels_of_row` places of a row; `along_row` says to all of them.
    """

    extent: Extent
    epsilon: float
    weight: SSAValue
    bias: SSAValue | None
    affine: tuple[Shape, Shape]
    channels_of_row: int
    along_row: bool = False
    centred: bool = True


def normalised(op: Operation, rows: Rows, norm: Norm) -> SSAValue:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, in f32.

    The variance is the mean square of the differences, as in the kernels.
    """
    do, extent = Steps(op, rows.ctx), norm.extent
    apart = in_f32(do, "x", op.operands[0], extent)
    if norm.centred:
        mean = mean_of_rows(rows, do, "mean", apart, extent)
        apart = do.step("apart", tpu.SubOp, [apart, mean], extent)
    square = do.step("square", tpu.MulOp, [apart, apart], extent)
    variance = mean_of_rows(rows, do, "variance", square, extent)
    one = shape_of(variance)
    positive = do.step("positive", tpu.AddConstOp, [variance], one, const_val=norm.epsilon)
    factor = do.step("factor", tpu.ActiveOp, [positive], one, mode=ActiveMode.RSQRT)
    value = do.step("normal", tpu.MulOp, [apart, factor], extent)
    return finished(do, _affine(do, value, norm))


def _affine(do: Steps, value: SSAValue, norm: Norm) -> SSAValue:
    whole, own = norm.affine
    for label, kind, given in (
        ("weighted", tpu.MulOp, norm.weight),
        ("shifted", tpu.AddOp, norm.bias),
    ):
        factor = None if given is None else parameter(do, given, own)
        if factor is not None:
            value = do.reshaped(f"{label}_rows", value, whole, F32)
            value = do.step(label, kind, [value, factor], whole)
    return value
