"""Rows over their length: RMSNorm, whoever spelled it out."""

from dataclasses import dataclass
from math import prod, sqrt

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import has_relu, unit_coefficients
from xdsl_tpu.passes.constants import is_f32_weight, reshaped_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_like,
    none_for,
    producer,
    rebuilt,
    sole_producer,
    without_range,
)
from xdsl_tpu.passes.tensors import shape_of

_SHORT = 1e-6
"""Rows up to about this length may come out longer than a guard against 0 would make them: the
numbers in them are below what f16 tells from each other."""

_UNBOUNDED = 1e30


@dataclass(frozen=True, slots=True)
class _Length:
    """sqrt(mean(x * x) + eps) of each row, times the square root of `size` if it was a sum."""

    x: SSAValue
    eps: float
    size: int = 1


class DivToRMSNorm(RewritePattern):
    """Div(x, Clip(Reduce(x) {ReduceL2})) -> MulConst(RMSNorm(x), 1 / sqrt(n)).

        Reduce {ReduceL2, axes = [3], keepdims}  64x3x64x1
        Clip   {min = 1e-12}                                         RMSNorm   64x3x64x32
        Tile   {tile = [1, 1, 1, 32]}            64x3x64x32   ->     MulConst  64x3x64x32
        Div                                      64x3x64x32

    The length may be ReduceL2, or Sqrt of the ReduceSum or ReduceMean of x * x, with a number
    added to it; it may be kept from 0 by Clip, MaxConst or AddConst, and be repeated by a Tile. A
    product with Reciprocal or Rsqrt is a division, too. With ReduceMean there is no MulConst.
    The length is that of the last dimension, and has no other use.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.DivOp | top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op) or not has_shapes(*op.inputs, op.output):
            return
        if isinstance(op, top.DivOp):
            if op.is_reverse.value.data:
                return
            found = [(op.inputs[0], _guarded(_untiled(op.inputs[1])))]
        else:
            one, other = op.inputs
            found = [(one, _inverse(other)), (other, _inverse(one))]
        for x, length in found:
            if length is not None and length.x is x and is_like(x, op.output):
                _replace(op, length, rewriter)
                return


class MulIntoRMSNorm(RewritePattern):
    """Mul(RMSNorm(x), W: 96) -> RMSNorm(x, W), when W has one element for each of a row."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op) or not has_shapes(*op.inputs):
            return
        for value, weight in (op.inputs, reversed(op.inputs)):
            norm = sole_producer(value, top.RMSNormOp)
            if norm is None or not is_none(norm.gamma) or not is_f32_weight(weight):
                continue
            size = shape_of(value)[-1:]
            if prod(shape_of(weight)) != size[0] or shape_of(weight)[-1:] != size:
                continue
            if not is_like(value, op.output):
                continue
            gamma, made = weight, list[top.WeightOp]()
            if shape_of(weight) != size:
                assert isinstance(weight.owner, top.WeightOp)
                made = [reshaped_weight(weight.owner, size)]
                gamma = made[0].output
            scaled = rebuilt(
                norm,
                operands=(norm.input, gamma),
                result_types=op.result_types,
                location=op.location,
            )
            rewriter.replace(op, [*made, scaled])
            return


