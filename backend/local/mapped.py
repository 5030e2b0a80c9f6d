"""Loads that read a value by an index map, as the vendor writes a slice of an operand."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from xdsl_tpu.backend.kernels.support import DdrValue, where
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel


def mapped(load: tpu.LoadOp, source: DdrValue) -> DdrValue:
    """The elements of `source` that a Load brings, whose map says where in it each of the result
    lies; as it is without such a map.

    Raises NoKernel when they do not lie together, in the order of the result.
    """
    if not load.reads_elsewhere:
        return source
    assert load.indexing_map_s2l is not None
    shape = load.output.type.get_shape()
    places = [np.asarray(axis) for axis in np.indices(shape)]
    flat = np.zeros(shape, dtype=np.int64)
    found = load.indexing_map_s2l.data.eval(cast(Sequence[int], places), ())
    for size, index in zip(source.shape, found, strict=True):
        if np.min(index) < 0 or np.max(index) >= size:
            raise NoKernel(f"{where(load)}: its map leads outside {source.shape}")
        flat = flat * size + index
    first = int(flat.flat[0])
    if not np.array_equal(flat.ravel(), first + np.arange(flat.size)):
        raise NoKernel(f"{where(load)}: its map takes elements that do not lie together in DDR")
    return DdrValue(source.address + first * source.dtype.bytes, shape, source.dtype)
