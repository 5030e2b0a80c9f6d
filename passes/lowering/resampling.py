"""Resizing along one axis: every result is an element, or lies between two neighbours."""

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