class CenteredRows(RewritePattern):
    """RMSNorm(Sub(x, Reduce(x) {ReduceMean})) -> LayerNorm(x).

        Reduce   {ReduceMean, axes = [2]}  1x196x1
        Sub                                1x196x256    ->    LayerNorm  1x196x256
        RMSNorm                            1x196x256

    So a LayerNorm is written out with a variance (`x.var(-1)`). A factor of each column is its
    weight.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.RMSNormOp, rewriter: PatternRewriter) -> None:
        centered = producer(op.input, top.SubOp)
        if centered is None or has_relu(centered) or not unit_coefficients(centered):
            return
        if len(centered.inputs) != 2 or bool(centered.is_reverse.value.data):
            return
        x, mean = centered.inputs
        total = producer(_untiled(mean), top.ReduceOp)
        if total is None or total.input is not x or total.mode.data != "ReduceMean":
            return
        if not _is_of_rows(total) or not has_shapes(op.output) or not is_like(x, op.output):
            return
        norm = top.LayerNormOp.make(
            op.location,
            (x, op.gamma, none_for(op, rewriter)),
            result_types=[op.output.type],
            axis=len(shape_of(x)) - 1,
            eps=op.eps,
            normalized_shape=[shape_of(x)[-1]],
        )
        rewriter.replace(op, norm)


def _replace(op: top.DivOp | top.MulOp, length: _Length, rewriter: PatternRewriter) -> None:
    scaled = length.size != 1
    norm = top.RMSNormOp.make(
        derived_name(op, "_rms") if scaled else op.location,
        (length.x, none_for(op, rewriter)),
        result_types=[without_range(op.output) if scaled else op.output.type],
        eps=length.eps,
    )
    made: list[Operation] = [norm]
    if scaled:
        made.append(
            top.MulConstOp.make(
                op.location,
                (norm.output,),
                result_types=[op.output.type],
                const_val=1 / sqrt(length.size),
            )
        )
    rewriter.replace(op, made)


def _inverse(value: SSAValue) -> _Length | None:
    """What `value` is 1 over."""
    value = _untiled(value)
    if (rsqrt := sole_producer(value, top.RsqrtOp)) is not None:
        return _mean(rsqrt.input)
    inverse = sole_producer(value, top.ReciprocalOp)
    if inverse is None or has_relu(inverse) or inverse.const_val.value.data != 1:
        return None
    return _guarded(_untiled(inverse.input))


def _untiled(value: SSAValue) -> SSAValue:
    """In front of a Tile along the last dimension alone."""
    tile = sole_producer(value, top.TileOp)
    if tile is None or tile.tile is None or any(count != 1 for count in ints(tile.tile)[:-1]):
        return value
    return tile.input


def _guarded(value: SSAValue) -> _Length | None:
    """A length that may be kept from 0 by a small number."""
    for kind in (top.ClipOp, top.MaxConstOp, top.AddConstOp):
        guard = sole_producer(value, kind)
        if guard is not None:
            number = _number(guard)
            found = _length(guard.operands[0])
            if number is None or found is None or found.eps:
                return None
            return _Length(found.x, number * number / found.size, found.size)
    return _length(value)


def _number(guard: top.ClipOp | top.MaxConstOp | top.AddConstOp) -> float | None:
    """The small number of a guard."""
    if isinstance(guard, top.ClipOp):
        least = guard.min.value.data if guard.max.value.data > _UNBOUNDED else -1.0
    else:
        relu = isinstance(guard, top.AddConstOp) and has_relu(guard)
        least = -1.0 if relu else guard.const_val.value.data
    return least if 0 < least <= _SHORT else None


def _length(value: SSAValue) -> _Length | None:
    norm = sole_producer(value, top.ReduceOp)
    if norm is not None:
        if norm.mode.data != "ReduceL2" or not _is_of_rows(norm):
            return None
        return _Length(norm.input, 0.0, shape_of(norm.input)[-1])
    root = sole_producer(value, top.SqrtOp)
    return None if root is None else _mean(root.input)


def _mean(value: SSAValue) -> _Length | None:
    """The sum or mean of squares, and what is added to it."""
    added, epsilon = sole_producer(value, top.AddConstOp), 0.0
    if added is not None:
        if has_relu(added) or added.const_val.value.data < 0:
            return None
        value, epsilon = added.input, added.const_val.value.data
    total = sole_producer(value, top.ReduceOp)
    if total is None or total.mode.data not in ("ReduceSum", "ReduceMean"):
        return None
    square = sole_producer(total.input, top.MulOp)
    if square is None or has_relu(square) or not _is_of_rows(total):
        return None
    if len(square.inputs) != 2 or square.inputs[0] is not square.inputs[1]:
        return None
    size = shape_of(square.inputs[0])[-1] if total.mode.data == "ReduceSum" else 1
    return _Length(square.inputs[0], epsilon / size, size)


def _is_of_rows(op: top.ReduceOp) -> bool:
    """Whether a Reduce is over the last dimension, which stays as a 1."""
    if not has_shapes(op.input) or not op.keepdims.value.data:
        return False
    rank = len(shape_of(op.input))
    return rank > 1 and [axis % rank for axis in ints(op.axes)] == [rank - 1]
