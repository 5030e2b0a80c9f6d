"""Filters that are constant but for factors of their channels, as style vectors give them.

Such a filter is made anew in each run, and brought into the layout of the matrix unit then. Its
factors may as well stand in front of the convolution and behind it, and the lengths by which it is
divided are a product with a constant matrix. (StyleGAN2, arXiv 1912.04958, section 2.2, which has
it the other way round.)
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_INT, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.constants import (
    Floats,
    is_known,
    known_values,
    make_weight,
    whole_numbers_of,
)
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import axis_behind_view, is_weight, shape_of

_OUT, _IN = 0, 1
"""Axes of a filter: output channels, input channels."""


class FactorsOfFilter(RewritePattern):
    """Conv(x, W * s * d) -> Conv(x * s, W) * d, s for each input channel and d for each output one.

        Mul   W: 1x64x128x3x3, s: 1x1x128x1x1        Mul   x: 1x128x8x8, s: 1x128x1x1
        Mul   1x64x128x3x3, d: 1x64x1x1x1       ->   Conv  1x128x8x8, W: 64x128x3x3
        Conv  x: 1x128x8x8, 64x128x3x3               Mul   1x64x8x8, d: 1x64x1x1

    Between the factors and the convolution the filter may be permuted, or turned round by Gathers.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if op.group.value.data != 1 or is_weight(op.filter) or not has_shapes(op.input, op.output):
            return
        found = _modulated(op.filter)
        if found is None or not {axis for _, axis in found.factors} <= {_OUT, _IN}:
            return
        value, made = op.input, list[Operation]()
        for index, factor in enumerate(found.along(_IN)):
            made += _times(value, factor, derived_name(op, f"_r_in{index}"))
            value = made[-1].results[0]
        weight = make_weight(op, derived_name(op, "_r_filter"), found.values)
        conv = rebuilt(op, operands=(value, weight.output, op.bias))
        conv.weight_is_coeff = I64_INT.encode(1)
        made += [weight, conv]
        if behind := found.along(_OUT):
            none = none_for(op, rewriter)
            made += _behind(op, conv, behind, none)
        rewriter.replace(op, made)


