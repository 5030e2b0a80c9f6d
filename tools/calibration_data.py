"""Sample inputs from files: arrays and images."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.array_files import read_arrays
from xdsl_tpu.tools.image_files import ImageReader, is_image
from xdsl_tpu.tools.preprocess import Given

Array = npt.NDArray[Any]
Shapes = Mapping[str, tuple[int, ...]]


ARRAYS = (".npz", ".npy")
"""Suffixes of files of arrays."""


@dataclass(frozen=True)
class Source:
    """A file or folder of samples, or `random`, and how images among them are prepared."""

    path: Path
    preprocess: Given = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Dataset:
    """Samples for a network with inputs of these shapes, read one file at a time.

    A file holds an array for each input: one sample, several along a new first axis, or several
    along the batch axis. Networks of one input take arrays of any name, `.npy` files, and, where
    there are `images` to read them, images of one sample each.
    """

    files: Sequence[Path]
    shapes: Shapes
    images: ImageReader | None = None

    def samples(self, limit: int | None = None) -> Iterator[tuple[str, dict[str, Array]]]:
        """Where a sample is from, and its inputs; the first `limit` of all."""
        given = 0
        for file in self.files:
            arrays = self._arrays(file)
            counts = {name: len(array) for name, array in arrays.items()}
            if len(set(counts.values())) > 1:
                said = ", ".join(f"{name} {count}" for name, count in counts.items())
                raise TpuError(f"{file}: its arrays hold different numbers of samples: {said}")
            for index in range(next(iter(counts.values()))):
                if given == limit:
                    return
                given += 1
                inputs = {name: array[index] for name, array in arrays.items()}
                yield f"{file}, sample {index}", inputs

    def _arrays(self, file: Path) -> dict[str, Array]:
        """Input name -> samples along a new first axis."""
        if self.images is not None and is_image(file):
            return {self.images.name: self.images.read(file)[np.newaxis]}
        found = _read(file)
        names = list(self.shapes)
        if len(names) == 1 and len(found) == 1:
            found = {names[0]: next(iter(found.values()))}
        if missing := [name for name in names if name not in found]:
            raise TpuError(
                f"{file}: no array for input '{missing[0]}'; it has {', '.join(sorted(found))}"
            )
        return {name: _split(found[name], self.shapes[name], f"{file}: {name}") for name in names}


def dataset(path: Path, shapes: Shapes, images: Callable[[], ImageReader] | None = None) -> Dataset:
    """The samples of a file, or of all files of arrays and images below a folder in their order.

    `images` makes what reads images, and is asked where there are any. Raises TpuError for a
    folder without samples.
    """
    if path.is_dir():
        found = (file for file in path.rglob("*") if file.suffix in ARRAYS or is_image(file))
        files = sorted(file for file in found if file.is_file())
        if not files:
            raise TpuError(f"{path}: no .npz or .npy file and no image in this folder")
    elif path.is_file():
        files = [path]
    else:
        raise TpuError(f"{path}: no such file or folder")
    pictures = [file for file in files if is_image(file)]
    if pictures and images is None:
        raise TpuError(f"{pictures[0]}: an image, where files of arrays are wanted")
    return Dataset(files, shapes, images() if pictures and images is not None else None)


def _read(file: Path) -> dict[str, Array]:
    arrays = read_arrays(file)
    return arrays if isinstance(arrays, dict) else {file.stem: arrays}


def _split(array: Array, shape: tuple[int, ...], what: str) -> Array:
    if array.dtype.kind not in "fiub":
        raise TpuError(f"{what} has elements of {array.dtype}, not numbers")
    if array.shape == shape:
        samples = array[np.newaxis]
    elif array.shape[1:] == shape:
        samples = array
    elif shape and array.ndim and array.shape[1:] == shape[1:] and not array.shape[0] % shape[0]:
        samples = array.reshape(-1, *shape)
    else:
        wanted = "x".join(map(str, shape))
        found = "x".join(map(str, array.shape))
        raise TpuError(f"{what} has shape {found}; the model takes {wanted}, once or several times")
    if not len(samples):
        raise TpuError(f"{what} holds no sample")
    if array.dtype.kind != "f":
        return samples
    if not np.isfinite(samples).all():
        raise TpuError(f"{what} contains NaN or infinity")
    with np.errstate(over="ignore"):
        numbers = samples.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise TpuError(f"{what} has numbers beyond those of f32")
    return numbers
