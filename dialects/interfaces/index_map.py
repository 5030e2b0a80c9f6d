"""Where the elements of a value come from: an algebra of strided boxes.

Movement ops (Reshape, Permute, Roll, space to depth, ...) compute nothing; each says for every
element of its result which element of its operand it is. Both sides are counted row-major, so a
Reshape changes nothing at all. An `IndexMap` is a list of boxes, each an arithmetic pattern on
both sides, and boxes are closed under composition: a chain of movement ops of any length is one
map, without anything in between.

Composition intersects two arithmetic patterns over the elements in the middle. Digits of both are
compared from the largest stride down: equal strides overlap in an interval, a stride that divides
the other splits its digit, two last digits meet where Euclid says, and what is left is enumerated.
So it always succeeds, and only patterns that have no common grid come out in many boxes. See
CuTe's layouts (arXiv 2603.02298) for the same without offsets and pieces, and tinygrad's views.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from math import gcd, prod

from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True, order=True)
class Digit:
    """One loop of a box: `extent` steps of `to` elements in the result, of `at` in the source."""

    extent: int
    to: int
    at: int


@record(frozen=True, slots=True)
class Box:
    """Elements `to` + sum(i * digit.to) of the result are `at` + sum(i * digit.at) of the source.

    Every i counts from 0 to its digit's extent. Strides of the result are positive once
    `simplified`; a stride of 0 in the source repeats elements, a negative one reads backwards.
    """

    to: int
    at: int
    digits: tuple[Digit, ...]

    @property
    def size(self) -> int:
        """Elements of the result."""
        return prod(digit.extent for digit in self.digits)

    def points(self) -> Iterator[tuple[int, int]]:
        """(result, source) of every element."""
        for index in product(*(range(digit.extent) for digit in self.digits)):
            pairs = list(zip(index, self.digits, strict=True))
            yield (
                self.to + sum(i * digit.to for i, digit in pairs),
                self.at + sum(i * digit.at for i, digit in pairs),
            )

    def simplified(self) -> "Box":
        """The same pattern with the fewest digits, the largest result stride first."""
        to, at = self.to, self.at
        digits: list[Digit] = []
        for digit in self.digits:
            if digit.extent == 1:
                continue
            if digit.to < 0:
                last = digit.extent - 1
                to, at = to + last * digit.to, at + last * digit.at
                digit = Digit(digit.extent, -digit.to, -digit.at)
            digits.append(digit)
        digits.sort(key=lambda digit: -digit.to)
        merged: list[Digit] = []
        for digit in digits:
            outer = merged[-1] if merged else None
            if outer and (outer.to, outer.at) == (digit.extent * digit.to, digit.extent * digit.at):
                merged[-1] = Digit(outer.extent * digit.extent, digit.to, digit.at)
            else:
                merged.append(digit)
        return Box(to, at, tuple(merged))


@record(frozen=True, slots=True)
class IndexMap:
    """Boxes that together give every element of a result once."""

    boxes: tuple[Box, ...]

    @staticmethod
    def identity(size: int) -> "IndexMap":
        """A value as it is, or reshaped."""
        return IndexMap((Box(0, 0, (Digit(size, 1, 1),)).simplified(),))

    @staticmethod
    def permuted(shape: Sequence[int], order: Sequence[int]) -> "IndexMap":
        """Axis i of the result is axis order[i] of the source, whose shape is `shape`."""
        at = row_major(shape)
        to = row_major([shape[axis] for axis in order])
        digits = [Digit(shape[axis], to[i], at[axis]) for i, axis in enumerate(order)]
        return IndexMap((Box(0, 0, tuple(digits)).simplified(),))

    @staticmethod
    def rolled(shape: Sequence[int], offsets: Sequence[int]) -> "IndexMap":
        """Element i of an axis of the result is element (i + offset) mod size of the source."""
        strides = row_major(shape)
        parts: list[list[tuple[int, int, int]]] = []
        for size, offset in zip(shape, offsets, strict=True):
            first = offset % size
            cut = [(0, first, size - first), (size - first, 0, first)]
            parts.append([part for part in cut if part[2]])
        boxes: list[Box] = []
        for choice in product(*parts):
            axes = list(zip(choice, strides, strict=True))
            to = sum(start * stride for (start, _, _), stride in axes)
            at = sum(start * stride for (_, start, _), stride in axes)
            digits = tuple(Digit(size, stride, stride) for (_, _, size), stride in axes)
            boxes.append(Box(to, at, digits).simplified())
        return IndexMap(tuple(boxes))

    def after(self, inner: "IndexMap") -> "IndexMap":
        """This map of what `inner` gives, as one map of inner's source.

        `inner` must give every element that this map reads.
        """
        found = (box for a in self.boxes for b in inner.boxes for box in _joined(a, b))
        return IndexMap(tuple(gathered(found)))

    def inverse(self) -> "IndexMap":
        """The elements of the result by those of the source, of which each is read once at most."""
        return IndexMap(
            tuple(
                Box(
                    box.at, box.to, tuple(Digit(d.extent, d.at, d.to) for d in box.digits)
                ).simplified()
                for box in self.boxes
            )
        )

    def in_rows(self, width: int) -> "IndexMap | None":
        """This map counted in rows of `width` elements; None where it moves less than a row."""
        boxes = [_row_box(box, width) for box in self.boxes]
        if None in boxes:
            return None
        return IndexMap(tuple(box for box in boxes if box is not None))

    def keeps_images(self, images: int, made: int, read: int) -> bool:
        """Whether each of `images`, `made` elements of the result one behind the other, comes from
        `read` elements of the source in the same place, in the order that all do."""
        return all(_keeps_images(box, images, made, read) for box in self.boxes)

    def of_rows(self, width: int) -> "IndexMap":
        """The map of elements of a map of rows of `width` of them."""
        boxes: list[Box] = []
        for box in self.boxes:
            digits = [Digit(d.extent, d.to * width, d.at * width) for d in box.digits]
            wide = Box(box.to * width, box.at * width, (*digits, Digit(width, 1, 1)))
            boxes.append(wide.simplified())
        return IndexMap(tuple(boxes))


def _row_box(box: Box, width: int) -> Box | None:
    """A box of whole rows, counted in rows."""
    if box.to % width or box.at % width:
        return None
    digits: list[Digit] = []
    whole = width == 1
    for digit in box.digits:
        if digit.to % width == 0 and digit.at % width == 0:
            digits.append(Digit(digit.extent, digit.to // width, digit.at // width))
        elif (digit.to, digit.at) == (1, 1) and digit.extent % width == 0:
            digits.append(Digit(digit.extent // width, 1, 1))
            whole = True
        else:
            return None
    return Box(box.to // width, box.at // width, tuple(digits)).simplified() if whole else None


def _keeps_images(box: Box, images: int, made: int, read: int) -> bool:
    """Whether a box does so; it does the same in every image."""
    last, low, high = box.to, box.at, box.at
    for digit in box.digits:
        extent = digit.extent
        if digit.to >= made or extent * digit.to > made:
            inner = max(1, made // digit.to)
            each = inner * digit.to, inner * digit.at
            if each != (made, read) or extent % inner:
                return False
            images, extent = images // (extent // inner), inner
        reach = (extent - 1) * digit.at
        last += (extent - 1) * digit.to
        low, high = low + min(0, reach), high + max(0, reach)
    return images == 1 and last < made and low >= 0 and high < read


def row_major(shape: Sequence[int]) -> list[int]:
    """Element strides of a contiguous tensor."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


