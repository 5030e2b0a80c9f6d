"""Gather, scatter, sort and their relatives. Index arrays may hold whole numbers as floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def as_index(values: Array, size: int) -> npt.NDArray[np.intp]:
    """`values` as positions in a dimension of `size`; negative ones count from the end.

    ValueError when one is outside.
    """
    index = values.astype(np.intp)
    index = np.where(index < 0, index + size, index)
    if index.size and not (index.min() >= 0 and index.max() < size):
        bad = values[(index < 0) | (index >= size)].reshape(-1)[0]
        raise ValueError(f"index {int(bad)} is outside a dimension of {size}")
    return index


def gather(x: Array, indices: Array, axis: int) -> Array:
    """Whole slices of `x` along `axis`, in the shape of `indices`."""
    return np.take(x, as_index(indices, x.shape[axis]), axis)


def gather_elements(x: Array, indices: Array, axis: int) -> Array:
    """`out[i][j][k] = x[indices[i][j][k]][j][k]` for axis 0; `indices` may be smaller than `x`."""
    axis %= x.ndim
    index = as_index(indices, x.shape[axis])
    reach = tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))
    return np.take_along_axis(x[reach], index, axis)


def _nd_index(indices: Array, shape: tuple[int, ...]) -> tuple[npt.NDArray[np.intp], ...]:
    return tuple(as_index(indices[..., i], shape[i]) for i in range(indices.shape[-1]))


def gather_nd(x: Array, indices: Array, batch_dims: int) -> Array:
    """The last dimension of `indices` names a position in `x` behind `batch_dims` batches."""
    if not batch_dims:
        return x[_nd_index(indices, x.shape)]
    batch = x.shape[:batch_dims]
    flat_x = x.reshape(-1, *x.shape[batch_dims:])
    flat_i = indices.reshape(-1, *indices.shape[batch_dims:])
    parts = [one[_nd_index(index, one.shape)] for one, index in zip(flat_x, flat_i, strict=True)]
    return np.stack(parts).reshape(*batch, *parts[0].shape)


REDUCTIONS: Final[Mapping[int, Callable[[Array, Any, Array], None]]] = {
    1: np.add.at,
    2: np.subtract.at,
    3: np.maximum.at,
    4: np.minimum.at,
    5: np.multiply.at,
}


def _store(out: Array, index: Any, updates: Array, reduction: int) -> Array:
    if not reduction:
        out[index] = updates
        return out
    if reduction not in REDUCTIONS:
        raise ValueError(f"there is no scatter reduction {reduction}")
    REDUCTIONS[reduction](out, index, updates)
    return out


def scatter_elements(x: Array, indices: Array, updates: Array, axis: int, reduction: int) -> Array:
    """`x` with `out[indices[i][j]][j] = updates[i][j]` for axis 0 (or combined by `reduction`)."""
    axis %= x.ndim
    here = as_index(indices, x.shape[axis])
    elsewhere = np.indices(indices.shape, sparse=True)
    index = tuple(here if i == axis else grid for i, grid in enumerate(elsewhere))
    return _store(x.copy(), index, updates, reduction)


def scatter_nd(x: Array, indices: Array, updates: Array, reduction: int) -> Array:
    """`x` with `updates` at the positions the last dimension of `indices` names."""
    return _store(x.copy(), _nd_index(indices, x.shape), updates, reduction)


def arg_extreme(
    x: Array, axis: int, largest: bool, last: bool, keepdims: bool
) -> tuple[Array, Array]:
    """Position and value of the extreme along `axis`; among equals the last or first."""
    pick = np.argmax if largest else np.argmin
    if last:
        index = x.shape[axis] - 1 - pick(np.flip(x, axis), axis, keepdims=True)
    else:
        index = pick(x, axis, keepdims=True)
    values = np.take_along_axis(x, index, axis)
    if not keepdims:
        index, values = index.squeeze(axis), values.squeeze(axis)
    return index, values


def sort(x: Array, axis: int, descending: bool) -> tuple[Array, Array]:
    """Values in order and where they came from; equal ones stay in their order."""
    order = x.astype(np.int64) if x.dtype.kind == "i" else x
    index = np.argsort(-order if descending else order, axis, kind="stable")
    return np.take_along_axis(x, index, axis), index


def top_k(x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    """The k largest or smallest along `axis`, best first; among equals the earlier one."""
    values, index = sort(x, axis, largest)
    keep = range(min(k, x.shape[axis]))
    return np.take(values, keep, axis), np.take(index, keep, axis)


def non_zero(x: Array, row_major: bool) -> Array:
    """Positions of non-zero elements: one a row `[count, rank]`, else one a column."""
    places = np.argwhere(x)
    return places if row_major else places.T
