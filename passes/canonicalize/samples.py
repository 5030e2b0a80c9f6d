"""Sums of weighted samples of images, as deformable attention makes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_VIEWS = (top.ReshapeOp, top.SqueezeOp, top.UnsqueezeOp)


class SamplesToSums(RewritePattern):
    """Sum(Concat(samples of images) * weights) over positions -> SampledSum + SampledSum + ..

        GridSampler  8x32x40x40 at 8x300x4x2 -> 8x32x300x4    Slice       of the weights 8x300x4
        GridSampler  8x32x20x20 at 8x300x4x2 -> 8x32x300x4    SampledSum  8x32x40x40     8x300x32
        Concat       8x32x300x8                          ->   .. the same of the second image
        Mul          by 8x1x300x8                             Add                        8x300x32
        Reduce       {ReduceSum, axes = [3]} 8x32x300         Permute     [0, 2, 1]      8x32x300

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
        rows = (batch, queries, shape_of(op.input)[3])
        weights = reshape(derived_name(op, "_r_weights"), found.weights, rows)
        made: list[Operation] = [weights]
        total: SSAValue | None = None
        start = 0
        for sampler in found.samplers:
            end = start + shape_of(sampler.output)[3]
            made += _summed(sampler, weights.output, (start, end), none)
            if total is not None:
                pair = (total, made[-1].results[0])
                name = derived_name(op, f"_r_total{end}")
                made.append(top.AddOp.make(name, pair, result_types=[total.type]))
            total = made[-1].results[0]
            start = end
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
        if sampler is None or not has_shapes(sampler.output):
            return None
        if shape_of(sampler.output)[:3] != rows:
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
    sampler: top.GridSamplerOp, weights: SSAValue, bounds: tuple[int, int], none: SSAValue
) -> list[Operation]:
    """The samples of one image with their part of the weights, summed: N, queries, C."""
    batch, channels, queries, _ = shape_of(sampler.output)
    share = slice_along(derived_name(sampler, "_r_share"), weights, 2, bounds, none)
    total = top.SampledSumOp.make(
        derived_name(sampler, "_r_sum"),
        (sampler.input, sampler.grid, share.output),
        result_types=[tensor_like(sampler.output, (batch, queries, channels))],
        mode=sampler.mode,
        padding_mode=sampler.padding_mode,
        align_corners=sampler.align_corners,
    )
    return [share, total]
