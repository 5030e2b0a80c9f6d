"""The inputs of a run: read from a file, or made from a seed."""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.execute import random_inputs
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError

Arrays = Mapping[str, npt.NDArray[Any]]


def run_inputs(program: Program, given: Path | None, seed: int) -> Arrays:
    """The arrays of the npz file `given`, or random ones.

    Raises TpuError when the file is no such file.
    """
    if given is None:
        return random_inputs(program, seed)
    try:
        with given.open("rb") as stream:
            archive: Any = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise TpuError(f"{given}: one array without a name; save it with np.savez")
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise TpuError(f"{given}: no readable .npz file of arrays ({error})") from error
