"""Tiny models of every architecture: configurations are data, weights follow from names.

`tests/data/llm/models.json` has, for each model, what config.json says and the shapes of its
tensors; `logits.npz` what transformers makes of them (`with_transformers.py`).
"""

import json
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

DATA = Path(__file__).parents[1] / "data/llm"
IDS = [int(one) for one in np.random.default_rng(0).integers(3, 96, 24)]
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}

Floats = npt.NDArray[np.float32]


def models() -> dict[str, dict[str, Any]]:
    """Configuration and shapes of every model by its name."""
    return json.loads((DATA / "models.json").read_text(encoding="utf-8"))


def values(name: str, shape: tuple[int, ...], zero_centred_norms: bool) -> Floats:
    """The weights of a tensor: numbers that bf16 holds, from a seed that its name gives."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    normal = generator.standard_normal(shape, np.float32)
    if "norm" in name and name.endswith("bias"):
        found = normal * 0.2
    elif "norm" in name:
        found = normal * 0.3 + (0 if zero_centred_norms else 1)
    elif name.endswith("bias"):
        found = normal * 0.25
    else:
        found = normal * 1.5 * shape[-1] ** -0.5
    bits = np.ascontiguousarray(found, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def zero_centred(model_type: str) -> bool:
    """Whether weights of norms are what they have above 1."""
    return model_type.startswith(("gemma", "vaultgemma", "nemotron"))


def weights(model: Mapping[str, Any]) -> dict[str, Floats]:
    """All weights of a model."""
    zero = zero_centred(model["config"]["model_type"])
    return {name: values(name, tuple(shape), zero) for name, shape in model["tensors"].items()}


def save(tensors: Mapping[str, npt.NDArray[Any]], path: Path, uint16: str = "BF16") -> None:
    """A safetensors file (its format: github.com/huggingface/safetensors); 16-bit integers are
    what `uint16` says."""
    names = {"float32": "F32", "float16": "F16", "int32": "I32", "uint16": uint16}
    header: dict[str, Any] = {}
    offset = 0
    for name, one in tensors.items():
        place = [offset, offset + one.nbytes]
        offset += one.nbytes
        entry = {"dtype": names[str(one.dtype)], "shape": one.shape, "data_offsets": place}
        header[name] = entry
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join(one.tobytes() for one in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write(folder: Path, name: str, dtype: str = "bfloat16") -> Path:
    """A model's folder with config.json and one file of weights."""
    model = models()[name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(model["config"]), encoding="utf-8")
    stored = {
        key: (one.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16"
        else one.astype(DTYPES[dtype])
        for key, one in weights(model).items()
    }  # fmt: skip
    save(stored, folder / "model.safetensors")
    return folder
