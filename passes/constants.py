"""Weights inside patterns: read the numbers of one, make another.

The numbers live in the module's npz file. A module that names no such file (IR written by hand)
has weights of known type and unknown value: `values_of` then gives None and a pattern that needs
them does not match.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import is_integer_element, is_integer_tensor
from xdsl_tpu.dialects.interfaces.shape import constants_from
from xdsl_tpu.dialects.top import WeightOp
from xdsl_tpu.dialects.weights import Weights, as_float32, known_weights, weights_of
from xdsl_tpu.passes.graph import module_of, producer
from xdsl_tpu.passes.tensors import element_of, required_name, shape_of

Floats = npt.NDArray[np.float32]


def values_of(value: SSAValue) -> Floats | None:
    """The numbers of a weight of floats, in its type's shape; None of anything that is not known.

    Raises:
        TpuError: the weight file is missing, or has no array of this name.
    """
    if is_integer_tensor(value) or (array := _stored(value)) is None:
        return None
    return as_float32(array, element_of(value)).reshape(shape_of(value))


def is_known(value: SSAValue) -> bool:
    """Whether `values_of` has numbers of it, without reading them."""
    weight = None if is_integer_tensor(value) else producer(value, WeightOp)
    return weight is not None and known_weights(module_of(weight)) is not None


def known_values(value: SSAValue) -> Floats:
    """The numbers of a value of which `is_known` is true; raises TpuError as `values_of`."""
    values = values_of(value)
    assert values is not None
    return values


def whole_numbers_of(value: SSAValue) -> npt.NDArray[np.int64] | None:
    """The numbers of a weight of integers, or of floats that are to be used as such.

    None of anything that is not known. Raises TpuError as `values_of`.
    """
    floats = values_of(value)
    array = _stored(value) if floats is None else floats
    return None if array is None else array.astype(np.int64).reshape(shape_of(value))


def constant_of(value: SSAValue) -> npt.NDArray[np.generic] | None:
    """The numbers of a weight as the interpreter takes them: int32 or float32."""
    if not is_integer_tensor(value):
        return values_of(value)
    whole = whole_numbers_of(value)
    return None if whole is None else whole.astype(np.int32)


def number_of(value: SSAValue) -> float | None:
    """The number in a weight of one element; None of anything else."""
    if not isinstance(value.owner, WeightOp) or int(np.prod(shape_of(value))) != 1:
        return None
    values = whole_numbers_of(value) if is_integer_tensor(value) else values_of(value)
    return None if values is None else float(values.reshape(-1)[0])


def linear_of(matrix: SSAValue, bias: SSAValue) -> tuple[Floats, Floats | None] | None:
    """The numbers of a matrix, or of filters, and of the bias in one row, None if there is none;
    None where one of them is not known."""
    numbers, added = values_of(matrix), None if is_none(bias) else values_of(bias)
    if numbers is None or (added is None and not is_none(bias)):
        return None
    return numbers, None if added is None else added.reshape(-1)


def is_f32_weight(value: SSAValue) -> bool:
    """Whether `value` is a weight of f32 elements."""
    return isinstance(value.owner, WeightOp) and isinstance(element_of(value), Float32Type)


def make_weight(
    near: Operation,
    name: str,
    values: npt.NDArray[np.floating] | npt.NDArray[np.integer],
    element: Attribute = f32,
) -> WeightOp:
    """A new weight, of f32 or integers, for use beside `near`, known under `name` or, if taken,
    `name_1`, ..."""
    weights = weights_of(module_of(near))
    unique = unused_name(weights, name)
    dtype = np.int32 if is_integer_element(element) else np.float32
    weights[unique] = np.ascontiguousarray(values, dtype=dtype)
    return WeightOp.make(unique, (), result_types=[TensorType(element, values.shape)])


def copy_weight(weight: WeightOp, name: str) -> WeightOp:
    """The same weight once more under another name."""
    if (weights := known_weights(module_of(weight))) is not None:
        weights[name] = weights[required_name(weight)]
    copied = weight.clone()
    copied.location = WeightOp.make(name, (), result_types=[weight.output.type]).location
    return copied


def reshaped_weight(weight: WeightOp, shape: Sequence[int]) -> WeightOp:
    """The same weight seen in another shape; the stored numbers stay as they are."""
    attributes = dict(weight.attributes)
    result = TensorType(element_of(weight.output), tuple(shape))
    return WeightOp.create(result_types=[result], attributes=attributes, location=weight.location)


def unused_name(weights: Weights, name: str) -> str:
    """`name`, or it with the first number that no weight of that name has."""
    candidate, number = name, 0
    while candidate in weights:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


@contextmanager
def known_constants() -> Generator[None]:
    """Let shape inference look into weights within the `with` block."""
    with constants_from(_elements):
        yield


def _elements(value: SSAValue) -> Sequence[float] | None:
    values = whole_numbers_of(value) if is_integer_tensor(value) else values_of(value)
    return None if values is None else [float(number) for number in values.reshape(-1)]


def _stored(value: SSAValue) -> npt.NDArray[np.generic] | None:
    """The array of a weight as the file holds it."""
    weight = producer(value, WeightOp)
    weights = None if weight is None else known_weights(module_of(weight))
    return None if weight is None or weights is None else weights[required_name(weight)]
