"""Convolutions with a few channels in a group get fewer groups, or one."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters.layouts import FilterShape, is_depthwise
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.joined_groups import cheapest_join
from xdsl_tpu.passes.module_state import DEFAULT_CHIP, chip_of
from xdsl_tpu.passes.tensors import element_bytes, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_data import change_weight

Array = npt.NDArray[Any]
FILTER = 1


@dataclass(frozen=True)
class GroupConvToNormalConv(RewritePattern):
    """conv(x, w: [oc, ic/g, kh, kw]) {group = g} -> conv(x, w': [oc, ic/g', kh, kw]) {group = g'}.

    The new filter is zero outside the blocks of the groups. The matrix unit reads a row of input
    channels for an output channel in every lane at once anyway, so as long as all channels fit in
    one (on a BM1684X 32 of 16 bits) the zeros cost nothing, and g' is 1. Where many small groups
    leave most of the row and of the lanes empty, several of them are one group (all of them, g' is
    1) if that saves more of its time than loading the zeros takes (`passes/joined_groups.py`). In 8
    bits, groups that do not fill whole rounds of lanes have no kernel. f32 has no parallel channels
    and stays.

    One filter for each channel stays, too, unless `merge_depthwise`: the pooling unit takes as many
    pixels of a channel at once as fit into a lane's width, the matrix unit few. But the former
    cannot move windows farther than 15.
    """

    weights: Weights | None
    merge_depthwise: bool = False
    chip: str = ""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.Conv2DOp, rewriter: PatternRewriter) -> None:
        group, channels = op.group.value.data, shape_of(op.input)[1]
        if group == 1 or not is_weight(op.filter):
            return
        filter_ = FilterShape.of(shape_of(op.filter))
        width_of = element_bytes(op.filter)
        depthwise = is_depthwise(filter_, group)
        chip = _chip_for(op, self.chip)
        fits = channels <= chip.weight_lanes.channels(width_of)
        if depthwise and (not fits or (not self.merge_depthwise and _within_reach(op))):
            return
        n, _, *image = shape_of(op.output)
        factor = group
        if not fits:
            factor = cheapest_join(filter_, group, width_of, n * math.prod(image), chip).factor
        if factor == 1:
            return
        out_channels, block, *kernel = shape_of(op.filter)
        change_weight(
            op,
            FILTER,
            (out_channels, block * factor, *kernel),
            joined_filter(group, factor),
            self.weights,
            name=f"{required_name(op)}_filter_g2normal",
        )
        op.group = IntegerAttr(group // factor, i64)
        rewriter.notify_op_modified(op)


def _chip_for(op: tpu.Conv2DOp, given: str) -> Chip:
    """The chip that was given, or the module's."""
    module = op.get_toplevel_object()
    return (
        chip_of(module, given) if isinstance(module, ModuleOp) else load_chip(given or DEFAULT_CHIP)
    )


def _within_reach(op: tpu.Conv2DOp) -> bool:
    """Whether the pooling unit can take the strides and pads."""
    return (
        max(ints(op.strides)) <= LIMITS.window_stride
        and max(ints(op.pads), default=0) <= LIMITS.padding
    )


def joined_filter(group: int, factor: int) -> Callable[[Array], Array]:
    """From `[oc, ic, kh, kw]` of `group` groups to `[oc, ic * factor, kh, kw]`, zero where an
    output channel reads none of its own group."""

    def expand(filter_: Array) -> Array:
        out_channels, block, *kernel = filter_.shape
        joined = np.zeros((out_channels, block * factor, *kernel), filter_.dtype)
        per_group = out_channels // group
        for index in range(group):
            rows = slice(index * per_group, (index + 1) * per_group)
            first = index % factor * block
            joined[rows, first : first + block] = filter_[rows]
        return joined

    return expand
