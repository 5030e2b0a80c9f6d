"""Convolutions whose taps lie further apart than a command can say.

Elements that are p apart are the rows of p smaller images: a dilation of p q over one image is one
of q over those. A line needs no images of its own: written in rows of p its taps lie below each
other, and nothing moves. Taps that meet padding only are left out first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.tensors import element_of, shape_of


@dataclass(frozen=True)
class Window:
    """How a filter slides over one dimension of its input."""

    kernel: int
    stride: int
    before: int
    after: int
    dilation: int

    @property
    def reach(self) -> int:
        """Input elements between the first and the last tap."""
        return (self.kernel - 1) * self.dilation

    def positions(self, size: int) -> int:
        """Outputs along an input of `size`."""
        return (size + self.before + self.after - self.reach - 1) // self.stride + 1

    @property
    def is_far(self) -> bool:
        """Whether its taps lie too far apart."""
        return self.kernel > 1 and self.dilation > LIMITS.dilation


NO_WINDOW = Window(1, 1, 0, 0, 1)
"""That of a dimension that a filter does not reach along."""


def without_idle_taps(
    weights: Array, windows: Sequence[Window], sizes: Sequence[int]
) -> tuple[Array, list[Window]]:
    """Filter and windows without the first and last taps that meet nothing but padding.

    `sizes` are those of the input's spatial dimensions. Only far windows are looked at.
    """
    left: list[Window] = []
    for index, (window, size) in enumerate(zip(windows, sizes, strict=True)):
        if not window.is_far:
            left.append(window)
            continue
        last = (window.positions(size) - 1) * window.stride
        taps = np.arange(window.kernel) * window.dilation - window.before
        used = np.flatnonzero((taps < size) & (taps + last >= 0))
        first, end = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 1)
        weights = np.ascontiguousarray(weights.take(range(first, end), 2 + index))
        cut = first * window.dilation, (window.kernel - end) * window.dilation
        left.append(
            replace(
                window,
                kernel=end - first,
                before=window.before - cut[0],
                after=window.after - cut[1],
                dilation=window.dilation if end - first > 1 else 1,
            )
        )
    return weights, left


@dataclass(frozen=True)
class Line:
    """An image of one dimension that a window slides along, in rows of so many elements."""

    window: Window
    columns: int


def line_of(shape: Sequence[int], windows: Sequence[Window]) -> Line | None:
    """The line that (N, C, spatial) is, in rows that bring taps near which a command cannot reach.

    None if there is none: one window is dilated too far or behind too much padding, by steps of
    1, and the others have nothing to slide over. Padding in front must be whole rows; a row that
    divides the line is best, as nothing has to be filled then.
    """
    wide = [window for window in windows if _is_wide(window)]
    if len(wide) != 1 or wide[0].stride > 1 or min(wide[0].before, wide[0].after) < 0:
        return None
    window, size = wide[0], prod(shape[2:])
    others = [(n, w) for n, w in zip(shape[2:], windows, strict=True) if w is not window]
    if any(other != (1, NO_WINDOW) for other in others):
        return None
    fits = [
        p
        for p in range(2, window.dilation + 1)
        if not window.dilation % p
        and not window.before % p
        and window.dilation // p <= LIMITS.dilation
        and max(window.before, window.after) <= LIMITS.padding * p
    ]
    columns = min(fits, key=lambda p: (size % p > 0, p), default=None)
    return None if columns is None else Line(window, columns)


def _is_wide(window: Window) -> bool:
    padding = max(window.before, window.after)
    return window.is_far or (window.dilation > 1 and padding > LIMITS.padding)


def in_rows(
    do: Steps,
    x: SSAValue,
    element: Attribute,
    line: Line,
    convolve: Callable[[SSAValue, list[Window]], SSAValue],
) -> SSAValue:
    """`convolve` on (N, C, rows, columns) of a line (N, C, spatial) of `element`:
    (N, OC, places, 1)."""
    n, c, *spatial = shape_of(x)
    none, size, window, columns = [do.ctx.none()] * 4, prod(spatial), line.window, line.columns
    rows = -(-size // columns)
    if rows * columns > size:
        x = do.reshaped("line", x, (n, c, 1, size), element)
        paddings, whole = [0] * 7 + [rows * columns - size], (n, c, 1, rows * columns)
        x = do.step("filled", tpu.PadOp, [x, *none], whole, element, paddings=paddings, val=0.0)
    x = do.reshaped("rows", x, (n, c, rows, columns), element)
    inner = replace(
        window,
        before=window.before // columns,
        after=-(-window.after // columns),
        dilation=window.dilation // columns,
    )
    y = convolve(x, [inner, NO_WINDOW])
    element, (_, channels, high, _) = element_of(y), shape_of(y)
    y = do.reshaped("places", y, (n, channels, high * columns, 1), element)
    part = [n, channels, window.positions(size), 1]
    if part[2] == high * columns:
        return y
    options = {"offset": [0] * 4, "ends": part, "steps": [1] * 4}
    return do.step("kept", tpu.SliceOp, [y, *none], part, element, **options)


def padded(
    do: Steps,
    label: str,
    x: SSAValue,
    element: Attribute,
    ends: Sequence[Sequence[int]],
    shape: Sequence[int],
) -> SSAValue:
    """x with so many zeros before and behind it along every dimension."""
    none, paddings = [do.ctx.none()] * 4, [n for end in ends for n in end]
    return do.step(label, tpu.PadOp, [x, *none], shape, element, paddings=paddings, val=0.0)


def sliced(
    do: Steps,
    label: str,
    x: SSAValue,
    element: Attribute,
    offsets: Sequence[int],
    steps: Sequence[int],
    shape: Sequence[int],
) -> SSAValue:
    """Part of x, of a shape: from offsets on, by steps."""
    ends = [o + (n - 1) * s + 1 for o, n, s in zip(offsets, shape, steps, strict=True)]
    none = [do.ctx.none()] * 4
    options = {"offset": list(offsets), "ends": ends, "steps": list(steps)}
    return do.step(label, tpu.SliceOp, [x, *none], shape, element, **options)


def images_of(window: Window) -> int:
    """Into how many images a far window takes its dimension apart."""
    return next(
        p
        for p in range(2, window.dilation + 1)
        if not window.dilation % p and window.dilation // p <= LIMITS.dilation
    )


def padding_of_images(window: Window) -> tuple[int, int]:
    """How much of a far window's padding its images have as theirs, in elements of all of them."""
    count = images_of(window)
    before, after = (
        min(max(0, pad) // count, LIMITS.padding) * count for pad in (window.before, window.after)
    )
    return before, after


@dataclass(frozen=True)
class _Phases:
    """How one axis was taken apart."""

    axis: int
    count: int
    stride: int
    positions: int


def phased(
    do: Steps,
    x: SSAValue,
    element: Attribute,
    windows: Sequence[Window],
    convolve: Callable[[SSAValue, list[Window]], SSAValue],
) -> SSAValue:
    """`convolve` on images of every p-th row and column of `element`, put together again.

    Along far windows `x` (N, C, spatial) has all padding written out that is not its images'.
    """
    inner, apart = list(windows), list[_Phases]()
    for index, window in enumerate(windows):
        if not window.is_far:
            continue
        count = images_of(window)
        places = window.positions(shape_of(x)[2 + index])
        apart.append(_Phases(2 + index, count, window.stride, places))
        x = _taken_apart(do, x, element, apart[-1])
        inner[index] = replace(
            window,
            stride=1,
            before=window.before // count,
            after=window.after // count,
            dilation=window.dilation // count,
        )
    y = convolve(x, inner)
    for phases in reversed(apart):
        y = _put_together(do, y, phases)
    return y


def _taken_apart(do: Steps, x: SSAValue, element: Attribute, phases: _Phases) -> SSAValue:
    """(N, .., L, ..) -> (N p, .., L / p, ..), zeros behind the last row."""
    axis, count = phases.axis, phases.count
    shape = list(shape_of(x))
    rows = -(-shape[axis] // count)
    if rest := rows * count - shape[axis]:
        paddings = [0] * 2 * len(shape)
        paddings[len(shape) + axis] = rest
        shape[axis] += rest
        none = [do.ctx.none()] * 4
        x = do.step(
            f"filled{axis}", tpu.PadOp, [x, *none], shape, element, paddings=paddings, val=0.0
        )
    split = (*shape[:axis], rows, count, *shape[axis + 1 :])
    x = do.reshaped(f"split{axis}", x, split, element)
    order = [0, axis + 1, *(a for a in range(1, len(split)) if a != axis + 1)]
    moved = [split[a] for a in order]
    x = do.step(f"phases{axis}", tpu.PermuteOp, [x], moved, element, order=order)
    return do.reshaped(f"images{axis}", x, (moved[0] * count, *moved[2:]), element)


def _put_together(do: Steps, y: SSAValue, phases: _Phases) -> SSAValue:
    """(N p, .., L', ..) -> (N, .., positions, ..): every stride-th of L' p places."""
    element, axis, count = element_of(y), phases.axis, phases.count
    shape = list(shape_of(y))
    split = [shape[0] // count, count, *shape[1:]]
    y = do.reshaped(f"parts{axis}", y, split, element)
    order = [0, *range(2, axis + 2), 1, *range(axis + 2, len(split))]
    moved = [split[a] for a in order]
    y = do.step(f"joined{axis}", tpu.PermuteOp, [y], moved, element, order=order)
    whole = [*moved[:axis], moved[axis] * count, *moved[axis + 2 :]]
    y = do.reshaped(f"places{axis}", y, whole, element)
    part = [*whole[:axis], phases.positions, *whole[axis + 1 :]]
    steps = [phases.stride if a == axis else 1 for a in range(len(part))]
    if part == whole:
        return y
    ends = [(n - 1) * s + 1 for n, s in zip(part, steps, strict=True)]
    none = [do.ctx.none()] * 4
    options = {"offset": [0] * len(part), "ends": ends, "steps": steps}
    return do.step(f"kept{axis}", tpu.SliceOp, [y, *none], part, element, **options)