_Loop = tuple[int, int, int]
"""Extent, stride in the middle (positive), stride on the far side."""

_Meeting = tuple[int, int, tuple[Digit, ...]]
"""Offsets on both far sides, and digits, of a box of common elements."""


def _joined(outer: Box, inner: Box) -> Iterator[Box]:
    """Boxes of the elements that `outer` reads and `inner` gives."""
    to, middle, loops, repeats = outer.to, outer.at, list[_Loop](), list[Digit]()
    for digit in outer.digits:
        if digit.at == 0:
            repeats.append(Digit(digit.extent, digit.to, 0))
            continue
        step = digit.to
        if digit.at < 0:
            last = digit.extent - 1
            to, middle, step = to + last * digit.to, middle + last * digit.at, -digit.to
        loops.append((digit.extent, abs(digit.at), step))
    given = [(digit.extent, digit.to, digit.at) for digit in inner.digits]
    loops.sort(key=lambda loop: -loop[1])
    given.sort(key=lambda loop: -loop[1])
    for far, near, digits in _meet(inner.to - middle, tuple(loops), tuple(given)):
        yield Box(to + far, inner.at + near, (*repeats, *digits)).simplified()


def _span(loops: Iterable[_Loop]) -> int:
    """The largest value of a sum of loops."""
    return sum((extent - 1) * stride for extent, stride, _ in loops)


