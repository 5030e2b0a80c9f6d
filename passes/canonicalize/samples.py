"""Sums of weighted samples of images, as deformable attention makes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_VIEWS = (top.ReshapeOp, top.SqueezeOp, top.UnsqueezeOp)


class SamplesToRows(RewritePattern):
    """Sum(Concat(samples of images) * weights) over positions -> sums of rows of pixels.

        GridSampler  8x32x40x40 at 8x300x4x2 -> 8x32x300x4    GridSampler {channel_last} 8x300x4x32
        GridSampler  8x32x20x20 at 8x300x4x2 -> 8x32x300x4    Mul         by 8x300x4x1
        Concat       8x32x300x8                          ->   Reduce      {axes = [2]}   8x300x32
        Mul          by 8x1x300x8                             .. the same of the second image
        Reduce       {ReduceSum, axes = [3]} 8x32x300         Add, Permute [0, 2, 1]     8x32x300

    Samples are read a pixel with all its channels at a time: nothing is transposed but the sums,
    and no samples of several images are put together (Deformable DETR, arXiv 2010.04159, eq. 3).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        found = _weighted(op)
        if found is None:
            return
        none = none_for(op, rewriter)
        batch, channels, queries, _ = shape_of(op.input)
        made: list[Operation] = []
        total: SSAValue | None = None
        start = 0
        for sampler in found.samplers:
            points = shape_of(sampler.output)[3]
            made += _summed(sampler, found.weights, start, points, none)
            start += points
            part = made[-1].results[0]
            if total is not None:
                name = derived_name(op, f"_r_total{start}")
                made.append(top.AddOp.make(name, (total, part), result_types=[part.type]))
            total = made[-1].results[0]
        assert total is not None
        turned = tensor_like(op.output, (batch, channels, queries))
        keeps = bool(op.keepdims.value.data)
        name = derived_name(op, "_r_turned") if keeps else op.location
        made.append(top.PermuteOp.make(name, (total,), result_types=[turned], order=(0, 2, 1)))
        if keeps:
            made.append(reshape(op.location, made[-1].results[0], shape_of(op.output)))
        rewriter.replace(op, made)


@dataclass(frozen=True, slots=True)
class _Weighted:
    """Samples of several images in the order in which their positions follow each other, and
    their weights N, 1, queries, positions of all of them."""

    samplers: Sequence[top.GridSamplerOp]
    weights: SSAValue


def _weighted(op: top.ReduceOp) -> _Weighted | None:
    """What a Reduce sums, if it is samples with weights that all channels share."""
    product = sole_producer(op.input, top.MulOp)
    if product is None or op.mode.data != "ReduceSum" or has_relu(product):
        return None
    if not has_shapes(op.input, *product.inputs) or len(product.inputs) != 2:
        return None
    shape = shape_of(op.input)
    if len(shape) != 4 or ints(op.axes) not in ((3,), (-1,)):
        return None
    for samples, weights in (product.inputs, tuple(reversed(product.inputs))):
        if shape_of(samples) != shape or shape_of(weights) != (shape[0], 1, *shape[2:]):
            continue
        samplers = _samplers(samples, shape[:3])
        if samplers is not None:
            return _Weighted(samplers, weights)
    return None


def _samplers(value: SSAValue, rows: tuple[int, ...]) -> list[top.GridSamplerOp] | None:
    """The samplers whose results are put together to N, C, queries, positions."""
    value = _behind_views(value)
    concat = sole_producer(value, top.ConcatOp)
    parts: Sequence[SSAValue] = (value,)
    if concat is not None:
        if has_relu(concat) or not has_shapes(*concat.inputs):
            return None
        axis = concat.axis.value.data % len(shape_of(concat.output))
        if prod(shape_of(concat.output)[:axis]) != prod(rows):
            return None
        parts = tuple(map(_behind_views, concat.inputs))
    found: list[top.GridSamplerOp] = []
    for part in parts:
        sampler = sole_producer(part, top.GridSamplerOp)
        if sampler is None or sampler.channel_last.value.data:
            return None
        if not has_shapes(sampler.output) or shape_of(sampler.output)[:3] != rows:
            return None
        if len(shape_of(sampler.output)) != 4:
            return None
        found.append(sampler)
    return found


def _behind_views(value: SSAValue) -> SSAValue:
    """What changes of shape give a form to that nothing else reads."""
    owner = value.owner
    while isinstance(owner, _VIEWS) and value.has_one_use():
        value = owner.operands[0]
        owner = value.owner
    return value


def _summed(
    sampler: top.GridSamplerOp, weights: SSAValue, start: int, points: int, none: SSAValue
) -> list[Operation]:
    """The samples of one image, N, queries, points, C, with their weights, summed over points."""
    batch, channels, queries, _ = shape_of(sampler.output)
    kind = tensor_like(sampler.output, (batch, queries, points, channels))
    name = derived_name(sampler, "_r_rows")
    rows = rebuilt(sampler, result_types=[kind], location=name_loc(name))
    rows.channel_last = BOOL.encode(True)
    share = slice_along(
        derived_name(sampler, "_r_share"), weights, 3, (start, start + points), none
    )
    column = reshape(derived_name(sampler, "_r_column"), share.output, (batch, queries, points, 1))
    product = top.MulOp.make(
        derived_name(sampler, "_r_weighted"), (rows.output, column.output), result_types=[kind]
    )
    total = top.ReduceOp.make(
        derived_name(sampler, "_r_sum"),
        (product.output,),
        result_types=[tensor_like(sampler.output, (batch, queries, channels))],
        axes=(2,),
        keepdims=False,
        mode="ReduceSum",
    )
    return [rows, share, column, product, total]
