"""The pass `merge-branches`: convolutions of the same image that are added up are one convolution.

Networks whose blocks are trained as several branches (RepVGG, MobileOne, FastViT) are often
exported as they were trained.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import Window
from xdsl_tpu.dialects.top.padding import pads_of
from xdsl_tpu.passes.canonicalize.common import has_relu, unit_coefficients
from xdsl_tpu.passes.constants import Floats, is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, is_calibrated, sole_producer, users
from xdsl_tpu.passes.pattern_table import rewrite
from xdsl_tpu.passes.tensors import shape_of

FLOATS = ("F32", "F16", "BF16")

LOUDER = 4.0
"""How many times the rounding errors of filters in 8 bits may be those of the branches', as
squares: each branch's result has been rounded to 8 bits, too."""


@dataclass(frozen=True)
class Branch:
    """A linear function of an image: `filters` are (OC, C / group, kernel), with a window for each
    dimension of the kernel.

    `conv` is None for what is no convolution: a factor for every channel, or the image itself.
    """

    conv: top.ConvOp | None
    filters: Floats
    bias: Floats | None
    group: int
    windows: tuple[Window, ...]

    @property
    def work(self) -> int:
        """Multiply-accumulates for each number of the result; none for the image itself."""
        return 0 if self.conv is None else prod(self.filters.shape[1:])

    def loudness(self) -> float:
        """The squares of rounding errors of filters in 8 bits, in steps of their largest number."""
        largest = np.abs(self.filters).max(axis=tuple(range(1, self.filters.ndim)))
        return float(np.square(largest).sum()) * self.work