def _meet(delta: int, left: tuple[_Loop, ...], right: tuple[_Loop, ...]) -> Iterator[_Meeting]:
    """All (i, j) with sum(i * left) = delta + sum(j * right), as boxes."""
    if not -_span(right) <= delta <= _span(left):
        return
    if not left and not right:
        yield 0, 0, ()
    elif len(left) == len(right) == 1:
        yield from _line(delta, left[0], right[0])
    elif not right or (left and left[0][1] > right[0][1]):
        yield from _larger(delta, left, right)
    elif not left or right[0][1] > left[0][1]:
        for far, near, digits in _larger(-delta, right, left):
            yield near, far, tuple(Digit(d.extent, d.at, d.to) for d in digits)
    else:
        yield from _equal(delta, left, right)


def _line(delta: int, left: _Loop, right: _Loop) -> Iterator[_Meeting]:
    """One loop on each side: i * s = delta + j * t, by Euclid's algorithm."""
    (count, s, to), (other, t, at) = left, right
    common = gcd(s, t)
    if delta % common:
        return
    step_i, step_j = t // common, s // common
    first = (delta // common * pow(step_j, -1, step_i)) % step_i if step_i > 1 else 0
    j = (first * s - delta) // t
    skip = max(0, -(j // step_j))  # rounds up: the first j that is not negative
    first, j = first + skip * step_i, j + skip * step_j
    length = min((count - 1 - first) // step_i, (other - 1 - j) // step_j) + 1
    if length > 0:
        yield first * to, j * at, (Digit(length, step_i * to, step_j * at),)


def _equal(delta: int, left: tuple[_Loop, ...], right: tuple[_Loop, ...]) -> Iterator[_Meeting]:
    """The largest strides are one: both loops run side by side, c steps apart."""
    (count, stride, to), (other, _, at) = left[0], right[0]
    low, high = delta - _span(left[1:]), delta + _span(right[1:])
    for c in range(max(-(-low // stride), 1 - other), min(high // stride, count - 1) + 1):
        i = max(0, c)
        length = min(count, other + c) - i
        for far, near, digits in _meet(delta - c * stride, left[1:], right[1:]):
            yield far + i * to, near + (i - c) * at, (Digit(length, to, at), *digits)


def _larger(delta: int, left: tuple[_Loop, ...], right: tuple[_Loop, ...]) -> Iterator[_Meeting]:
    """The largest stride is left's: the right loop is split to have it, or left is enumerated."""
    (count, stride, to), rest = left[0], left[1:]
    if right and stride % right[0][1] == 0 and right[0][0] > stride // right[0][1]:
        (other, small, at), below = right[0], right[1:]
        ratio = stride // small
        rounds, tail = divmod(other, ratio)
        whole = ((rounds, stride, ratio * at), (ratio, small, at), *below)
        yield from _meet(delta, left, whole)
        if tail:
            done = rounds * ratio
            for far, near, digits in _meet(delta + done * small, left, ((tail, small, at), *below)):
                yield far, near + done * at, digits
        return
    low, high = delta - _span(rest), delta + _span(right)
    for i in range(max(0, -(-low // stride)), min(count - 1, high // stride) + 1):
        for far, near, digits in _meet(delta - i * stride, rest, right):
            yield far + i * to, near, digits


def gathered(boxes: Iterable[Box]) -> Iterator[Box]:
    """Boxes alike at equal distances become one with another digit."""
    found = list(boxes)
    while True:
        alike: dict[tuple[Digit, ...], list[tuple[int, int]]] = {}
        for box in found:
            alike.setdefault(box.digits, []).append((box.to, box.at))
        fewer = [
            Box(to, at, (Digit(count, *step), *digits)).simplified()
            for digits, places in alike.items()
            for to, at, count, step in _progressions(sorted(places))
        ]
        if len(fewer) == len(found):
            yield from found
            return
        found = fewer


def _progressions(
    places: Sequence[tuple[int, int]],
) -> Iterator[tuple[int, int, int, tuple[int, int]]]:
    """Cut a sequence of (to, at) into arithmetic ones: first to and at, count, steps."""
    first = 0
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places)]
    while first < len(places):
        last = first
        while last < len(steps) and steps[last] == steps[first]:
            last += 1
        # Two places are always a progression; the second may begin a longer one.
        if last == first + 1 and last + 1 < len(steps) and steps[last] == steps[last + 1]:
            last = first
        count = last - first + 1
        yield (*places[first], count, steps[first] if count > 1 else (0, 0))
        first = last + 1
