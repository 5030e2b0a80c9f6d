"""Resizing along one axis: every result is an element, or lies between two neighbours."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    def between(
        cls, below: npt.NDArray[np.intp], share: npt.NDArray[np.floating], size: int
    ) -> "Resampling":
        """What lies `share` of the way from the elements `below` to the next ones of `size`."""
        if size == 1:
            return cls((0,) * len(below))
        share = share.astype(np.float32)
        reached = share >= 1 - _ROUNDING
        low, share = np.where(reached, below + 1, below), np.where(reached, 0, share)
        share = np.where(low > size - 2, np.float32(1), share)
        low = np.minimum(low, size - 2)
        if np.all(np.minimum(share, 1 - share) <= _ROUNDING):
            return cls(tuple(int(n) for n in low + (share > 0.5)))
        return cls(tuple(int(n) for n in low), tuple(float(part) for part in share))

    @property
    def reach(self) -> int:
        """How many neighbours a result is made of, at most."""
        return 2 if self.shares else 1
