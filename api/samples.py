"""Samples and tables as they may be given, as files that the compiler reads."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np

from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.calibration_data import ARRAYS
from xdsl_tpu.tools.image_files import is_image
from xdsl_tpu.tools.preprocess import Given, preprocess_file
from xdsl_tpu.tools.random_samples import RANDOM

Samples: TypeAlias = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Any
"""A file or folder as `tpu-calibrate --dataset` takes them (of arrays or of images), `random`, one
array for a network of one input, arrays by name, or a list of such samples."""

Preprocessing: TypeAlias = str | Path | Mapping[str, Any]
"""How images become a network's input: a TOML file, or the fields of `Preprocess` by name."""


def is_table(calibration: object) -> TypeGuard[str | Path | CalibrationTable]:
    """Whether this is a calibration table rather than samples to make one of."""
    if isinstance(calibration, CalibrationTable):
        return True
    if not isinstance(calibration, str | Path) or str(calibration) == RANDOM:
        return False
    path = Path(calibration)
    return not path.is_dir() and path.suffix not in ARRAYS and not is_image(path)


def preprocess_given(preprocess: Preprocessing | None) -> Given:
    """The fields of a `Preprocess` that were given. Raises TpuError for a file that has others."""
    if preprocess is None:
        return {}
    return preprocess if isinstance(preprocess, Mapping) else preprocess_file(Path(preprocess))


@contextmanager
def table_file(table: str | Path | CalibrationTable) -> Generator[Path]:
    """The table as a file while it is needed."""
    if not isinstance(table, CalibrationTable):
        yield Path(table)
        return
    with TemporaryDirectory() as folder:
        yield table.save(Path(folder, "calibration.cali"))


@contextmanager
def sample_file(samples: Samples) -> Generator[Path]:
    """The samples as a file or folder while they are needed."""
    if isinstance(samples, str | Path):
        yield Path(samples)
        return
    with TemporaryDirectory() as name:
        given = cast("list[Any]", samples if isinstance(samples, list | tuple) else [samples])
        for index, sample in enumerate(given):
            file = Path(name, f"{index:06}.npz")
            save: Any = np.savez  # its type takes no array called allow_pickle
            if isinstance(sample, Mapping):
                named = cast("Mapping[str, Any]", sample)
                save(file, **{str(key): np.asarray(value) for key, value in named.items()})
            else:
                save(file, sample=np.asarray(sample))
        yield Path(name)
