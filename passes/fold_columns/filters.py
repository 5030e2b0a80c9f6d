"""Filters over folded columns: pure arithmetic on one dimension.

A dimension of W columns folded by f is W / f columns of f channels each, column f i + p being
channel p of column i. A filter that slides over columns is then one over folded columns, with a tap
for every folded column that any of the f outputs of one sees.

Three taps over columns folded by 2 see three folded columns, and half of what they see is not in
the filter. Where the last channels of each column are moved to the next one, which takes one column
more, neighbours lie together that the filter sees together: two taps do. Columns are *staggered* by
k then, the channels that move.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Slide:
    """How a filter of `kernel` taps goes over one dimension, from `size` columns to `result`.

    A `transposed` one stamps its taps on the result instead, `stride` columns apart.
    """

    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    size: int
    result: int
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class FoldedSlide:
    """The same over folded columns, and where each tap goes."""

    slide: Slide
    first: int
    """The folded column of tap 0, from the one above the result."""
    taken: int
    given: int
    """Columns folded into one, of the input and of the result."""
    old: Slide
    stagger: int = 0
    """Channels of each folded column of the input that lie in the next one."""

    def taps(self) -> Iterator[tuple[int, int, int, int]]:
        """(old tap, column of the result, column of the input, new tap), both within their fold."""
        meetings = _stamping if self.slide.transposed else _sliding
        for tap, out, into, at in meetings(self.old, self.taken, self.given, self.stagger):
            yield tap, out, into, at - self.first

    def within(self, taps: slice) -> "FoldedSlide":
        """Some of its taps alone, which make the same places of the result."""
        slide = self.slide
        before, after = slide.before - taps.start, slide.after - (slide.kernel - taps.stop)
        new = replace(slide, kernel=taps.stop - taps.start, before=before, after=after)
        return replace(self, slide=new, first=self.first + taps.start)


@cache
def folded(
    slide: Slide, taken: int, given: int, stagger: int = 0, *, slides: bool = False
) -> FoldedSlide | None:
    """`slide` with its input folded by `taken` and staggered, and its result folded by `given`;
    None when that is no filter that slides, or one that reads before its input.

    A transposed one of which a column of the result has whole strides also `slides`.
    """
    if slide.size % taken or slide.result % given or (stagger and slide.transposed):
        return None
    stamps = slide.transposed and not slides
    if stamps:
        if given != taken * slide.stride:
            return None
        stride = 1
    elif slide.transposed:
        if given % (taken * slide.stride):
            return None
        stride = given // (taken * slide.stride)
    elif slide.stride * given % taken:
        return None
    else:
        stride = slide.stride * given // taken
    meetings = _stamping if stamps else _sliding
    places = [at for *_, at in meetings(slide, taken, given, stagger)]
    first, last = min(*places, 0), max(*places, 0)
    size, result = slide.size // taken + bool(stagger), slide.result // given
    kernel = last - first + 1
    if stamps:
        # Output J takes tap q from column J - q: as a filter that stamps, q columns further on.
        after = size - 1 + kernel + first - result
        kernel += max(0, -after)
        after = max(0, after)
    else:
        after = max(0, (result - 1) * stride + last + 1 - size)
        if (size - first + after - kernel) // stride + 1 != result:
            return None
    new = Slide(kernel, stride, 1, -first, after, size, result, stamps)
    return FoldedSlide(new, first, taken, given, slide, stagger)


def shortest(slide: Slide, taken: int, given: int, *, slides: bool = False) -> FoldedSlide | None:
    """`folded` with the stagger that leaves fewest taps, the smallest of these."""
    found = [folded(slide, taken, given, stagger, slides=slides) for stagger in range(taken)]
    return min((how for how in found if how), key=lambda how: how.slide.kernel, default=None)


def staggering(channels: int, fold: int, stagger: int) -> Array:
    """Filters [channels * fold, 1, 2] that move the last `stagger` channels of each fold one column
    on, with a zero before and behind the columns: a channel sees the column before or its own."""
    taps = np.zeros((channels, fold, 1, 2), np.float32)
    taps[:, : fold - stagger, :, 1] = 1
    taps[:, fold - stagger :, :, 0] = 1
    return taps.reshape(channels * fold, 1, 2)


def _stamping(
    slide: Slide, taken: int, given: int, stagger: int
) -> Iterator[tuple[int, int, int, int]]:
    """Every (tap, column of the result, column of the input, folded column) of a transposed filter
    that meet, the folded column being that of the result."""
    assert not stagger
    for tap in range(slide.kernel):
        for into in range(taken):
            at = slide.stride * into + tap * slide.dilation - slide.before
            yield tap, at % given, into, at // given


def _sliding(
    slide: Slide, taken: int, given: int, stagger: int
) -> Iterator[tuple[int, int, int, int]]:
    """The same with the folded column of the input; of a transposed filter a column of the result
    meets each of its strides' taps alone."""
    for tap in range(slide.kernel):
        for out in range(given):
            if slide.transposed:
                at, between = divmod(out + slide.before - tap * slide.dilation, slide.stride)
                if between:
                    continue
            else:
                at = slide.stride * out + tap * slide.dilation - slide.before
            into = at % taken
            yield tap, out, into, at // taken + (into >= taken - stagger)


def folded_filter(filters: Array, axis: int, how: FoldedSlide) -> Array:
    """Filters [oc, ic, *kernel] for folded columns; column p of channel c is channel c f + p.

    `axis` is the dimension of the kernel, 0 for the first.
    """
    oc, ic = filters.shape[:2]
    moved = np.moveaxis(filters, 2 + axis, -1)
    rest = moved.shape[2:-1]
    shape = (oc, how.given, ic, how.taken, *rest, how.slide.kernel)
    new = np.zeros(shape, filters.dtype)
    for tap, out, into, at in how.taps():
        new[:, out, :, into, ..., at] = moved[..., tap]
    flat = new.reshape(oc * how.given, ic * how.taken, *rest, how.slide.kernel)
    return np.ascontiguousarray(np.moveaxis(flat, -1, 2 + axis))


def beside(filters: Array, ways: Sequence[FoldedSlide]) -> Array:
    """Filters [oc, ic, *kernel] for each of the places that the first dimensions have folded into
    one, as [places * oc, ic, *kernel]: all outputs of a place one behind the other."""
    outputs = len(filters)
    for axis, how in enumerate(ways):
        filters = folded_filter(filters, axis, how)
    split = filters.reshape(outputs, -1, *filters.shape[1:])
    return np.ascontiguousarray(split.swapaxes(0, 1)).reshape(filters.shape)
