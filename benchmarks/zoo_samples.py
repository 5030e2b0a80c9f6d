"""Samples that a network is calibrated on; the inputs it is judged by are not among them."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from networks import ToolFailure

SEEDS = range(8)
FIRST_SEED = 7000
"""Far from the seeds of the inputs that accuracy is measured on."""

Array = npt.NDArray[Any]


def write_samples(source: Path, inputs: Path, path: Path) -> None:
    """Write `SEEDS` samples for a network as an npz file.

    Float inputs are standard normal. Integer ones are drawn from the values of the file `inputs`,
    so that ids are ids; masks and positions (two values, or in order) stay as they are there.
    Without such a file integers are what the network's tables allow.

    Raises ToolFailure for an input without a fixed shape.
    """
    given: dict[str, Array] = {}
    if inputs.is_file():
        with np.load(inputs, allow_pickle=False) as archive:
            given = {name: archive[name] for name in archive.files}
    graph = onnx.ModelProto.FromString(source.read_bytes()).graph
    weights = {one.name for one in graph.initializer}
    random = [np.random.default_rng(FIRST_SEED + seed) for seed in SEEDS]
    samples: dict[str, Array] = {}
    inputs_of = [one for one in graph.input if one.name not in weights]
    integers = any(one.type.tensor_type.elem_type not in _FLOATS for one in inputs_of)
    allowed = _allowed(source) if integers and not given else {}
    for one in inputs_of:
        known = given.get(one.name), allowed.get(one.name, np.arange(2))
        samples[one.name] = np.stack([_sample(one, *known, generator) for generator in random])
    np.savez(path, allow_pickle=False, **samples)


def _sample(
    value: onnx.ValueInfoProto, given: Array | None, allowed: Array, generator: np.random.Generator
) -> Array:
    kind = value.type.tensor_type
    shape = tuple(size.dim_value for size in kind.shape.dim)
    if not all(shape):
        raise ToolFailure(f"calibration: input '{value.name}' has no fixed shape")
    if kind.elem_type in _FLOATS:
        return generator.standard_normal(shape, np.float32)
    if given is None:
        return generator.choice(allowed, shape)
    values = np.unique(given)
    if len(values) <= 2 or _in_order(given):
        return given
    return generator.choice(values, shape)


_FLOATS = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
    onnx.TensorProto.DOUBLE,
)


def _allowed(source: Path) -> dict[str, Array]:
    """The numbers that each integer input may be."""
    from xdsl_tpu.frontend.onnx import import_onnx
    from xdsl_tpu.passes.input_ranges import input_ranges

    ranges = input_ranges(import_onnx(source))
    return {name: np.arange(one.low, one.high) for name, one in ranges.items()}


def _in_order(array: Array) -> bool:
    """Whether numbers only grow along the last axis, as positions do."""
    return bool((np.diff(array, axis=-1) >= 0).all())