class MergeBranches(RewritePattern):
    """Add(Conv(x, V, a), Conv(x, W, b)) -> Conv(x, V + W, a + b), filters put over each other.

    One of the two may also be a Scale of x, or x itself. Nothing else uses the branches, they have
    no ReLU, and the filters that come out need no more multiply-accumulates. Where ranges are
    known filters get 8 bits: these must hold the sums nearly as well (`LOUDER`).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        found = _sum_of_branches(op)
        if found is None:
            return
        if is_calibrated(op.output):
            loudness = sum(one.loudness() for one in found.branches)
            if found.merged.loudness() > LOUDER * loudness:
                return
        rewriter.replace(op, _made(op, found))


def merge_in_floats(func: FuncOp, modes: dict[Operation, str]) -> None:
    """The same where ranges are known, but sum and convolutions are all lowered to one float
    format, in which filters need not be held in 8 bits; `modes` then has the new ops."""
    for op in [op for op in func.body.block.ops if isinstance(op, top.AddOp)]:
        mode = modes.get(op)
        if mode not in FLOATS or (found := _sum_of_branches(op)) is None:
            continue
        convs = [one.conv for one in found.branches if one.conv is not None]
        if any(modes.get(one) != mode for one in convs):
            continue
        made = _made(op, found)
        branches = [one.owner for one in op.inputs]
        PatternRewriter(op).replace(op, made)
        del modes[op]
        modes[made[-1]] = mode
        for one in branches:
            if isinstance(one, Operation) and not any(map(users, one.results)):
                modes.pop(one, None)
                PatternRewriter(one).erase(one)


@dataclass(frozen=True)
class _Sum:
    """Branches of an image, and their sum as one of them."""

    image: SSAValue
    branches: list[Branch]
    merged: Branch


def _sum_of_branches(op: top.AddOp) -> _Sum | None:
    """What an Add adds up, where that is no more work as one convolution."""
    if len(op.inputs) != 2 or not unit_coefficients(op) or not has_shapes(*op.inputs):
        return None
    image = _common_image(op.inputs)
    if image is None or not has_shapes(image):
        return None
    if any(shape_of(one) != shape_of(op.output) for one in op.inputs):
        return None
    found = [_branch(one, image) for one in op.inputs]
    branches = [one for one in found if one is not None]
    convs = [one for one in branches if one.conv is not None]
    if len(branches) != 2 or not convs:
        return None
    host = min(convs, key=lambda one: (one.group, -one.work))
    merged = _merged(host, branches)
    if merged is None or merged.work > sum(one.work for one in branches):
        return None
    return _Sum(image, branches, merged)


def _common_image(values: Iterable[SSAValue]) -> SSAValue | None:
    """What all values are functions of: the inputs of the convolutions among them."""
    images = {conv.input for one in values if (conv := sole_producer(one, top.ConvOp))}
    return images.pop() if len(images) == 1 else None


def _branch(value: SSAValue, image: SSAValue) -> Branch | None:
    """A value as a function of an image; None where it is no linear one with known weights."""
    if (conv := sole_producer(value, top.ConvOp)) is not None:
        return _of_conv(conv, image)
    if value is image:
        return _of_factors(image, np.ones(shape_of(image)[1], np.float32), None)
    scale = sole_producer(value, top.ScaleOp)
    if scale is None or has_relu(scale) or scale.input is not image:
        return None
    factors, bias = values_of(scale.scale), values_of(scale.bias)
    if factors is None or bias is None:
        return None
    return _of_factors(image, factors.reshape(-1), bias.reshape(-1))


def _of_conv(conv: top.ConvOp, image: SSAValue) -> Branch | None:
    rank = len(conv.kernel_shape.data)
    plain = conv.inserts is None or not any(ints(conv.inserts))
    if conv.input is not image or has_relu(conv) or not plain:
        return None
    if len(shape_of(image)) != rank + 2 or not is_f32_weight(conv.filter):
        return None
    filters = values_of(conv.filter)
    bias = None if is_none(conv.bias) else values_of(conv.bias)
    if filters is None or (bias is None and not is_none(conv.bias)):
        return None
    flat = None if bias is None else bias.reshape(-1)
    return Branch(conv, filters, flat, conv.group.value.data, conv.windows())


def _of_factors(image: SSAValue, factors: Floats, bias: Floats | None) -> Branch:
    """A factor and a summand for each channel of an image."""
    rank = len(shape_of(image)) - 2
    filters = factors.reshape(-1, 1, *(1,) * rank)
    return Branch(None, filters, bias, len(factors), (Window(1),) * rank)


def _merged(host: Branch, branches: list[Branch]) -> Branch | None:
    """The sum of branches as one with the groups, strides and dilations of `host`; None where
    their taps do not meet."""
    axes = zip(host.windows, *(one.windows for one in branches), strict=True)
    windows = [_spanned(window, around) for window, *around in axes]
    found = [one for one in windows if one is not None]
    if len(found) != len(windows):
        return None
    filters = np.zeros((*host.filters.shape[:2], *(one.kernel for one in found)), np.float32)
    for one in branches:
        part = _in_groups(one, host.group)
        if part is None or part.shape[:2] != filters.shape[:2]:
            return None
        box = (
            slice(first := (whole.before - own.before) // whole.dilation, first + own.kernel)
            for whole, own in zip(found, one.windows, strict=True)
        )
        filters[(slice(None), slice(None), *box)] += part
    biases = [one.bias for one in branches if one.bias is not None]
    bias = np.sum(biases, axis=0, dtype=np.float32) if biases else None
    return replace(host, filters=filters, bias=bias, windows=tuple(found))


def _spanned(host: Window, windows: list[Window]) -> Window | None:
    """The window over others, with the stride and dilation of `host`, which is one of them; None
    where strides differ, or taps do not meet."""
    before = max(one.before for one in windows)
    kernel = 0
    for one in windows:
        moved = before - one.before
        is_apart = one.kernel > 1 and one.dilation != host.dilation
        if one.stride != host.stride or is_apart or moved % host.dilation:
            return None
        kernel = max(kernel, moved // host.dilation + one.kernel)
    whole = replace(host, kernel=kernel, before=before)
    after = host.after + whole.extent - host.extent - (before - host.before)
    return None if after < 0 else replace(whole, after=after)


def _in_groups(one: Branch, group: int) -> Floats | None:
    """Filters for that many groups; None where channels of several of these are met."""
    if one.group == group:
        return one.filters
    channels, own, *kernel = one.filters.shape
    if own != 1 or one.group != channels or channels % group:
        return None
    width = channels // group
    spread = np.zeros((channels, width, *kernel), np.float32)
    for channel in range(channels):
        spread[channel, channel % width] = one.filters[channel, 0]
    return spread


def _made(op: top.AddOp, found: _Sum) -> list[Operation]:
    """The convolution, last, and its weights."""
    image, merged = found.image, found.merged
    conv = merged.conv
    assert conv is not None
    filters = make_weight(op, derived_name(op, "_r_filter"), merged.filters)
    weights, bias = [filters], SSAValue.get(conv.bias)
    if merged.bias is not None:
        weights.append(make_weight(op, derived_name(op, "_r_bias"), merged.bias))
        bias = weights[-1].output
    one = top.ConvOp.make(
        op.location,
        (image, filters, bias),
        result_types=op.result_types,
        kernel_shape=[one.kernel for one in merged.windows],
        strides=[one.stride for one in merged.windows],
        pads=pads_of(merged.windows),
        group=merged.group,
        dilations=[one.dilation for one in merged.windows],
        do_relu=op.do_relu,
        relu_limit=op.relu_limit,
    )
    return [*weights, one]


@dataclass(frozen=True)
class MergeBranchesPass(ModulePass):
    """Make one convolution of those of the same image that are added up.

        %1 = "top.Conv"(%0, %v, %a) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], ..}
        %2 = "top.Conv"(%0, %w, %b) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], ..}
        %3 = "top.Add"(%1, %2)
      ->
        %3 = "top.Conv"(%0, %vw, %ab) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], ..}

    So networks that are trained with several branches cost what they do deployed, however they
    were exported. Branches that 8 bits hold far better one by one stay apart, until it is known
    that they are computed in floats: then `convert-top-to-tpu` makes one of them.
    """

    name = "merge-branches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, MergeBranches())
