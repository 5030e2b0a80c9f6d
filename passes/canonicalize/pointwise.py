"""Products over the channels of resized images: done where the images are small."""

from itertools import accumulate
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, F64, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_PRODUCTS_PER_ELEMENT = 32
"""Multiply-accumulates in the time that an element takes to be resized."""

_SMALLEST_GROWTH = 2
"""Pixels of a resized image per old pixel from which on it counts as larger."""


class PointwiseBeforeResize(RewritePattern):
    """Conv(Interp(x), W: 1x1) -> Interp(Conv(x, W)) where x is smaller.

        Interp  1x256x16x16 -> 1x256x128x128           Conv    1x64x16x16 {kernel = [1, 1]}
        Conv    1x64x128x128 {kernel = [1, 1]}    ->   Interp  1x64x128x128

    The weights of a resized pixel add up to 1, so that the bias goes along. A relu stays behind
    unless pixels are only repeated.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not _is_pointwise(op):
            return
        resize = _enlarged(op.input)
        if resize is None or not _gains(op, op.input):
            return
        small, target = shape_of(resize.operands[0]), shape_of(op.output)
        exact = isinstance(resize, top.UpsampleOp)
        keeps_relu = exact or not has_relu(op)
        conv = rebuilt(
            op,
            operands=(resize.operands[0], *op.operands[1:]),
            result_types=[tensor_like(op.output, (*target[:2], *small[2:]))],
            location=name_loc(derived_name(op, "_before_resize")),
        )
        if not keeps_relu:
            _without_relu(conv)
        name = op.location if keeps_relu else name_loc(derived_name(op, "_resized"))
        larger = rebuilt(
            resize,
            operands=(conv.output, *resize.operands[1:]),
            result_types=[op.output.type],
            location=name,
        )
        made: list[Operation] = [conv, larger]
        if not keeps_relu:
            made.append(
                top.ReluOp.make(
                    op.location,
                    (larger.results[0],),
                    result_types=[op.output.type],
                    relu_limit=op.relu_limit,
                )
            )
        rewriter.replace(op, made)


class PointwiseOfConcat(RewritePattern):
    """Conv(Concat(Interp(x), y, z), W: 1x1) -> Add(Conv(Interp(x), W0), Conv(Concat(y, z), W1)).

        Concat  1x256x64x64, 1x256x64x64              Conv  1x256x64x64 (of the first)
        Conv    1x256x64x64 {kernel = [1, 1]}    ->   Conv  1x256x64x64 (of the second)
                                                      Add   1x256x64x64

    What is resized, and products that another can be merged with, stand by themselves.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not _is_pointwise(op):
            return
        concat = sole_producer(op.input, top.ConcatOp)
        filters = values_of(op.filter)
        if concat is None or filters is None or has_relu(concat):
            return
        if concat.axis.value.data % 4 != 1 or not has_shapes(*concat.inputs):
            return
        if not any(_enlarged(v) is not None and _gains(op, v) for v in concat.inputs):
            return
        starts = [0, *accumulate(shape_of(value)[1] for value in concat.inputs)]
        alone = [v for v in concat.inputs if _enlarged(v) is not None or _is_linear(v)]
        parts = [[place] for place, v in enumerate(concat.inputs) if v in alone]
        if rest := [place for place, v in enumerate(concat.inputs) if v not in alone]:
            parts.insert(0, rest)
        if len(parts) < 2:
            return
        made: list[Operation] = []
        terms: list[SSAValue] = []
        none = none_for(op, rewriter)
        for number, places in enumerate(parts):
            source = concat.inputs[places[0]]
            if len(places) > 1:
                source = self._joined(op, concat, places, made)
            columns = [c for p in places for c in range(starts[p], starts[p + 1])]
            name = derived_name(op, f"_part{number}")
            weight = make_weight(op, f"{name}_filter", filters[:, columns])
            bias = op.bias if number == 0 else none
            conv = rebuilt(op, operands=(source, weight, bias), location=name_loc(name))
            _without_relu(conv)
            made += [weight, conv]
            terms.append(conv.output)
        made.append(
            top.AddOp.make(
                op.location,
                terms,
                result_types=[op.output.type],
                do_relu=op.do_relu,
                relu_limit=op.relu_limit,
            )
        )
        rewriter.replace(op, made)

    @staticmethod
    def _joined(
        op: top.ConvOp, concat: top.ConcatOp, places: list[int], made: list[Operation]
    ) -> SSAValue:
        values = [concat.inputs[place] for place in places]
        first, *rest = shape_of(values[0])
        channels = sum(shape_of(value)[1] for value in values)
        made.append(
            rebuilt(
                concat,
                operands=values,
                result_types=[tensor_like(op.input, (first, channels, *rest[1:]))],
                location=name_loc(derived_name(concat, "_rest")),
            )
        )
        return made[-1].results[0]


def _without_relu(conv: top.ConvOp) -> None:
    conv.do_relu, conv.relu_limit = BOOL.encode(False), F64.encode(-1.0)


def _is_pointwise(op: top.ConvOp) -> bool:
    """A product of the channels of each pixel of an image with a known matrix."""
    return (
        ints(op.kernel_shape) == (1, 1)
        and set(ints(op.strides)) == {1}
        and op.group.value.data == 1
        and not any(ints(op.pads))
        and not any(ints(op.inserts or ()))
        and has_shapes(op.input, op.output)
        and isinstance(op.filter.owner, top.WeightOp)
        and (is_none(op.bias) or isinstance(op.bias.owner, top.WeightOp))
    )


def _enlarged(value: SSAValue) -> top.InterpOp | top.UpsampleOp | None:
    """The op that makes a larger image for one user."""
    op = sole_producer(value, top.InterpOp) or sole_producer(value, top.UpsampleOp)
    if op is None or not has_shapes(op.input, op.output):
        return None
    if isinstance(op, top.UpsampleOp) and has_relu(op):
        return None
    source, target = shape_of(op.input), shape_of(op.output)
    is_larger = prod(target[2:]) >= _SMALLEST_GROWTH * prod(source[2:])
    return op if len(source) == 4 and is_larger else None


def _gains(conv: top.ConvOp, resized: SSAValue) -> bool:
    """Whether fewer products are worth what more channels take to be resized."""
    before, after = shape_of(resized)[1], shape_of(conv.output)[1]
    return before * after > _PRODUCTS_PER_ELEMENT * (after - before)


def _is_linear(value: SSAValue) -> bool:
    """Whether a value is a product with a matrix, which could be merged with another."""
    while True:
        conv = sole_producer(value, top.ConvOp)
        if conv is not None:
            return _is_pointwise(conv) and not has_relu(conv)
        product = sole_producer(value, top.MatMulOp)
        if product is not None:
            return isinstance(product.right.owner, top.WeightOp) and not has_relu(product)
        moved = sole_producer(value, top.ReshapeOp) or sole_producer(value, top.PermuteOp)
        if moved is None:
            return False
        value = moved.input
