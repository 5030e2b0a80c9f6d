"""The tensors of a model's safetensors files, mapped into memory and read when asked for."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.config import read_json

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"

DTYPES: Mapping[str, type[np.generic]] = {
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.uint16,
    "F64": np.float64,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
}
"""Element types by their names in a file; bf16 as its bits."""


@dataclass(frozen=True)
class _Entry:
    """Where a tensor is: `offset` bytes from the start of its file."""

    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int


class Checkpoint(Mapping[str, Array]):
    """Tensors by name. Arrays are views of mapped files; bf16 comes as its bits in uint16.

    Raises TpuError for a folder without such files, missing or damaged ones, and on reading an
    element type that is not known.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._entries: dict[str, _Entry] = {}
        self._maps: dict[Path, npt.NDArray[np.uint8]] = {}
        for file in _files(folder):
            self._entries.update(_read_header(file))

    def __getitem__(self, name: str) -> Array:
        entry = self._entries.get(name)
        if entry is None:
            raise TpuError(f"{self.folder}: no tensor '{name}' in its .safetensors files")
        if entry.dtype not in DTYPES:
            raise TpuError(f"{entry.file}: tensor '{name}' is of {entry.dtype}; that is not read")
        if entry.file not in self._maps:
            self._maps[entry.file] = np.memmap(entry.file, np.uint8, mode="r")
        dtype = np.dtype(DTYPES[entry.dtype])
        size = int(np.prod(entry.shape)) * dtype.itemsize
        found = self._maps[entry.file][entry.offset : entry.offset + size]
        return found.view(dtype).reshape(entry.shape)

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it. Raises TpuError when there is none."""
        if name not in self._entries:
            raise TpuError(f"{self.folder}: no tensor '{name}' in its .safetensors files")
        return self._entries[name].shape

    def floats(self, name: str, rows: slice | Rows = slice(None)) -> npt.NDArray[np.float32]:
        """Some rows of a float tensor as float32. Raises TpuError for NaN and infinity."""
        stored = self[name][rows]
        if self._entries[name].dtype == "BF16":
            found = (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
        elif stored.dtype.kind == "f":
            found = stored.astype(np.float32)
        else:
            raise TpuError(f"{self.folder}: tensor '{name}' holds {stored.dtype}, not floats")
        if not np.isfinite(found).all():
            raise TpuError(f"{self.folder}: tensor '{name}' holds NaN or infinity")
        return found


def _files(folder: Path) -> list[Path]:
    """The files of a model, every shard that its index names."""
    if (folder / INDEX).is_file():
        names: Any = read_json(folder / INDEX).get("weight_map", {})
        shards = sorted({folder / str(name) for name in dict(names).values()})
        missing = [shard.name for shard in shards if not shard.is_file()]
        if missing or not shards:
            raise TpuError(
                f"{folder}: {INDEX} names {', '.join(missing) or 'no files'}, "
                "which the folder does not have; copy all of the model's files"
            )
        return shards
    files = (
        [folder / SINGLE] if (folder / SINGLE).is_file() else sorted(folder.glob("*.safetensors"))
    )
    if not files:
        raise TpuError(f"{folder}: no .safetensors files; save the model in that format")
    return files


def _read_header(file: Path) -> dict[str, _Entry]:
    """Where a file has its tensors; the package checks that all of it is sound."""
    try:
        with safe_open(file, "np"):
            pass
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            header: dict[str, Any] = json.loads(stream.read(length))
    except (SafetensorError, OSError, ValueError, struct.error) as error:
        raise TpuError(f"{file}: cannot be read ({error}); copy the file again") from error
    return {
        name: _Entry(file, one["dtype"], tuple(one["shape"]), 8 + length + one["data_offsets"][0])
        for name, one in header.items()
        if name != "__metadata__"
    }
