"""Resizing along one axis: every result is an element, or lies between two neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.floating]

_ROUNDING = 2e-6
"""How far from a whole number positions computed in f32 may be."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """Result j is x[first[j]] + shares[j] * (x[first[j] + 1] - x[first[j]]).

    Without shares it is x[first[j]].
    """

    first: tuple[int, ...]
    shares: tuple[float, ...] = ()

    @classmethod
    def of(cls, matrix: Matrix) -> "Resampling | None":
        """What a product with `matrix` (size, results) computes.

        None where a result has more terms, or terms that do not add up to 1.
        """
        size = matrix.shape[0]
        if size == 1:
            return cls((0,) * matrix.shape[1]) if np.all(matrix == 1) else None
        low = np.clip(np.argmax(np.abs(matrix) > _ROUNDING, axis=0), 0, size - 2)
        here = np.take_along_axis(matrix, low[None], 0)[0]
        beside = np.take_along_axis(matrix, low[None] + 1, 0)[0]
        other = np.abs(matrix).sum(axis=0) - np.abs(here) - np.abs(beside)
        if max(np.abs(other).max(), np.abs(here + beside - 1).max()) > _ROUNDING * size:
            return None
        if np.all(np.minimum(np.abs(here), np.abs(beside)) <= _ROUNDING):
            return cls(tuple(int(n) for n in low + (np.abs(beside) > 0.5)))
        return cls(tuple(int(n) for n in low), tuple(float(share) for share in beside))

    @property
    def reach(self) -> int:
        """How many neighbours a result is made of, at most."""
        return 2 if self.shares else 1


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
