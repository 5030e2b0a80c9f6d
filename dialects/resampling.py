"""Resizing along one axis, where what many results are made of can be said at once."""

from collections.abc import Sequence

from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class Run:
    """Results start + i * by + k are made at first + i * step, for i < count, k < length <= by."""

    start: int
    first: int
    count: int
    length: int
    by: int
    step: int

    def next(self, start: int, first: int) -> "Run | None":
        """With one more group of the same length, if it goes on as the others do."""
        if self.count == 1:
            by, step = start - self.start, first - self.first
        else:
            by, step = self.by, self.step
        expected = self.start + self.count * by, self.first + self.count * step
        if step <= 0 or by < self.length or (start, first) != expected:
            return None
        return Run(self.start, self.first, self.count + 1, self.length, by, step)


def runs_of(first: Sequence[int]) -> list[Run]:
    """The results in their order, as few runs of equal groups as a look ahead finds.

    >>> [(run.start, run.count, run.length) for run in runs_of([0, 0, 0, 1, 1, 2, 2])]
    [(0, 1, 3), (3, 2, 2)]
    """
    groups: list[list[int]] = []
    for place, value in enumerate(first):
        if groups and first[groups[-1][0]] == value:
            groups[-1][1] += 1
        else:
            groups.append([place, 1])
    runs: list[Run] = []
    for start, length in groups:
        longer = runs[-1].next(start, first[start]) if runs else None
        if longer is not None and longer.length == longer.by == length:
            runs[-1] = longer
        else:
            runs.append(Run(start, first[start], 1, length, length, 0))
    return runs


def progressions_of(first: Sequence[int], by: int) -> list[Run]:
    """Every `by`-th result, as long as they are made of elements equally far apart.

    >>> [(run.start, run.count, run.step) for run in progressions_of([0, 0, 1, 1, 2, 3, 3], 2)]
    [(0, 4, 1), (1, 2, 1), (5, 1, 0)]
    """
    runs: list[Run] = []
    for offset in range(min(by, len(first))):
        values = first[offset::by]
        start = 0
        while start < len(values):
            step, end = 0, start + 1
            if end < len(values) and values[end] > values[start]:
                step = values[end] - values[start]
                while end < len(values) and values[end] - values[end - 1] == step:
                    end += 1
            runs.append(Run(offset + start * by, values[start], end - start, 1, by, step))
            start = end
    return runs
