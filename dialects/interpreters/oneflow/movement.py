"""Ops that move elements, and reductions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def transpose(call: Call) -> Array:
    """Dimensions in the order `perm`."""
    return np.ascontiguousarray(call.tensor().transpose(call.integers("perm")))


def view(call: Call) -> Array:
    """The same elements in the shape of the result."""
    shape = call.shape()
    if shape is None:
        raise ValueError("its result has no static shape")
    return call.tensor().reshape(shape)


def concatenate(call: Call) -> Array:
    """Operands one behind the other along `axis`."""
    tensors = call.tensors()
    return np.concatenate(tensors, call.axis(tensors[0].ndim))


def narrow(call: Call) -> Array:
    """Some indices of one dimension."""
    x, start = call.tensor(), call.integer("start")
    dim = call.axis(x.ndim, "dim")
    return np.take(x, range(start, start + call.integer("length")), dim)


def _axes(call: Call) -> tuple[int, ...]:
    return tuple(call.integers("axis")) or tuple(range(call.tensor().ndim))


def total(call: Call) -> Array:
    """Sums."""
    return call.shaped(call.tensor().sum(_axes(call), keepdims=call.flag("keepdims")))


def mean(call: Call) -> Array:
    """Means."""
    return call.shaped(call.tensor().mean(_axes(call), keepdims=call.flag("keepdims")))


def largest(call: Call) -> Array:
    """Maxima."""
    return call.shaped(call.tensor().max(_axes(call), keepdims=call.flag("keepdims")))


RULES: Final[Rules] = {
    transpose: (oneflow.TransposeOp,),
    view: (oneflow.ReshapeOp, oneflow.FlattenOp, oneflow.SqueezeOp, oneflow.ExpandDimsOp),
    concatenate: (oneflow.CatOp,),
    narrow: (oneflow.NarrowOp,),
    total: (oneflow.ReduceSumOp,),
    mean: (oneflow.ReduceMeanOp,),
    largest: (oneflow.ReduceMaxOp,),
}
