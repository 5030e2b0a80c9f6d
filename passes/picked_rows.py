"""Elements that constants pick from rows: how a `tpu.GatherElements` does it in the lanes."""

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import IntegerType

from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.tpu.gather import PLACES

LONGEST_ROW = 1 << 16
"""Elements that indices of 16 bits can tell apart."""

PICKED = 4
"""One of so many elements of a row, at least, is worth having the whole row in local memory, where
it mostly is already."""


@record(frozen=True)
class Picked:
    """What is picked from: (images, rows, elements); from where in each row, and the type of that.

    Images share places, where these are one for all.
    """

    shape: Shape
    places: npt.NDArray[Any]
    element: IntegerType

    @property
    def result(self) -> Shape:
        """What is picked."""
        return *self.shape[:2], self.places.shape[-1]


def picked(shape: Shape, places: npt.NDArray[Any], lanes: int) -> Picked | None:
    """Of every row of a value, whose last dimension it is, the elements at its `places`: (images or
    1, rows, picked) without any from the end. Images share them if their rows fill the lanes.

    None where a row is too long, or too little of it is picked.
    """
    *outer, size = shape
    rows, count = places.shape[1:]
    if size > LONGEST_ROW or count * PICKED < size:
        return None
    seen = prod(outer) // rows, rows, size
    if (places == places[:1]).all() and rows >= lanes:
        places = places[:1]
    else:
        seen = 1, prod(outer), size
        places = np.broadcast_to(places, (prod(outer) // rows, rows, count))
        places = places.reshape(1, prod(outer), count)
    return Picked(seen, places, PLACES[int(places.max(initial=0)) >> 8 > 0])
