"""Gather, scatter, sort and reduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call, Value
from xdsl_tpu.dialects.interpreters.numerics import indexing
from xdsl_tpu.dialects.interpreters.numerics.normalization import variance
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def gather(call: Call) -> Array:
    """Slices along an axis; a single index without `keepdims` drops the axis."""
    x, indices = call.tensor(), call.tensor(1)
    axis = call.axis(x.ndim)
    out = indexing.gather(x, indices, axis)
    drop = call.has("keepdims") and not call.flag("keepdims")
    if call.shape() is None and drop and indices.size == 1:
        return out.reshape(*x.shape[:axis], *x.shape[axis + 1 :])
    return call.shaped(out)


def gather_elements(call: Call) -> Array:
    """One element per index along an axis; indices of one image may stand for those of all."""
    which, shape = call.tensor(1), call.shape()
    if shape is not None and which.ndim == len(shape):
        which = np.broadcast_to(which, shape)
    return indexing.gather_elements(call.tensor(), which, call.integer("axis"))


def gather_nd(call: Call) -> Array:
    """Slices at positions of several dimensions."""
    return indexing.gather_nd(call.tensor(), call.tensor(1), call.integer("batch_dims"))


def scatter_elements(call: Call) -> Array:
    """The operand with elements replaced along an axis, or added to when `reduction` is set."""
    axis = call.integer("axis")
    reduction = top.ScatterElementsOp.as_scatter_nd(call.integer("reduction"))
    return indexing.scatter_elements(call.tensor(), call.tensor(1), call.tensor(2), axis, reduction)


def scatter_nd(call: Call) -> Array:
    """The operand with slices replaced: reduction 0 none, 1 add, 2 sub, 3 max, 4 min, 5 mul."""
    return indexing.scatter_nd(
        call.tensor(), call.tensor(1), call.tensor(2), call.integer("reduction")
    )


def index_put(call: Call) -> Array:
    """The operand with rows of its first dimension replaced or added to."""
    indices = call.tensor(1).reshape(-1, 1)
    updates = call.tensor(2)
    return indexing.scatter_nd(call.tensor(), indices, updates, int(call.flag("accumulate")))


def arg(call: Call) -> tuple[Value, ...]:
    """Where the extreme is along an axis, and its value."""
    x = call.tensor()
    found = indexing.arg_extreme(
        x,
        call.axis(x.ndim),
        largest=call.text("mode") == "ArgMax",
        last=call.flag("select_last_index"),
        keepdims=call.flag("keepdims"),
    )
    return tuple(call.shaped(value, i) for i, value in enumerate(found))


def sort(call: Call) -> tuple[Value, ...]:
    """Values in order and where they came from."""
    x = call.tensor()
    return indexing.sort(x, call.axis(x.ndim), call.flag("descending"))


def top_k(call: Call) -> tuple[Value, ...]:
    """The k best values and where they came from."""
    x, given = call.tensor(), call.optional(1)
    k = call.integer("K") if given is None else int(given.reshape(-1)[0])
    return indexing.top_k(x, k, call.axis(x.ndim), call.flag("largest"))


def cumulative_sum(call: Call) -> Array:
    """Sums of all elements up to each one along an axis."""
    x = call.tensor()
    return np.cumsum(x, call.axis(x.ndim), dtype=x.dtype)


def non_zero(call: Call) -> Array:
    """Positions of the elements that are not zero."""
    return indexing.non_zero(call.tensor(), call.text("order") == "RowMajor")


Reduction = Callable[[Array, tuple[int, ...] | None, bool], Any]


def _sum(x: Array, axes: tuple[int, ...] | None, keep: bool) -> Any:
    """In f64: numpy adds one by one along all but the last axis, which f32 shows."""
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    return x.sum(axes, dtype=wide, keepdims=keep)


REDUCE: Final[Mapping[str, Reduction]] = {
    "ReduceMin": lambda x, axes, keep: x.min(axes, keepdims=keep),
    "ReduceMax": lambda x, axes, keep: x.max(axes, keepdims=keep),
    "ReduceMean": lambda x, axes, keep: x.mean(axes, dtype=np.float64, keepdims=keep),
    "ReduceSum": _sum,
    "ReduceProd": lambda x, axes, keep: x.prod(axes, keepdims=keep),
    "ReduceL1": lambda x, axes, keep: _sum(np.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: np.sqrt(_sum(np.square(x), axes, keep)),
}


def reduce(call: Call) -> Array:
    """Over `axes` by `mode`."""
    x = call.tensor()
    axes = tuple(call.integers("axes")) or None
    result = np.asarray(REDUCE[call.text("mode")](x, axes, call.flag("keepdims")))
    return call.shaped(result.astype(x.dtype))


def variance_rule(call: Call) -> Array:
    """Over `reduce_list`, divided by the count less `correction`."""
    return call.shaped(
        variance(
            call.tensor(),
            call.integers("reduce_list"),
            call.number("correction"),
            call.flag("keep_dims"),
        )
    )


def ranks(call: Call) -> Array:
    """How many elements of a row come before each; NaN before none and after none."""
    x = call.tensor()
    here, there = x[..., None, :], x[..., :, None]
    more = here > there if call.flag("largest") else here < there
    less = here < there if call.flag("largest") else here > there
    earlier = np.tri(x.shape[-1], k=-1, dtype=np.bool_)
    return np.where(earlier, ~less, more).sum(-1).astype(np.float32)


def ranked(call: Call) -> Array:
    """The elements of the first ranks, in their order."""
    x, order = call.tensor(), call.tensor(1)
    hit = order[..., None, :] == np.arange(call.integer("count"))[:, None]
    return np.where(hit, x[..., None, :], 0).sum(-1)


def best(call: Call) -> Array:
    """The best elements of each row and their numbers, of equal ones the least first."""
    x, count = call.tensor(), call.integer("count")
    given = call.optional(1)
    numbers = np.cumsum(np.ones_like(x), -1) - 1 if given is None else given
    order: Array = np.lexsort((numbers, -x if call.flag("largest") else x), axis=-1)[..., :count]
    parts: dict[str, Array] = {"values": x, "places": numbers.astype(x.dtype)}
    return np.concatenate(
        [np.take_along_axis(part, order, -1) for key, part in parts.items() if call.flag(key)], -1
    )


RULES: Final[Rules] = {
    gather: (top.GatherOp, tpu.GatherOp),
    gather_elements: (top.GatherElementsOp, tpu.GatherElementsOp),
    gather_nd: (top.GatherNDOp, tpu.GatherNDOp),
    scatter_elements: (
        top.ScatterElementsOp,
        tpu.ScatterElementsOp,
        tpu.ShapeScatterElementsOp,
    ),
    scatter_nd: (top.ScatterNDOp, tpu.ScatterNDOp),
    index_put: (top.IndexPutOp, tpu.IndexPutOp),
    arg: (top.ArgOp, tpu.ArgOp),
    sort: (top.SortOp, tpu.SortOp),
    top_k: (top.TopKOp, tpu.TopKOp),
    ranks: (tpu.RankOp,),
    ranked: (tpu.RankedOp,),
    best: (tpu.BestOp,),
    cumulative_sum: (top.CumSumOp, tpu.CumSumOp),
    non_zero: (top.NonZeroOp, tpu.NonZeroOp),
    reduce: (top.ReduceOp, tpu.ReduceOp, tpu.ShapeReduceOp),
    variance_rule: (top.VarianceOp,),
}
