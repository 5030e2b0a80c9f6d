"""Random but reproducible weights for ONNX graphs that were stored without theirs.

A stripped graph names its missing initializers in the metadata entry `stripped_weights`: a JSON
object from initializer name to `[shape, mean, deviation]`. Filling it in again gives the same
values on every machine, so a graph of a few kilobytes stands for a network of a hundred megabytes.
"""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from xdsl_tpu.dialects.errors import TpuError

METADATA_KEY = "stripped_weights"


@dataclass(frozen=True)
class Stripped:
    """One missing initializer: its name, its shape, and the distribution of its values."""

    name: str
    shape: tuple[int, ...]
    mean: float
    deviation: float

    def values(self) -> npt.NDArray[np.float32]:
        """float32 `mean + deviation * N(0, 1)`, from Philox keyed by the CRC-32 of the name."""
        generator = np.random.Generator(np.random.Philox(key=zlib.crc32(self.name.encode())))
        normal = generator.standard_normal(self.shape, dtype=np.float32)
        normal *= np.float32(self.deviation)
        normal += np.float32(self.mean)
        return normal


def is_stripped(model: onnx.ModelProto) -> bool:
    """Whether some weights of `model` are missing and must be filled in by `refill`."""
    return any(entry.key == METADATA_KEY for entry in model.metadata_props)


def stripped_weights(model: onnx.ModelProto) -> dict[str, Stripped]:
    """What the metadata of `model` says about its missing initializers, by name.

    Raises TpuError when the entry is not the JSON object it should be.
    """
    return {entry.name: entry for entry in _entries(model)}


def _entries(model: onnx.ModelProto) -> Iterator[Stripped]:
    text = next((e.value for e in model.metadata_props if e.key == METADATA_KEY), "{}")
    try:
        table = cast(dict[str, Any], json.loads(text))
        for name, (shape, mean, deviation) in table.items():
            yield Stripped(name, tuple(map(int, shape)), float(mean), float(deviation))
    except (AttributeError, TypeError, ValueError) as error:
        raise TpuError(
            f"the model's metadata entry '{METADATA_KEY}' is damaged ({error}); expected a JSON "
            "object from initializer name to [shape, mean, deviation]"
        ) from error


def refill(model: onnx.ModelProto) -> onnx.ModelProto:
    """`model` with its stripped weights filled in; the model itself when nothing is missing.

    The given model is never changed. Raises TpuError on damaged metadata.
    """
    if not is_stripped(model):
        return model
    table = stripped_weights(model)
    full = onnx.ModelProto()
    full.CopyFrom(model)
    for tensor in full.graph.initializer:
        if entry := table.get(tensor.name):
            tensor.CopyFrom(numpy_helper.from_array(entry.values(), tensor.name))
    kept = [entry for entry in full.metadata_props if entry.key != METADATA_KEY]
    del full.metadata_props[:]
    full.metadata_props.extend(kept)
    return full
