"""Constants: arrays of the weight file as values of the ops that name them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.call import where
from xdsl_tpu.dialects.interpreters.elements import decode_stored, static_shape
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow import VariableIROp

Array = npt.NDArray[Any]


def elements_of(op: VariableIROp) -> npt.NDArray[np.float32]:
    """The numbers that the text of a variable_ir gives."""
    values = np.array(list(op.value.get_values()), np.float32)
    return np.broadcast_to(values, np.prod(op.value.type.get_shape(), dtype=int)).reshape(
        op.value.type.get_shape()
    )


def stored_value(op: Operation, weights: Mapping[str, Array]) -> Array:
    """The stored array of a weight as values of its type.

    Raises:
        TpuError: the op has no name, or its data is missing or of another size.
    """
    name = name_of(op)
    if name is None:
        raise TpuError(f"{where(op)}: a weight is found by its name, and this one has none")
    if name not in weights:
        raise TpuError(
            f"{where(op)}: there is no weight of that name; use the weights made with this module"
        )
    stored = weights[name]
    shape = static_shape(op.results[0].type)
    if shape is None:
        raise TpuError(f"{where(op)}: a weight needs a static shape, not {op.results[0].type}")
    if stored.size != math.prod(shape):
        raise TpuError(
            f"{where(op)}: its type says {'x'.join(map(str, shape))}, "
            f"the stored array is {'x'.join(map(str, stored.shape))}"
        )
    return decode_stored(stored.reshape(shape), op.results[0].type)
