"""Files of arrays: what a run takes and gives."""

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError

Array = npt.NDArray[Any]
ONE = ".npy"
"""The suffix of files of one array, without its name."""


def read_arrays(file: Path) -> Array | dict[str, Array]:
    """The array of an .npy file, or those of an .npz file by name; TpuError if it is neither.

    Bfloat16 numbers, for which these formats have no name, come as f32.
    """
    try:
        with file.open("rb") as stream:
            archive: Any = np.load(stream, allow_pickle=False)
            if not hasattr(archive, "files"):
                return _known(archive)
            return {name: _known(archive[name]) for name in archive.files}
    except FileNotFoundError as error:
        raise TpuError(f"{file}: no such file of arrays") from error
    except IsADirectoryError as error:
        raise TpuError(f"{file}: a folder; name an .npz or .npy file of arrays") from error
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        # numpy takes whatever it does not know for Python objects, and recommends to trust it.
        reason = "it is none, or holds Python objects" if "pickle" in str(error) else error
        raise TpuError(f"{file}: no readable .npz or .npy file of arrays ({reason})") from error


def _known(array: Array) -> Array:
    """An array as it is, or numbers of 2 bytes and no known type as the bfloat16 they are."""
    if array.dtype != np.dtype("V2"):
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def check_results(file: Path | None, count: int) -> None:
    """Raise TpuError if `count` arrays cannot be written to a file of that name."""
    if file is not None and file.suffix == ONE and count != 1:
        raise TpuError(f"{file}: {count} outputs, and {ONE} holds one array; name an .npz")


def arrays_writer(file: Path, arrays: Mapping[str, Array]) -> Callable[[IO[bytes]], None]:
    """What writes arrays, for `write_together`: the one there is to an .npy, else all by name."""
    if file.suffix == ONE:
        (array,) = arrays.values()
        return lambda stream: np.save(stream, array)
    save: Any = np.savez  # its type takes no array called allow_pickle
    return lambda stream: save(stream, **arrays)
