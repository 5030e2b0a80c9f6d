"""Norms over channels as norms of rows."""

from math import prod

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.constants import reshaped_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    module_of,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.module_state import chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

_BYTES = {"F32": 4}
"""Of an element; of all other formats norms take 16 bits."""

BLOCK = 8
"""Values as large as an image that live at a time around its norm: the image, its rows and the
normed ones, those times a filter of twice as many channels before and after a function, a sum."""

_TO_THE_END, _TO_THE_FRONT, _EXCHANGED = (0, 2, 3, 1), (0, 3, 1, 2), (0, 3, 2, 1)


class PixelNormToRows(RewritePattern):
    """PixelNorm(x) -> Permute(LayerNorm(Permute(x) {channels last}) {axis = last}).

        %1 = "top.PixelNorm"(%0, %w, %b) : 1x32x96x96
      ->
        %r = "top.Permute"(%0) {order = [0, 2, 3, 1]} : 1x96x96x32
        %n = "top.LayerNorm"(%r, %w, %b) {axis = 3} : 1x96x96x32
        %1 = "top.Permute"(%n) {order = [0, 3, 1, 2]} : 1x32x96x96

    Channels lie over the lanes, and no unit adds numbers of different lanes: sums are of
    what one lane has. Turning them within local memory costs less than any of the ways around.
    A long signal stays, its parameters as rows (`SignalNorm`).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PixelNormOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input) or len(shape_of(op.input)) < 3:
            return
        shape = shape_of(op.input)
        rank, channels = len(shape), shape[1]
        weights = [
            None if is_none(value) else sole_producer(value, top.WeightOp)
            for value in (op.weight, op.bias)
        ]
        given = zip((op.weight, op.bias), weights, strict=True)
        if any(made is None and not is_none(value) for value, made in given):
            return
        if _is_long(op, shape):
            for weight in weights:
                if weight is not None and shape_of(weight.output) != (1, 1, channels):
                    rewriter.replace(weight, reshaped_weight(weight, (1, 1, channels)))
            return
        order, back = _orders(op, shape)
        turned = tuple(shape[axis] for axis in order)
        rows = top.PermuteOp.make(
            derived_name(op, "_r_rows"),
            (op.input,),
            result_types=[tensor_like(op.input, turned)],
            order=[*order],
        )
        for weight in weights:
            if weight is not None:
                rewriter.replace(weight, reshaped_weight(weight, (*[1] * (rank - 1), channels)))
        norm = top.LayerNormOp.make(
            derived_name(op, "_r_of_rows"),
            (rows.output, op.weight, op.bias),
            result_types=[tensor_like(op.output, turned)],
            axis=rank - 1,
            eps=op.eps,
            normalized_shape=[channels],
        )
        again = top.PermuteOp.make(
            op.location, (norm.output,), result_types=[op.output.type], order=[*back]
        )
        rewriter.replace(op, [rows, norm, again])


class SignalNorm(RewritePattern):
    """Permute(LayerNorm(Permute(x) {0, 2, 1}) {axis = 2}) {0, 2, 1} -> PixelNorm(x): long signals.

        1x512x12799 turned, normed and turned back  ->  "top.PixelNorm" : 1x512x12799

    Groups have no slices in which channels and positions change places, and local memory does not
    hold what a block of layers has of the whole. The kernel of the norm turns some positions at a
    time.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        found = _normed_rows(op, ((0, 2, 1), (0, 2, 1)))
        if found is None or not _is_long(op, shape_of(found[0].input)):
            return
        rows, norm = found
        rewriter.replace(
            op,
            top.PixelNormOp.make(
                op.location,
                (rows.input, norm.weight, norm.bias),
                result_types=[op.output.type],
                eps=norm.eps,
            ),
        )


class NormOfPixels(RewritePattern):
    """Permute(LayerNorm(Permute(x) {0, 2, 3, 1}) {axis = 3}) {0, 3, 1, 2}: both {0, 3, 2, 1}.

    Norms do not care in which order rows are. With channels and columns in each other's place,
    lines stay where they are: one command turns them, and layer groups can have them in slices.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        found = _normed_rows(op, (_TO_THE_END, _TO_THE_FRONT))
        if found is None or not _keeps_lines(op, shape := shape_of(found[0].input)):
            return
        rows, norm = found
        turned = tuple(shape[axis] for axis in _EXCHANGED)
        made = [
            rebuilt(
                one,
                result_types=[tensor_like(one.output, turned)],
                location=name_loc(derived_name(one, "_r_exchanged")),
            )
            for one in (rows, norm)
        ]
        made[1].operands[0] = made[0].results[0]
        last = rebuilt(op, operands=[made[1].results[0]])
        for one in (made[0], last):
            one.attributes["order"] = I64_ARRAY.encode(_EXCHANGED)
        rewriter.replace(op, [*made, last])


def _normed_rows(
    op: top.PermuteOp, orders: tuple[Shape, Shape]
) -> tuple[top.PermuteOp, top.LayerNormOp] | None:
    """What makes rows and norms each by itself, where `op` turns them back: `orders` are those of
    both Permutes."""
    norm = sole_producer(op.input, top.LayerNormOp)
    rows = None if norm is None else sole_producer(norm.input, top.PermuteOp)
    if norm is None or rows is None or not has_shapes(rows.input):
        return None
    rank = len(shape_of(rows.input))
    alike = (ints(rows.order), ints(op.order)) == orders and norm.axis.value.data % rank == rank - 1
    return (rows, norm) if alike else None


def _orders(op: Operation, shape: Shape) -> tuple[Shape, Shape]:
    """How an image is turned to rows of channels, and back."""
    rank = len(shape)
    if rank == 4 and _keeps_lines(op, shape):
        return _EXCHANGED, _EXCHANGED
    return (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))


def _is_long(op: Operation, shape: Shape) -> bool:
    """Whether it is a signal, of which local memory does not hold what a block of layers has."""
    return len(shape) == 3 and _fills(op, shape)


def _fills(op: Operation, shape: Shape) -> bool:
    return BLOCK * _lane_bytes(op, shape) >= chip_of(module_of(op)).local_bytes


def _lane_bytes(op: Operation, shape: Shape) -> int:
    """Bytes that a lane has of N, C, .., with channels over the lanes."""
    module = module_of(op)
    width = _BYTES.get(float_format(module) or "F16", 2)
    return shape[0] * -(-shape[1] // chip_of(module).lanes) * prod(shape[2:]) * width


def _keeps_lines(op: Operation, shape: Shape) -> bool:
    """Whether channels and columns change places, and lines of pixels stay: where columns fill the
    lanes as well as all pixels do, or local memory does not hold what a block of layers has of the
    size of an image."""
    return shape[3] % chip_of(module_of(op)).lanes == 0 or _fills(op, shape)
