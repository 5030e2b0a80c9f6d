"""Depthwise convolutions over three dimensions, by those over two that have a command."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import prod

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import Window, windows
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.padding import pads_of
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class DepthwiseVolume(RewritePattern):
    """Depthwise Conv(x: NxCxDxHxW) {d x k x l} -> sums of depthwise Convs of images {k x l}.

        Conv  1x54x8x32x32,         ->   Reshape, Permute, Reshape   8x54x32x32
              54x1x3x3x3, pads 1         Slice, Conv 54x1x3x3        1, 6 and 1 planes of them
                                         2, 3 and 2 times, and Add
                                         Concat                      8x54x32x32
                                         Reshape, Permute, Reshape   1x54x8x32x32

        Conv  1x24x8x32x32,         ->   Reshape                     1x24x8x1024
              24x1x5x1x1                 Conv 24x1x5x1
                                         Reshape                     1x24x8x32x32

    A depthwise convolution of images has a command of its own. Otherwise planes that a filter looks
    at together become channels of one image (`passes/lowering/conv.py`): they are copied as often
    as there are taps, and the matrix unit multiplies the few channels of one group at a time.

    Volumes that are a batch only as they are seen, such as those of attention heads, are channels
    beside each other. What a tap adds has no range in 8 bits, and is floats.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if (filters := depthwise_volume(op)) is None:
            return
        heads = _heads(op)
        if heads > 1:
            rewriter.replace(op, _as_channels(op, filters, heads))
            return
        volume = _Volume(op, filters)
        if volume.along == [Window(1)] * 2:
            rewriter.replace(op, volume.lines())
        elif all(volume.seen()):
            rewriter.replace(op, volume.images(none_for(op, rewriter)))


def depthwise_volume(op: top.ConvOp) -> Floats | None:
    """The filters of a convolution of volumes that has one for each channel; None of others."""
    if not has_shapes(op.input, op.filter, op.output) or len(shape_of(op.input)) != 5:
        return None
    channels = shape_of(op.input)[1]
    if channels == 1 or not op.group.value.data == channels == shape_of(op.output)[1]:
        return None
    return None if any(ints(op.inserts or ())) else values_of(op.filter)


def _heads(op: top.ConvOp) -> int:
    """Volumes beside each other that are seen as a batch, such as those of attention heads."""
    seen = op.input.owner
    if not isinstance(seen, top.ReshapeOp) or not has_shapes(seen.input):
        return 1
    count = shape_of(op.input)[0]
    is_known = is_none(op.bias) or values_of(op.bias) is not None
    return count if shape_of(seen.input)[0] != count and is_known else 1


def _as_channels(op: top.ConvOp, filters: Floats, heads: int) -> list[Operation]:
    """The channels of all heads beside each other, each with the filter of its own."""
    shapes = [shape_of(value) for value in (op.input, op.output)]
    x, y = ((1, heads * c, *volume) for _, c, *volume in shapes)
    seen = reshape(derived_name(op, "_r_heads"), op.input, x)
    made: list[Operation] = [seen]

    def repeated(label: str, values: Floats) -> SSAValue:
        times = (heads, *(1 for _ in values.shape[1:]))
        weight = make_weight(op, derived_name(op, f"_r_{label}"), np.tile(values, times))
        made.append(weight)
        return weight.output

    bias = op.bias if (known := values_of(op.bias)) is None else repeated("biases", known)
    conv = rebuilt(
        op,
        operands=(seen.output, repeated("filters", filters), bias, *op.operands[3:]),
        result_types=[tensor_like(op.output, y)],
        location=name_loc(derived_name(op, "_r_of_heads")),
    )
    conv.group = IntegerAttr(heads * shape_of(op.input)[1], conv.group.type)
    apart = top.ReshapeOp.make(op.location, (conv.output,), result_types=op.result_types)
    return [*made, conv, apart]


