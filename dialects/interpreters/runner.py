"""Running a whole module on named inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.elements import (
    conform,
    element_type,
    integer_dtype,
    is_integer,
    static_shape,
)
from xdsl_tpu.dialects.interpreters.interpreter import TensorInterpreter, Trace, TraceListener
from xdsl_tpu.dialects.main_function import Main, find_main, input_names, output_names
from xdsl_tpu.dialects.random_masks import masks_of, random_mask
from xdsl_tpu.dialects.weights import weights_of

Array = npt.NDArray[Any]


def run_module(
    module: ModuleOp,
    inputs: Mapping[str, Array] | Sequence[Array],
    weights: Mapping[str, Array] | None = None,
    trace: Trace | None = None,
    allow_nan: bool = False,
) -> dict[str, Array]:
    """Run function `main` of `module` (or of the module inside it) and return what it returns.

    A module without such a function may have one OneFlow job instead. `inputs` are keyed by the
    names of the input ops, or given in their order; those that `module.random_masks` describes
    may be left out where inputs are given by name. Floating
    point tensors are float32 arrays in and out, also where their type is f16 or bf16: they then
    hold numbers that fit those types. Results are keyed by the names of the returned tensors.
    `weights` default to those attached to the module. `trace` is shown every named tensor as
    soon as it is computed, except weights and copies of tensors already shown.

    Raises:
        TpuError: an input or weight is missing, unknown, of the wrong shape or type, or has
            NaNs (unless `allow_nan`); an op has no semantics or does not fit its operands.
    """
    inner, main = find_main(module)
    if isinstance(inputs, Mapping):
        inputs = {**_random_masks(module, main), **inputs}
    arguments = _arguments(main, inputs, allow_nan)
    if weights is None:
        weights = weights_of(module)
    listeners = () if trace is None else (TraceListener(trace),)
    interpreter = TensorInterpreter.of(inner, weights, listeners)
    results = interpreter.call_op(main, tuple(arguments))
    return dict(zip(output_names(inner, main), results, strict=True))


def _random_masks(module: ModuleOp, main: Main) -> dict[str, Array]:
    """The inputs that `module.random_masks` describes."""
    known = dict(zip(input_names(main), main.args, strict=True))
    masks: dict[str, Array] = {}
    for name, mask in masks_of(module).items():
        argument = known.get(name)
        shape = None if argument is None else static_shape(argument.type)
        if shape is None:
            raise TpuError(f"module.random_masks names '{name}', which is no input of known shape")
        masks[name] = random_mask(shape, mask.seed, mask.rate)
    return masks


def _arguments(
    main: Main, inputs: Mapping[str, Array] | Sequence[Array], allow_nan: bool
) -> Iterator[Array]:
    names = input_names(main)
    if isinstance(inputs, Mapping):
        given = _by_name(names, inputs)
    elif len(inputs) != len(names):
        raise TpuError(f"{len(inputs)} inputs given, the module takes {len(names)}: {_list(names)}")
    else:
        given = list(inputs)
    for name, argument, array in zip(names, main.args, given, strict=True):
        yield _checked(name, array, argument.type, allow_nan)


def _by_name(names: Sequence[str], inputs: Mapping[str, Array]) -> list[Array]:
    if missing := [name for name in names if name not in inputs]:
        raise TpuError(f"missing input {_list(missing)}; the module takes {_list(names)}")
    if unknown := [name for name in inputs if name not in names]:
        raise TpuError(f"unknown input {_list(unknown)}; the module takes {_list(names)}")
    return [inputs[name] for name in names]


def _list(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _checked(name: str, array: Array, type_: Attribute, allow_nan: bool) -> Array:
    """An input as values of its type; refused where that would change or hide something."""
    wants_integers = is_integer(element_type(type_))
    is_float = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    whole = array.dtype.kind == "f" and bool((np.trunc(array) == array).all())
    if array.dtype.kind not in "iub" and not (whole if wants_integers else is_float):
        wanted = "integers" if wants_integers else "float32"
        raise TpuError(
            f"input {name!r} has elements of {array.dtype}; convert it to {wanted} first"
        )
    shape = static_shape(type_)
    if shape is not None and array.shape != shape:
        raise TpuError(f"input {name!r} has shape {array.shape}, the module takes {shape}")
    if not allow_nan and array.dtype.kind == "f" and np.isnan(array).any():
        raise TpuError(f"input {name!r} contains NaN; pass allow_nan=True if that is meant")
    if wants_integers and (far := _beyond(array, type_)) is not None:
        raise TpuError(f"input {name!r} has {far}, which {element_type(type_)} does not hold")
    with np.errstate(over="ignore"):
        return conform(array, type_)


def _beyond(array: Array, type_: Attribute) -> int | None:
    """A number that an integer type does not hold."""
    element = element_type(type_)
    assert is_integer(element)
    limits = np.iinfo(integer_dtype(element))
    far = array[(array < limits.min) | (array > limits.max)]
    return int(far.flat[0]) if far.size else None
