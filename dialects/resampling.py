"""Resizing along one axis, where neighbours are read in equal groups."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Results start + i * length + k are made at first + i * step, for i < count, k < length."""

    start: int
    first: int
    count: int
    length: int
    step: int


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
        value = first[start]
        if runs and runs[-1].length == length:
            last = runs[-1]
            step = last.step if last.count > 1 else value - last.first
            if step > 0 and value == last.first + last.count * step:
                runs[-1] = Run(last.start, last.first, last.count + 1, length, step)
                continue
        runs.append(Run(start, value, 1, length, 0))
    return runs
