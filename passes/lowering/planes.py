"""Filters that slide over three dimensions: planes lie behind each other as channels of one image.

Some neighbouring planes of the result are the output channels of one Conv2D. Its input channels
are the planes that they look at, which are a range of channels: nothing is copied, padding planes
and those that a transposed convolution puts in between do not exist. Where channels are few,
several planes at once fill the lanes, though some of their filters are zeros.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.lanes import Lanes
from xdsl_tpu.passes.lowering.dilation import Window
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.tensors import shape_of

Convolve = Callable[[SSAValue, SSAValue, SSAValue, str], SSAValue]
"""Input, filter, bias and a label -> Conv2D over the other two dimensions."""


@dataclass(frozen=True)
class Format:
    """In which types planes are convolved: elements of the input, how many bytes these have, and of
    the result, a weight that holds a filter, and the bias of so many planes."""

    given: Attribute
    width: int
    made: Attribute
    filter: Callable[[str, Array], SSAValue]
    bias: Callable[[int], SSAValue]


MOST_PARTS = 32
"""Convolutions that one becomes."""


@dataclass(frozen=True)
class Tile:
    """Planes of the result that are computed together: which planes they see, through which taps.

    `seen` has for each plane of the result pairs of a tap and a plane of the input, which counts
    from `low`; `span` planes are read.
    """

    first: int
    low: int
    span: int
    seen: tuple[tuple[tuple[int, int], ...], ...]


def tile_of(first: int, count: int, window: Window, depth: int, gap: int) -> Tile:
    """Planes first.. of the result; `gap` planes of zeros are between those of the input."""
    seen: list[list[tuple[int, int]]] = []
    for place in range(first, first + count):
        at = [
            (tap, place * window.stride - window.before + tap * window.dilation)
            for tap in range(window.kernel)
        ]
        step = gap + 1
        seen.append([(k, p // step) for k, p in at if p % step == 0 and 0 <= p // step < depth])
    planes = [plane for pairs in seen for _, plane in pairs] or [0]
    low, high = min(planes), max(planes)
    pairs = tuple(tuple((tap, plane - low) for tap, plane in one) for one in seen)
    return Tile(first, low, high - low + 1, pairs)


def tiles_of(
    window: Window, depth: int, gap: int, channels: tuple[int, int], lanes: Lanes, width: int = 2
) -> list[Tile]:
    """The tiles in which the array is busy for the shortest time; `channels` are (OC, IC).

    The array has an output channel in each lane and multiplies a row of input channels, of `width`
    bytes, at a time (`backend/timing`); fewer tiles win where times are equal.
    """
    planes = window.positions((depth - 1) * (gap + 1) + 1)
    oc, ic = channels
    inner = lanes.channels(width)
    choices: list[tuple[int, int, list[Tile]]] = []
    for count in range(1, planes + 1):
        starts = range(0, planes, count)
        if len(starts) > MOST_PARTS:
            continue
        tiles = [tile_of(first, min(count, planes - first), window, depth, gap) for first in starts]
        cost = sum(
            -(-len(tile.seen) * oc // lanes.count) * -(-tile.span * ic // inner) for tile in tiles
        )
        choices.append((cost, len(tiles), tiles))
    return min(choices, key=lambda choice: choice[:2])[2]


def filters_of(tile: Tile, weights: Array) -> Array:
    """(OC, IC, taps, KH, KW) -> (planes * OC, span * IC, KH, KW), zeros where nothing is seen."""
    oc, ic, _, *kernel = weights.shape
    made = np.zeros((len(tile.seen), oc, tile.span, ic, *kernel), weights.dtype)
    for place, pairs in enumerate(tile.seen):
        for tap, plane in pairs:
            made[place, :, plane] = weights[:, :, tap]
    return made.reshape(len(tile.seen) * oc, tile.span * ic, *kernel)


def by_planes(
    do: Steps,
    x: SSAValue,
    weights: Array,
    window: Window,
    gap: int,
    kinds: Format,
    convolve: Convolve,
) -> SSAValue:
    """Conv3d of (N, C, D, H, W) with `weights` (OC, C, taps, KH, KW), along D over `window`."""
    n, c, depth = shape_of(x)[:3]
    oc = weights.shape[0]
    image = planes_as_channels(do, x, kinds.given)
    tiles = tiles_of(window, depth, gap, (oc, c), do.ctx.lanes, kinds.width)
    filters: dict[tuple[object, ...], SSAValue] = {}
    biases: dict[int, SSAValue] = {}
    parts: list[SSAValue] = []
    for tile in tiles:
        key, count = (tile.seen, tile.span), len(tile.seen)
        if key not in filters:
            filters[key] = kinds.filter(f"filter{tile.first}", filters_of(tile, weights))
        if count not in biases:
            biases[count] = kinds.bias(count)
        part = image
        if tile.span < depth:
            ends = tile.low * c, (tile.low + tile.span) * c
            part = do.cut(f"planes{tile.first}", image, 1, *ends, kinds.given)
        label = f"convolved{tile.first}" if len(tiles) > 1 else "convolved"
        parts.append(convolve(part, filters[key], biases[count], label))
    *_, high, wide = shape_of(parts[0])
    planes = sum(len(tile.seen) for tile in tiles)
    y = parts[0]
    if len(parts) > 1:
        y = do.step("images", tpu.ConcatOp, parts, (n, planes * oc, high, wide), kinds.made, axis=1)
    return channels_as_planes(do, y, (n, oc, planes, high, wide), kinds.made)


def planes_as_channels(do: Steps, x: SSAValue, element: Attribute) -> SSAValue:
    """(N, C, D, H, W) -> (N, D * C, H, W)."""
    n, c, depth, height, width = shape_of(x)
    x = do.reshaped("flat", x, (n, c, depth, height * width), element)
    shape = (n, depth, c, height * width)
    x = do.step("by_depth", tpu.PermuteOp, [x], shape, element, order=[0, 2, 1, 3])
    return do.reshaped("planes", x, (n, depth * c, height, width), element)


def channels_as_planes(
    do: Steps, y: SSAValue, shape: Sequence[int], element: Attribute
) -> SSAValue:
    """(N, D * C, H, W) -> `shape`, (N, C, D, H, W), which the op gives."""
    n, oc, planes, high, wide = shape
    y = do.reshaped("positions", y, (n, planes, oc, high * wide), element)
    target = (n, oc, planes, high * wide)
    y = do.step("by_channel", tpu.PermuteOp, [y], target, element, order=[0, 2, 1, 3])
    return do.last(tpu.ReshapeOp, [y], element, shape=list(shape))


def in_floats(do: Steps, bias: SSAValue) -> Format:
    """The mode's own elements."""
    element = do.ctx.element

    def filter_(label: str, values: Array) -> SSAValue:
        return do.weight(label, values, element)

    return Format(element, 2, element, filter_, lambda count: _repeated(do, bias, count))


def _repeated(do: Steps, bias: SSAValue, count: int) -> SSAValue:
    """The bias of `count` planes."""
    if count == 1 or is_none(bias):
        return bias
    known = do.values(bias)
    size = np.prod(shape_of(bias), dtype=int)
    values = np.zeros(size, np.float32) if known is None else known.reshape(-1)
    return do.weight(f"bias{count}", np.tile(values, count))
