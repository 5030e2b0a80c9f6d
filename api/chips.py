"""A chip as it may be given: a name, a description, or figures that differ from a BM1684X's."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.sweep.grid import combinations, describe, parse_grid

ChipLike: TypeAlias = str | Path | Mapping[str, int | float]
"""A chip's name, the path of a `.toml` description, or figures by name as `tpu-sweep
--chip-grid` takes them: `{"lanes": 32, "ddr_load": 29}` changes a BM1684X."""

DESCRIPTION = "chip.toml"
"""Beside a program that was compiled for a chip given by its figures."""

_BASE = "bm1684x"


@contextmanager
def described(chip: ChipLike) -> Generator[str]:
    """The chip's name or the path of its description, while it is needed.

    Errors in figures call what was given a chip, not the file that they are passed on in.
    """
    if not isinstance(chip, Mapping):
        yield str(chip)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, DESCRIPTION)
        path.write_text(description(chip), encoding="utf-8")
        try:
            yield str(path)
        except TpuError as error:
            if str(path) not in str(error):
                raise
            raise TpuError(str(error).replace(f"{path}:", "chip:")) from error


def description(figures: Mapping[str, int | float]) -> str:
    """The TOML text of a BM1684X with other figures.

    Raises TpuError for a figure that a chip has not, or a value that it cannot have.
    """
    words = " ".join(f"{name}={value}" for name, value in figures.items())
    try:
        (changes,) = combinations(parse_grid(words, _BASE))
    except TpuError as error:
        raise TpuError(str(error).replace("--chip-grid", "chip", 1)) from error
    return describe(_BASE, changes)
