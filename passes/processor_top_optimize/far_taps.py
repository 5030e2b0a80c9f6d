"""Convolutions of which most taps see the border at most places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, none_for, tensor_like
from xdsl_tpu.passes.module_state import MODE_BYTES, chip_of, float_format
from xdsl_tpu.passes.processor_top_optimize.far_conv import FLOATS
from xdsl_tpu.passes.tensors import shape_of

SHARE = 0.7
"""The share of products that are of pixels, and not of a border, up to which taps are apart."""

ROOM = 0.3
"""Of local memory, for the channels of an image that all taps read, one after the other."""


@dataclass(frozen=True)
class _Span:
    """Along one axis: `count` results from `to` on are of as many elements from `at` on."""

    to: int
    at: int
    count: int


_Tap = tuple[_Span, _Span]
"""Along rows and columns."""


class FarTaps(RewritePattern):
    """Conv(x) {dilations = [18, 18]} -> the sum of Conv(x, W[:, :, i, j]: 1x1), where each sees x.

        Conv 1x2048x33x33, 256x2048x3x3      ->    Conv   1x256x33x33, with the bias
          {dilations = [18, 18], pads = 18}        Slice  1x2048x15x15   (and 7 more)
                                                   Conv   1x256x15x15
                                                   Pad    1x256x33x33
                                                   Add

    A tap that is 18 pixels away sees the border at 18 of 33 places, and is multiplied with zeros
    there. (Atrous spatial pyramid pooling, arXiv 1706.05587.) Done where at most `SHARE` of the
    products are of pixels, in floats alone: of 8-bit integers the ranges of sums are not known. Of
    images with many channels some are read by all taps before the next ones are. Where one tap
    alone sees any pixel, as of an image of one, the others go.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.filter, op.output) or op.group.value.data != 1:
            return
        kernel, dilations = ints(op.kernel_shape), ints(op.dilations or ())
        if {len(kernel), len(dilations), len(shape_of(op.input)) - 2} != {2}:
            return
        if set(ints(op.strides)) != {1}:
            return
        mode = float_format(module_of(op)) or "F16"
        if mode not in FLOATS or any(ints(op.inserts or ())):
            return
        sizes, made = shape_of(op.input)[2:], shape_of(op.output)[2:]
        axes = zip(kernel, dilations, ints(op.pads), sizes, made, strict=False)
        rows, columns = (list(_spans(*axis)) for axis in axes)
        taps = list(product(rows, columns))
        areas = [rows.count * columns.count for rows, columns in taps]
        if max(dilations) == 1 and sum(map(bool, areas)) > 1:
            return  # all of them are read together
        filters = values_of(op.filter)
        if sum(areas) > SHARE * len(taps) * prod(made) or max(areas) < prod(made):
            return
        if filters is not None:
            part = _part(shape_of(op.input), MODE_BYTES[mode], chip_of(module_of(op)))
            builder = _Builder(op, filters, none_for(op, rewriter))
            rewriter.replace(op, builder.build(taps, part))


class _Builder:
    """The sum of what each tap makes of some channels at a time."""

    def __init__(self, op: top.ConvOp, filters: Floats, none: SSAValue) -> None:
        self.op, self.none, self.ops = op, none, list[Operation]()
        self.filters = filters.reshape(*filters.shape[:2], -1)
        self.images, self.results, *self.made = shape_of(op.output)

    def _add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def build(self, taps: Sequence[_Tap], part: int) -> list[Operation]:
        """Ops that replace the convolution, with `part` channels at a time."""
        numbers = [number for number, tap in enumerate(taps) if min(tap[0].count, tap[1].count) > 0]
        # What sees all of the image is first, and has the bias.
        numbers.sort(key=lambda number: -taps[number][0].count * taps[number][1].count)
        total: SSAValue | None = None
        for first in range(0, self.filters.shape[1], part):
            some = slice(first, min(first + part, self.filters.shape[1]))
            image = self._channels(some)
            for number in numbers:
                name = derived_name(self.op, f"_r_tap{number}_{first // part}")
                bias = self.op.bias if total is None else self.none
                kernels = self.filters[:, some, number, None, None]
                made = self._convolved(name, image, taps[number], kernels, bias)
                term = self._placed(name, taps[number], made)
                total = term if total is None else self._sum(f"{name}_sum", total, term)
        last = self.ops[-1]
        assert isinstance(last, top.AddOp | top.ConvOp)
        last.location, last.do_relu = self.op.location, self.op.do_relu
        last.relu_limit = self.op.relu_limit
        return self.ops

    def _sum(self, name: str, total: SSAValue, term: SSAValue) -> SSAValue:
        kind = [self.op.output.type]
        return self._add(top.AddOp.make(name, (total, term), result_types=kind))

    def _sliced(self, name: str, value: SSAValue, starts: Shape, sizes: Shape) -> SSAValue:
        if sizes == shape_of(value):
            return value
        read = top.SliceOp.make(
            name,
            (value, self.none, self.none, self.none),
            result_types=[tensor_like(value, sizes)],
            offset=[*starts],
            ends=[start + size for start, size in zip(starts, sizes, strict=True)],
            steps=[1] * len(sizes),
            hasparamConvert_axes=[1, 2, 3],
        )
        return self._add(read)

    def _channels(self, some: slice) -> SSAValue:
        images, _, *pixels = shape_of(self.op.input)
        name = derived_name(self.op, f"_r_channels{some.start}")
        sizes = (images, some.stop - some.start, *pixels)
        return self._sliced(name, self.op.input, (0, some.start, 0, 0), sizes)

    def _convolved(
        self, name: str, image: SSAValue, tap: _Tap, kernels: Floats, bias: SSAValue
    ) -> SSAValue:
        """What a tap makes of the pixels that it sees."""
        rows, columns = tap
        seen = (*shape_of(image)[:2], rows.count, columns.count)
        value = self._sliced(f"{name}_seen", image, (0, 0, rows.at, columns.at), seen)
        conv = top.ConvOp.make(
            name,
            (value, self._add(make_weight(self.op, f"{name}_filter", kernels)), bias),
            result_types=[tensor_like(self.op.output, (seen[0], self.results, *seen[2:]))],
            kernel_shape=(1, 1),
            strides=(1, 1),
            pads=(0, 0, 0, 0),
        )
        return self._add(conv)

    def _placed(self, name: str, tap: _Tap, value: SSAValue) -> SSAValue:
        """Where its results belong, between zeros."""
        rows, columns = tap
        if [rows.count, columns.count] == self.made:
            return value
        behind = (
            self.made[0] - rows.to - rows.count,
            self.made[1] - columns.to - columns.count,
        )
        padded = top.PadOp.make(
            f"{name}_placed",
            (value, self.none),
            result_types=[self.op.output.type],
            paddings=[0, 0, rows.to, columns.to, 0, 0, *behind],
            mode="constant",
        )
        return self._add(padded)


def _part(shape: Shape, width: int, chip: Chip) -> int:
    """Channels of an image that take `ROOM` of local memory, all if they do not."""
    groups = int(ROOM * chip.local_bytes / (prod(shape[2:]) * width))
    return min(shape[1], max(1, groups) * chip.lanes)


def _spans(kernel: int, dilation: int, before: int, size: int, made: int) -> Iterator[_Span]:
    """What each tap along an axis sees of the image."""
    for tap in range(kernel):
        shift = tap * dilation - before
        to = max(0, -shift)
        yield _Span(to, to + shift, max(0, min(made, size - shift) - to))
