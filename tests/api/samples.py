"""Models in files, and what is known of them."""

from pathlib import Path

import numpy as np
import onnx
from tests.tools.small_models import MODELS

IMAGE = (1, 3, 40, 24)
"""The input of the model `cnn`, which has two outputs."""


def image() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(3).standard_normal(IMAGE).astype(np.float32)


def cnn() -> onnx.ModelProto:
    return MODELS["cnn"]()


def written(folder: Path, name: str = "cnn") -> Path:
    file = folder / f"{name}.onnx"
    file.write_bytes(MODELS[name]().SerializeToString())
    return file