@dataclass
class _Volume:
    """The ops that replace `op`, as they are made."""

    op: top.ConvOp
    filters: Floats
    made: list[Operation] = field(default_factory=list[Operation])

    @property
    def depth(self) -> Window:
        """How the filter slides from plane to plane."""
        return self._windows()[0]

    @property
    def along(self) -> list[Window]:
        """How it slides within planes."""
        return self._windows()[1:]

    def _windows(self) -> list[Window]:
        kernel, strides = ints(self.op.kernel_shape), ints(self.op.strides)
        dilations = ints(self.op.dilations or ()) or (1,) * 3
        pads = ints(self.op.pads) or (0,) * 6
        return [*windows(shape_of(self.op.input)[2:], kernel, strides, dilations, pads)]

    def seen(self) -> list[tuple[tuple[int, int], ...]]:
        """Of each plane of the result the taps that see one, and which."""
        depth, window = shape_of(self.op.input)[2], self.depth
        starts = [
            place * window.stride - window.before for place in range(shape_of(self.op.output)[2])
        ]
        taps = [(tap, tap * window.dilation) for tap in range(window.kernel)]
        return [
            tuple((tap, start + at) for tap, at in taps if 0 <= start + at < depth)
            for start in starts
        ]

    def lines(self) -> list[Operation]:
        """Every pixel by itself: planes are the lines of one image."""
        n, c, depth, *plane = shape_of(self.op.input)
        count = shape_of(self.op.output)[2]
        x = self._shaped("lines", self.op.input, (n, c, depth, prod(plane)))
        kind = tensor_like(self.op.output, (n, c, count, prod(plane)))
        known, along = (self.filters[..., 0], self.op.bias), [self.depth, Window(1)]
        y = self._conv("convolved", x, known, along, kind, is_whole=True)
        return self._last(y)

    def images(self, none: SSAValue) -> list[Operation]:
        """Planes as images, one behind the other."""
        n, c, depth, *plane = shape_of(self.op.input)
        count, *rest = shape_of(self.op.output)[2:]
        x = self._shaped("flat", self.op.input, (n, c, depth, prod(plane)))
        x = self._turned("planes", x)
        x = self._shaped("images", x, (n * depth, c, *plane))
        parts: list[SSAValue] = []
        for image in range(n):
            start = 0
            for _, run in groupby(self.seen(), key=_taps_of):
                first, *others = run
                label = f"{image}_{start}"
                at = [(tap, image * depth + place) for tap, place in first]
                parts.append(self._sum(label, x, none, at, (1 + len(others), c, *rest)))
                start += 1 + len(others)
        y = parts[0]
        if len(parts) > 1:
            kind = tensor_like(self.op.output, (n * count, c, *rest))
            joined = top.ConcatOp.make(self._name("joined"), parts, result_types=[kind], axis=0)
            y = self._added(joined)
        y = self._shaped("positions", y, (n, count, c, prod(rest)))
        return self._last(self._turned("channels", y))

    def _sum(
        self,
        label: str,
        images: SSAValue,
        none: SSAValue,
        taps: Sequence[tuple[int, int]],
        shape: tuple[int, ...],
    ) -> SSAValue:
        """Planes of the result that see the same `taps`, each with the image that it sees first."""
        kind = tensor_like(self.op.output, shape)
        total: SSAValue | None = None
        for number, (tap, first) in enumerate(taps):
            x = self._cut(f"seen{tap}_of{label}", images, none, first, shape[0])
            name, values = f"tap{tap}_of{label}", self.filters[:, :, tap]
            is_whole = len(taps) == 1
            of = kind if is_whole else TensorType(f32, shape)
            bias = none if number else self.op.bias
            term = self._conv(name, x, (values, bias), self.along, of, is_whole)
            if total is None:
                total = term
                continue
            is_last = number == len(taps) - 1
            add = top.AddOp.make(
                self._name(f"sum{tap}_of{label}"),
                (total, term),
                result_types=[kind if is_last else TensorType(f32, shape)],
            )
            if is_last:
                add.do_relu, add.relu_limit = self.op.do_relu, self.op.relu_limit
            total = self._added(add)
        assert total is not None, "a plane that sees nothing"
        return total

    def _conv(
        self,
        label: str,
        x: SSAValue,
        known: tuple[Floats, SSAValue],
        along: Sequence[Window],
        kind: Attribute,
        is_whole: bool,
    ) -> SSAValue:
        """A convolution of images with filters and a bias; a part of the sum has no relu."""
        filters, bias = known
        weight = make_weight(self.op, self._name(f"{label}_filter"), filters.copy())
        conv = rebuilt(
            self.op,
            operands=(x, weight.output, bias, *self.op.operands[3:]),
            result_types=[kind],
            location=name_loc(self._name(label)),
        )
        conv.kernel_shape = I64_ARRAY.encode([one.kernel for one in along])
        conv.strides = I64_ARRAY.encode([one.stride for one in along])
        conv.dilations = I64_ARRAY.encode([one.dilation for one in along])
        conv.pads = I64_ARRAY.encode(pads_of(along))
        if not is_whole:
            conv.do_relu = BOOL.convert(False)
        self.made.append(weight)
        return self._added(conv)

    def _cut(
        self, label: str, images: SSAValue, none: SSAValue, first: int, count: int
    ) -> SSAValue:
        """Every stride-th image from one on."""
        shape, stride = (count, *shape_of(images)[1:]), self.depth.stride
        if shape == shape_of(images):
            return images
        some = top.SliceOp.make(
            self._name(label),
            (images, *[none] * 3),
            result_types=[tensor_like(images, shape)],
            offset=[first, 0, 0, 0],
            ends=[first + (count - 1) * stride + 1, *shape[1:]],
            steps=[stride, 1, 1, 1],
            hasparamConvert_axes=[0],
        )
        return self._added(some)

    def _turned(self, label: str, value: SSAValue) -> SSAValue:
        """Channels and planes exchanged."""
        n, a, b, rest = shape_of(value)
        kind = tensor_like(value, (n, b, a, rest))
        name, order = self._name(label), (0, 2, 1, 3)
        return self._added(top.PermuteOp.make(name, (value,), result_types=[kind], order=order))

    def _shaped(self, label: str, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        return self._added(reshape(self._name(label), value, shape))

    def _last(self, value: SSAValue) -> list[Operation]:
        """All ops, the last of which gives the result of `op`."""
        types = self.op.result_types
        self.made.append(top.ReshapeOp.make(self.op.location, (value,), result_types=types))
        return self.made

    def _added(self, op: Operation) -> SSAValue:
        self.made.append(op)
        return op.results[0]

    def _name(self, label: str) -> str:
        return derived_name(self.op, f"_r_{label}")


def _taps_of(seen: Sequence[tuple[int, int]]) -> list[int]:
    """Those of taps and planes."""
    return [tap for tap, _ in seen]