class LengthsOfFilter(RewritePattern):
    """Reduce((W * s) * (W * s)) -> MatMul(s * s, Q), Q being the sums of the squares of W.

        Mul     W: 1x64x128x3x3, s: 1x1x128x1x1        Mul      s, s: 1x128
        Mul     1x64x128x3x3, by itself           ->   MatMul   1x128, Q: 128x64
        Reduce  sum: 1x64x1x1x1                        Reshape  1x64x1x1x1

    The sum is over all axes but one, on which s does not depend.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        square = op.input.owner
        if op.mode.data != "ReduceSum" or not has_shapes(op.input, op.output):
            return
        if not isinstance(square, top.MulOp) or has_relu(square) or len(square.inputs) != 2:
            return
        if square.inputs[0] is not square.inputs[1]:
            return
        shape = shape_of(op.input)
        over = {axis % len(shape) for axis in ints(op.axes)}
        kept = [axis for axis, size in enumerate(shape) if size > 1 and axis not in over]
        found = _modulated(square.inputs[0])
        if found is None or len(kept) != 1 or len(found.factors) != 1:
            return
        ((factor, along),) = found.factors
        if along == kept[0]:
            return
        rest = tuple(axis for axis in range(len(shape)) if axis not in (along, kept[0]))
        sums = np.square(found.values, dtype=np.float64).sum(rest)
        matrix = make_weight(
            op, derived_name(op, "_r_squares"), sums if along < kept[0] else sums.T
        )
        row = reshape(derived_name(op, "_r_row"), factor, (1, shape[along]))
        squares = top.MulOp.make(
            derived_name(op, "_r_square"), (row.output, row.output), result_types=[row.output.type]
        )
        product = top.MatMulOp.make(
            derived_name(op, "_r_sums"),
            (squares.output, matrix.output, none_for(op, rewriter)),
            result_types=[tensor_like(op.output, (1, shape[kept[0]]))],
        )
        back = reshape(op.location, product.output, shape_of(op.output))
        rewriter.replace(op, [matrix, row, squares, product, back])


@dataclass(frozen=True)
class _Modulated:
    """Numbers that are known, times factors that each belong to one axis of theirs."""

    values: Floats
    factors: Sequence[tuple[SSAValue, int]]

    def along(self, axis: int) -> list[SSAValue]:
        """The factors that belong to an axis."""
        return [factor for factor, own in self.factors if own == axis]


def _modulated(value: SSAValue) -> _Modulated | None:
    """How a value is made of a weight and factors, if there are any."""
    axes: list[int | None] = list(range(len(shape_of(value))))  # where those of the value are
    later: list[Callable[[Floats], Floats]] = []
    factors: list[tuple[SSAValue, int]] = []
    while not is_known(value):
        step = _step(value, axes)
        if step is None:
            return None
        value, axes, change, factor = step
        if change is not None:
            later.append(change)
        if factor is not None:
            factors.append(factor)
    if not factors:
        return None
    values = known_values(value)
    for change in reversed(later):
        values = change(values)
    return _Modulated(values, factors)


_Axes = list[int | None]
_Step = tuple[SSAValue, _Axes, Callable[[Floats], Floats] | None, tuple[SSAValue, int] | None]
"""What a value is made of, where axes are there; what makes it of that, or the factor."""


def _step(value: SSAValue, axes: _Axes) -> _Step | None:
    op = value.owner
    if not isinstance(op, Operation) or not has_shapes(value, *op.operands[:1]):
        return None
    match op:
        case top.ReshapeOp() | top.SqueezeOp() | top.UnsqueezeOp():
            before, after = shape_of(op.operands[0]), shape_of(value)
            moved = [
                None if axis is None or after[axis] == 1 else axis_behind_view(axis, after, before)
                for axis in axes
            ]
            return op.operands[0], moved, lambda array: array.reshape(after), None
        case top.PermuteOp():
            order = ints(op.order)
            moved = [None if axis is None else order[axis] for axis in axes]
            return op.input, moved, lambda array: array.transpose(order), None
        case top.GatherOp():
            places = whole_numbers_of(op.indices)
            own = op.axis.value.data % len(shape_of(op.input))
            if places is None or places.ndim != 1 or not op.keepdims.value.data:
                return None
            moved = [None if axis == own else axis for axis in axes]
            return op.input, moved, lambda array: array.take(places, own), None
        case top.MulConstOp() if not has_relu(op):
            return op.input, axes, lambda array: array * op.const_val.value.data, None
        case top.MulOp() if not has_relu(op) and len(op.inputs) == 2:
            return _product(op, axes)
        case _:
            return None


def _product(op: top.MulOp, axes: _Axes) -> _Step | None:
    shape = shape_of(op.output)
    for wide, factor in (op.inputs, reversed(op.inputs)):
        if not has_shapes(wide, factor) or shape_of(wide) != shape:
            continue
        own = [1] * (len(shape) - len(shape_of(factor))) + [*shape_of(factor)]
        along = [axis for axis, size in enumerate(own) if size > 1]
        if len(along) == 1 and along[0] in axes:
            return wide, axes, None, (factor, axes.index(along[0]))
    return None


def _times(value: SSAValue, factor: SSAValue, name: str) -> Iterator[Operation]:
    """A value times a factor of each of its channels."""
    shape = shape_of(value)
    flat = reshape(f"{name}_of_channels", factor, (1, shape[1], *(1 for _ in shape[2:])))
    yield flat
    yield top.MulOp.make(name, (value, flat.output), result_types=[tensor_like(value, shape)])


def _behind(
    op: top.ConvOp, conv: top.ConvOp, factors: Sequence[SSAValue], none: SSAValue
) -> Iterator[Operation]:
    """The factors of output channels, and bias and relu of `op`, which `conv` then has not."""
    conv.location = name_loc(derived_name(op, "_r_plain"))
    conv.do_relu = BOOL.encode(False)
    conv.operands[2] = none
    value, last = conv.output, conv
    for index, factor in enumerate(factors):
        flat, last = _times(value, factor, derived_name(op, f"_r_out{index}"))
        yield flat
        if factor is not factors[-1]:
            yield last
        value = last.results[0]
    if not is_none(op.bias):
        yield last
        shape = shape_of(op.output)
        flat = reshape(derived_name(op, "_r_bias"), op.bias, (1, shape[1], *(1 for _ in shape[2:])))
        yield flat
        last = top.AddOp.make(op.location, (value, flat.output), result_types=[op.output.type])
    assert isinstance(last, FusedReluOp)
    last.location, last.do_relu, last.relu_limit = op.location, op.do_relu, op.relu_limit
    yield last
