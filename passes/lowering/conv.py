"""Convolutions: the filter takes the type of the mode, the bias stays f32 (the accumulator's).

The chip slides filters over two dimensions. Planes under a third dimension of a filter become
channels; a transposed convolution is one of an input with zeros between its elements.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.dilation import (
    NO_WINDOW,
    Line,
    Window,
    in_rows,
    line_of,
    padded,
    padding_of_images,
    phased,
    sliced,
    without_idle_taps,
)
from xdsl_tpu.passes.lowering.planes import by_planes, in_floats
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.tensors import is_weight, shape_of


def windows_of(op: "top.ConvOp | top.DeconvOp") -> list[Window]:
    """How a filter slides over each dimension."""
    kernel, strides, pads = ints(op.kernel_shape), ints(op.strides), ints(op.pads)
    rank = len(kernel)
    dilations = (ints(op.dilations) if op.dilations is not None else ()) or (1,) * rank
    pads = pads or (0,) * 2 * rank
    return [
        Window(kernel[i], strides[i], pads[i], pads[rank + i], dilations[i]) for i in range(rank)
    ]


def _conv(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """conv(x, filter, bias) -> Conv2D(x, filter_f16, bias) {with_bias}."""
    assert isinstance(op, top.ConvOp)
    windows = windows_of(op)
    most = max(max(w.before, w.after) for w in windows)
    is_plain = most <= LIMITS.padding and not any(w.is_far for w in windows)
    is_known = is_none(op.bias) or is_weight(op.bias)
    if len(windows) < 3 and is_plain and is_known:
        operands = (_data(op, ctx), ctx.as_type(op.filter, ctx.element), op.bias)
        with_bias = not is_none(op.bias)
        return build(op, ctx, tpu.Conv2DOp, operands, ctx.element, with_bias=with_bias)
    do = Steps(op, ctx)
    convolution = Convolution(do, op.group.value.data, ctx.element)
    if is_weight(op.filter) and is_known:
        return [convolution.emit(_data(op, ctx), _filter(do, op), op.bias, windows)]
    return [convolution.emit_computed(_data(op, ctx), op.filter, op.bias, windows)]


def _data(op: "top.ConvOp | top.DeconvOp", ctx: LoweringContext) -> SSAValue:
    """What the filter slides over, in the type of the mode; it may be constant (StyleGAN's)."""
    return ctx.as_type(op.input, ctx.element)


def _filter(do: Steps, op: "top.ConvOp | top.DeconvOp") -> Array:
    """The constant filter (OC, C / group, kernel)."""
    if not is_weight(op.filter):
        raise do.refuse("its filter must be constant")
    known = do.values(op.filter)
    return np.zeros(shape_of(op.filter), np.float32) if known is None else known


def _deconv(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """deconv(x, filter, bias) -> Conv2D of x with stride - 1 zeros between its elements.

    The filter is turned round and slides by 1; what it overlaps beyond the ends, less the
    padding of the transposed convolution, is the padding of this one. Zeros that the command
    cannot insert are written out, behind each element.
    """
    assert isinstance(op, top.DeconvOp)
    do, windows = Steps(op, ctx), windows_of(op)
    convolution = Convolution(do, op.group.value.data, ctx.element)
    weights = np.flip(_filter(do, op), tuple(range(2, 2 + len(windows))))
    inserted, gaps = inserting(op)
    x = _data(op, ctx)
    plane = op.group.value.data == 1 and len(windows) > 1 and any(gaps)
    if plane and can_insert(inserted[-2:], gaps[-2:]):
        filters = np.ascontiguousarray(weights)
        return [convolution.emit_spread(x, filters, op.bias, inserted, gaps)]
    x = _spread(do, x, [w.stride for w in windows])
    turned = [replace(w, after=w.after - gap) for w, gap in zip(inserted, gaps, strict=True)]
    return [convolution.emit(x, np.ascontiguousarray(weights), op.bias, turned)]


def inserting(op: "top.DeconvOp") -> tuple[list[Window], list[int]]:
    """The windows of a transposed convolution over its input with so many zeros between elements
    of each dimension."""
    windows = windows_of(op)
    extra = ints(op.output_padding or ()) or (0,) * len(windows)
    inserted = [
        Window(w.kernel, 1, w.reach - w.before, w.reach - w.after + e, w.dilation)
        for w, e in zip(windows, extra, strict=True)
    ]
    return inserted, [w.stride - 1 for w in windows]


def can_insert(windows: Sequence[Window], gaps: Sequence[int]) -> bool:
    """Whether a command does it: within its limits, and so that every window sees an element."""
    return all(
        0 <= w.before <= min(w.reach, LIMITS.padding)
        and 0 <= w.after <= min(w.reach, LIMITS.padding)
        and gap <= min(w.reach, LIMITS.padding)
        and not w.is_far
        for w, gap in zip(windows, gaps, strict=True)
    )


def _spread(do: Steps, x: SSAValue, strides: Sequence[int]) -> SSAValue:
    """x (N, C, spatial) with stride - 1 zeros behind each element of every dimension."""
    shape, element = shape_of(x), do.ctx.element
    if max(strides) == 1:
        return x
    apart = [n for size in shape[2:] for n in (size, 1)]
    longer = [n for size, stride in zip(shape[2:], strides, strict=True) for n in (size, stride)]
    x = do.reshaped("apart", x, (*shape[:2], *apart), element)
    after = [0, 0, *(n for stride in strides for n in (0, stride - 1))]
    x = padded(do, "zeros", x, element, ([0] * len(after), after), (*shape[:2], *longer))
    sizes = (size * stride for size, stride in zip(shape[2:], strides, strict=True))
    return do.reshaped("spread", x, (*shape[:2], *sizes), element)


def _is_padded_far(window: Window) -> bool:
    """Whether a command cannot say its padding."""
    pads = window.before, window.after
    return min(pads) < 0 or max(pads) > LIMITS.padding


@dataclass(frozen=True)
class Convolution:
    """A convolution over one to three dimensions, as Conv2D, whose padding and taps may be farther
    than a command can say; `given` are the elements that it slides over."""

    do: Steps
    group: int
    given: Attribute

    @property
    def made(self) -> Attribute:
        """The elements of the result, where it is still to be given its shape."""
        return self.do.ctx.element

    def filter(self, weights: Array) -> SSAValue:
        """A weight that holds a filter."""
        return self.do.weight("filter", weights, self.do.ctx.element)

    def options(self) -> dict[str, Any]:
        """What a Conv2D says besides its windows."""
        return {}

    def emit(
        self, x: SSAValue, weights: Array, bias: SSAValue, windows: Sequence[Window]
    ) -> SSAValue:
        """The op's result; `weights` are (OC, C / group, kernel)."""
        windows = list(windows)
        if len(windows) == 3:
            return self._volume(x, weights, bias, windows)
        weights, windows = without_idle_taps(weights, windows, shape_of(x)[2:])
        line = line_of(shape_of(x), windows)
        if line is not None:
            return self._line(x, weights, bias, line, [w is line.window for w in windows])
        if any(window.is_far for window in windows):
            return self._far(x, weights, bias, windows)
        x, windows = self._within_reach(x, windows)
        if len(windows) == 2:
            return self._conv2d(x, weights, bias, windows, "")
        x = self.do.reshaped("image", x, (*shape_of(x), 1), self.given)
        y = self._conv2d(x, weights[..., None], bias, [*windows, NO_WINDOW], "convolved")
        shape = list(shape_of(y)[:-1])
        return self.do.last(tpu.ReshapeOp, [y], self.do.ctx.element, shape=shape)

    def emit_spread(
        self,
        x: SSAValue,
        weights: Array,
        bias: SSAValue,
        windows: Sequence[Window],
        gaps: Sequence[int],
    ) -> SSAValue:
        """The result over an input with zeros between its elements."""
        if len(windows) == 3:
            return self._volume(x, weights, bias, windows, gaps)
        return self._conv2d(x, weights, bias, windows, "", gaps=gaps)

    def emit_computed(
        self, x: SSAValue, weights: SSAValue, bias: SSAValue, windows: Sequence[Window]
    ) -> SSAValue:
        """The op's result for a filter or a bias that is computed."""
        do, element = self.do, self.do.ctx.element
        if len(windows) > 2:
            raise do.refuse("a filter or bias over three dimensions must be constant")
        if any(window.is_far for window in windows):
            raise do.refuse("a filter whose taps are more than 16 apart must be constant")
        x, windows = self._within_reach(x, list(windows))
        weights = do.ctx.as_type(weights, element)
        if is_none(bias) or is_weight(bias):
            return self._conv2d(x, weights, bias, windows, "")
        y = self._conv2d(x, weights, do.ctx.none(), windows, "convolved", is_last=False)
        one = (1, shape_of(y)[1], *(1,) * len(windows))
        term = do.reshaped("bias", do.ctx.as_type(bias, element), one, element)
        op = do.op
        assert isinstance(op, top.ConvOp | top.DeconvOp)
        return do.last(tpu.AddOp, [y, term], element, do_relu=op.do_relu, relu_limit=op.relu_limit)

    def _line(
        self, x: SSAValue, weights: Array, bias: SSAValue, line: Line, along: Sequence[bool]
    ) -> SSAValue:
        """Over a line in rows of its elements; `along` says which dimension is the line."""
        weights = weights.reshape(*weights.shape[:2], line.window.kernel, 1)

        def convolve(x: SSAValue, inner: Sequence[Window]) -> SSAValue:
            return self._conv2d(x, weights, bias, inner, "convolved")

        y = in_rows(self.do, x, self.given, line, convolve)
        n, channels, places, _ = shape_of(y)
        shape = [n, channels, *(places if whole else 1 for whole in along)]
        return self.do.last(tpu.ReshapeOp, [y], self.do.ctx.element, shape=shape)

    def _far(
        self, x: SSAValue, weights: Array, bias: SSAValue, windows: Sequence[Window]
    ) -> SSAValue:
        """Over images of the elements that are taps of each other."""
        do, rank, windows = self.do, len(windows), list(windows)
        for index, window in enumerate(windows):
            if window.is_far:
                x, windows[index] = self._fitted(x, windows, index, padding_of_images(window))
            elif _is_padded_far(window):
                x, windows[index] = self._fitted(x, windows, index)
        if rank == 1:
            x = do.reshaped("image", x, (*shape_of(x), 1), self.given)
            weights, windows = weights[..., None], [*windows, NO_WINDOW]

        def convolve(x: SSAValue, inner: Sequence[Window]) -> SSAValue:
            return self._conv2d(x, weights, bias, inner, "convolved")

        y = phased(do, x, self.given, windows, convolve)
        shape = shape_of(y)[: 2 + rank]
        return do.last(tpu.ReshapeOp, [y], do.ctx.element, shape=list(shape))

    def _fitted(
        self, x: SSAValue, windows: Sequence[Window], index: int, left: tuple[int, int] = (0, 0)
    ) -> tuple[SSAValue, Window]:
        """One dimension with its padding written out but for what is `left`, or cut where that is
        negative."""
        do, window, axis = self.do, windows[index], 2 + index
        shape, rank = list(shape_of(x)), len(shape_of(x))
        cut = (max(0, -window.before), max(0, -window.after))
        if any(cut):
            shape[axis] -= sum(cut)
            offsets = [cut[0] if a == axis else 0 for a in range(rank)]
            x = sliced(do, f"cut{index}", x, self.given, offsets, [1] * rank, shape)
        more = (max(0, window.before - left[0]), max(0, window.after - left[1]))
        if any(more):
            shape[axis] += sum(more)
            ends = [[n if a == axis else 0 for a in range(rank)] for n in more]
            x = padded(do, f"padded{index}", x, self.given, ends, shape)
        return x, replace(window, before=left[0], after=left[1])

    def _within_reach(
        self, x: SSAValue, windows: list[Window], first: int = 0
    ) -> tuple[SSAValue, list[Window]]:
        """Padding that a command cannot say is written out, from the `first` dimension on."""
        for index, window in list(enumerate(windows))[first:]:
            if _is_padded_far(window):
                x, windows[index] = self._fitted(x, windows, index)
        return x, windows

    def _conv2d(
        self,
        x: SSAValue,
        weights: Array | SSAValue,
        bias: SSAValue,
        windows: Sequence[Window],
        label: str,
        is_last: bool = True,
        gaps: Sequence[int] = (),
    ) -> SSAValue:
        """One Conv2D; with a label a step. A filter of numbers becomes a weight.

        Something is still to be added unless it `is_last`: what clamps the result comes later.
        """
        do, op = self.do, self.do.op
        assert isinstance(op, top.ConvOp | top.DeconvOp)
        sizes = shape_of(x)
        steps = [gap + 1 for gap in gaps] or [1] * len(windows)
        seen = [(n - 1) * step + 1 for n, step in zip(sizes[2:], steps, strict=True)]
        places = [w.positions(n) for w, n in zip(windows, seen, strict=True)]
        if not isinstance(weights, SSAValue):
            weights = self.filter(weights)
        shape = (sizes[0], shape_of(weights)[0], *places)
        operands = (x, weights, bias)
        options: dict[str, Any] = {
            "kernel_shape": [w.kernel for w in windows],
            "strides": [w.stride for w in windows],
            "pads": [*(w.before for w in windows), *(w.after for w in windows)],
            "dilations": [w.dilation for w in windows],
            "group": self.group,
            "with_bias": not is_none(bias),
        }
        if any(gaps):
            options["inserts"] = list(gaps)
        if is_last:
            options |= {"do_relu": op.do_relu, "relu_limit": op.relu_limit}
        options |= self.options()
        if label:
            return do.step(label, tpu.Conv2DOp, operands, shape, self.made, **options)
        return do.last(tpu.Conv2DOp, operands, do.ctx.element, **options)

    def _volume(
        self,
        x: SSAValue,
        weights: Array,
        bias: SSAValue,
        windows: Sequence[Window],
        gaps: Sequence[int] = (0, 0, 0),
    ) -> SSAValue:
        """The result over three dimensions, with `gaps` zeros between elements of each."""
        if self.group > 1:
            x, first = self._fitted(x, windows, 0)
            return self._by_planes(x, weights, bias, [first, *windows[1:]])

        x, (depth, *plane) = self._within_reach(x, list(windows), first=1)

        def convolve(x: SSAValue, weights: SSAValue, bias: SSAValue, label: str) -> SSAValue:
            return self._conv2d(x, weights, bias, plane, label, gaps=gaps[1:])

        kinds = in_floats(self.do, bias)
        return by_planes(self.do, x, weights, depth, gaps[0], kinds, convolve)

    def _by_planes(
        self, x: SSAValue, weights: Array, bias: SSAValue, windows: Sequence[Window]
    ) -> SSAValue:
        """Planes that a filter looks at together become channels of one image (N * D')."""
        do, element, group = self.do, self.do.ctx.element, self.group
        n, c, depth, height, width = shape_of(x)
        over = windows[0]
        x = do.reshaped("flat", x, (n, c, depth, height * width), element)
        order = [0, 2, 1, 3]
        x = do.step(
            "by_depth", tpu.PermuteOp, [x], (n, depth, c, height * width), element, order=order
        )
        x = do.reshaped("groups", x, (n, depth, group, c // group, height * width), element)
        planes = over.positions(depth)
        part = (n, planes, group, c // group, height * width)
        taps = [
            sliced(
                do,
                f"plane{tap}",
                x,
                element,
                [0, tap * over.dilation, 0, 0, 0],
                [1, over.stride, 1, 1, 1],
                part,
            )
            for tap in range(over.kernel)
        ]
        joined = (*part[:3], over.kernel * part[3], part[4])
        if len(taps) > 1:
            taps = [do.step("planes", tpu.ConcatOp, taps, joined, element, axis=3)]
        images = (n * planes, c * over.kernel, height, width)
        x = do.reshaped("images", taps[0], images, element)
        oc, ic, *kernel = weights.shape
        flat = weights.swapaxes(1, 2).reshape(oc, kernel[0] * ic, *kernel[1:])
        x, rest = self._within_reach(x, list(windows[1:]))
        y = self._conv2d(x, np.ascontiguousarray(flat), bias, rest, "convolved")
        *_, high, wide = shape_of(y)
        y = do.reshaped("positions", y, (n, planes, oc, high * wide), element)
        y = do.step(
            "by_channel", tpu.PermuteOp, [y], (n, oc, planes, high * wide), element, order=order
        )
        return do.last(tpu.ReshapeOp, [y], element, shape=[n, oc, planes, high, wide])


LOWERINGS: Lowerings = {top.ConvOp: _conv, top.DeconvOp: _deconv}
