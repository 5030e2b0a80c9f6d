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

    Raises ToolFailure for an input without a fixed shape, and integers without such a file.
    """
    given: dict[str, Array] = {}
    if inputs.is_file():
        with np.load(inputs, allow_pickle=False) as archive:
            given = {name: archive[name] for name in archive.files}
    graph = onnx.ModelProto.FromString(source.read_bytes()).graph
    weights = {one.name for one in graph.initializer}
    random = [np.random.default_rng(FIRST_SEED + seed) for seed in SEEDS]
    samples: dict[str, Array] = {}
    for one in graph.input:
        if one.name not in weights:
            drawn = [_sample(one, given.get(one.name), generator) for generator in random]
            samples[one.name] = np.stack(drawn)
    np.savez(path, allow_pickle=False, **samples)


def _sample(
    value: onnx.ValueInfoProto, given: Array | None, generator: np.random.Generator
) -> Array:
    kind = value.type.tensor_type
    shape = tuple(size.dim_value for size in kind.shape.dim)
    if not all(shape):
        raise ToolFailure(f"calibration: input '{value.name}' has no fixed shape")
    if kind.elem_type in _FLOATS:
        return generator.standard_normal(shape, np.float32)
    if given is None:
        raise ToolFailure(f"calibration: input '{value.name}' holds integers, none are given")
    values = np.unique(given)
    if len(values) <= 2 or _in_order(given):
        return given
    return generator.choice(values, given.shape)


_FLOATS = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
    onnx.TensorProto.DOUBLE,
)


def _in_order(array: Array) -> bool:
    """Whether numbers only grow along the last axis, as positions do."""
    return bool((np.diff(array, axis=-1) >= 0).all())
