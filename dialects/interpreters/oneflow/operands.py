"""Operands by name, and tensors with their channels where the numerics want them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.call import Call, Value
from xdsl_tpu.dialects.oneflow import OneFlowOp
from xdsl_tpu.dialects.oneflow.base import CHANNELS_FIRST

Array = npt.NDArray[Any]


def named(call: Call, name: str) -> Value:
    """The operand declared as `name`, or None when it is absent."""
    index = cast(OneFlowOp, call.op).operand_index(name)
    return None if index is None else call.values[index]


def plus_rest(call: Call, out: Array) -> Array:
    """`out` plus the operand `_add_to_output`, if there."""
    more = named(call, "add_to_output")
    return out if more is None else out + more


def channels_last(call: Call) -> bool:
    """Whether `data_format` puts channels behind."""
    return call.text("data_format") != CHANNELS_FIRST


def to_first(x: Array, axis: int) -> Array:
    """`x` with dimension `axis` second."""
    return np.ascontiguousarray(np.moveaxis(x, axis, 1))


def along(values: Array, rank: int, axis: int) -> Array:
    """A vector as a tensor of `rank` that varies along `axis` only."""
    return values.reshape([-1 if dimension == axis else 1 for dimension in range(rank)])
