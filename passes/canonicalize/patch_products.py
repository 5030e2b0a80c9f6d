"""Linear layers of patches, however these were cut out of an image: convolutions."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import VIEWS, reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.constants import (
    is_known,
    known_values,
    make_weight,
    whole_numbers_of,
)
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, tensor_like
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import shape_of

Places = npt.NDArray[np.int64]
"""Which elements of a value, counted in the order of memory."""

MOST = 1 << 23
"""Elements of patches that are looked at: those of an image of 3 x 1536 x 1536."""

PARTS = 1 << 8
"""Tensors that patches may be put together of."""


class PatchesToConv(RewritePattern):
    """MatMul(Reshape(Permute(Reshape(image))), W) -> Permute(Reshape(Conv(image, W'))).

        Reshape  1x3x224x224 -> 1x3x14x16x14x16        Conv     3x224x224 -> 256x14x14,
        Permute  1x14x14x16x16x3                                kernel and strides 16
        Reshape  1x196x768                       ->    Reshape  1x256x196
        MatMul   768x256 -> 1x196x256                  Permute  1x196x256

    Vision transformers that einops or `unfold` cut patches for are so those that a convolution
    does. The elements of each row of the product are followed back to the image, through whatever
    moves them: they must be the same window of all channels, in any order, for neighbouring rows
    of patches as far apart as the windows are wide. Windows that reach along one dimension only,
    or over all of it, are other things: heads of a token are such.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not is_plain(op) or not has_shapes(op.input, op.output) or not is_known(op.right):
            return
        if len(shape_of(op.right)) != 2 or len(shape_of(op.input)) < 2:
            return
        if not is_none(op.bias) and not _is_row(op.bias, shape_of(op.right)[1]):
            return
        found = _patches(op.input)
        if found is None:
            return
        depth, width = shape_of(op.right)
        filters = np.empty((depth, width), np.float32)
        filters[found.order] = known_values(op.right)
        batch, channels, *_ = shape_of(found.image)
        (high, wide), (rows, columns) = found.window, found.grid
        shaped = np.ascontiguousarray(filters.T).reshape(width, channels, high, wide)
        made: list[Operation] = [make_weight(op, derived_name(op, "_filter"), shaped)]
        bias = none_for(op, rewriter)
        if not is_none(op.bias):
            terms = known_values(op.bias).reshape(width)
            made.append(make_weight(op, derived_name(op, "_bias"), terms))
            bias = made[-1].results[0]
        conv = top.ConvOp.make(
            derived_name(op, "_r_image"),
            (found.image, made[0].results[0], bias),
            result_types=[tensor_like(op.output, (batch, width, rows, columns))],
            kernel_shape=found.window,
            strides=found.window,
            pads=(0, 0, 0, 0),
            dilations=(1, 1),
            group=1,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        flat = reshape(derived_name(op, "_r_pixels"), conv.output, (batch, width, rows * columns))
        shape = (batch, rows * columns, width)
        is_last = shape_of(op.output) == shape
        turned = top.PermuteOp.make(
            op.location if is_last else derived_name(op, "_r_rows"),
            (flat.output,),
            result_types=[tensor_like(op.output, shape)],
            order=(0, 2, 1),
        )
        made += [conv, flat, turned]
        if not is_last:
            made.append(reshape(op.location, turned.output, shape_of(op.output)))
        rewriter.replace(op, made)


def _is_row(value: SSAValue, width: int) -> bool:
    """Whether a value is known, a number for each column."""
    return has_shapes(value) and is_known(value) and prod(shape_of(value)) == width


class _Patches(NamedTuple):
    """Windows of an image that lie side by side; `order` says where in a window of (channels, rows,
    columns) each element of a row is."""

    image: SSAValue
    window: tuple[int, int]
    grid: tuple[int, int]
    order: Places


def _patches(value: SSAValue) -> _Patches | None:
    """What patches the rows of a value are, if they are some."""
    *_, depth = shape_of(value)
    size = prod(shape_of(value))
    if size > MOST:
        return None
    for image, first in _sources(value, np.arange(depth, dtype=np.int64)):
        if not has_shapes(image) or len(shape_of(image)) != 4:
            continue
        batch, channels, height, width = shape_of(image)
        low, high = int(first.min()), int(first.max()) % (height * width)
        if low or prod(shape_of(image)) != size:
            continue
        window = high // width + 1, high % width + 1
        if min(window) == 1 or channels * prod(window) != depth:
            continue
        if height % window[0] or width % window[1]:
            continue
        count = height // window[0], width // window[1]
        if min(count) == 1:
            continue
        grid = np.arange(size, dtype=np.int64).reshape(
            batch, channels, count[0], window[0], count[1], window[1]
        )
        rows = grid.transpose(0, 2, 4, 1, 3, 5).reshape(-1, depth)
        order = np.searchsorted(rows[0], first)
        if order.max() == depth or not np.array_equal(rows[0][order], first):
            continue
        every = dict(_sources(value, np.arange(size, dtype=np.int64)))
        if np.array_equal(every[image].reshape(-1, depth), rows[:, order]):
            return _Patches(image, window, count, order)
    return None


def _sources(value: SSAValue, places: Places) -> Iterator[tuple[SSAValue, Places]]:
    """The values that some elements of a value are moved from, nearest first, and where they lie
    there."""
    while (before := _before(value, places)) is not None:
        value, places = before
        yield value, places


def _before(value: SSAValue, places: Places) -> tuple[SSAValue, Places] | None:
    """The operand that an op moves elements from, and where they lie there; of several operands
    what all of these are moved from."""
    op = value.owner
    if isinstance(op, top.ConcatOp):
        plain = has_shapes(value, *op.inputs) and not op.do_relu.value.data
        return _joined(op, places) if plain else None
    if not isinstance(op, (*VIEWS, top.PermuteOp, top.SliceOp, top.GatherOp)):
        return None
    source = op.operands[0]
    if not has_shapes(value, source):
        return None
    if isinstance(op, VIEWS):
        return source, places
    axes = _axes(op, places)
    return None if axes is None else (source, _raveled(axes, source))


def _axes(op: top.PermuteOp | top.SliceOp | top.GatherOp, places: Places) -> list[Places] | None:
    """Where elements of a result lie along each axis of the operand."""
    where = _unraveled(places, op.output)
    match op:
        case top.PermuteOp():
            order = ints(op.order)
            return [where[order.index(axis)] for axis in range(len(order))]
        case top.SliceOp():
            if not is_static(op):
                return None
            return [a * cut.step + cut.first for a, cut in zip(where, op.cuts(), strict=True)]
        case top.GatherOp():
            return _gathered(op, where)


def _unraveled(places: Places, value: SSAValue) -> list[Places]:
    return [axis.astype(np.int64) for axis in np.unravel_index(places, shape_of(value))]


def _raveled(axes: Sequence[Places], value: SSAValue) -> Places:
    return np.asarray(np.ravel_multi_index(tuple(axes), shape_of(value)), np.int64)


def _gathered(op: top.GatherOp, where: list[Places]) -> list[Places] | None:
    """Where elements that known indices choose lie."""
    indices = whole_numbers_of(op.indices)
    shape, axis = shape_of(op.input), op.axis.value.data % len(shape_of(op.input))
    if indices is None or not op.keepdims.value.data or not indices.ndim:
        return None
    chosen = indices[tuple(where[axis : axis + indices.ndim])] % shape[axis]
    return [*where[:axis], chosen, *where[axis + indices.ndim :]]


def _joined(op: top.ConcatOp, places: Places) -> tuple[SSAValue, Places] | None:
    """What all operands are moved from."""
    if len(op.inputs) > PARTS:
        return None
    axis = op.axis.value.data % len(shape_of(op.output))
    where = _unraveled(places, op.output)
    source: SSAValue | None = None
    found, start = np.empty_like(places), 0
    for value in op.inputs:
        end = start + shape_of(value)[axis]
        mine = (where[axis] >= start) & (where[axis] < end)
        own = [a[mine] - (start if place == axis else 0) for place, a in enumerate(where)]
        own_places = _raveled(own, value)
        *_, (last, found[mine]) = ((value, own_places), *_sources(value, own_places))
        if source is not None and last is not source:
            return None
        source, start = last, end
    return None if source is None else (source, found)
