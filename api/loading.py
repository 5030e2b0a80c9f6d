"""Which file a program is in, and which chip it is for."""

from pathlib import Path

from xdsl_tpu.backend.chip import Chip, known_chips, load_chip
from xdsl_tpu.backend.chip.identity import other_rates
from xdsl_tpu.backend.execute import check_chip, check_fits
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.folder import BMODEL


def bmodel_path(program: Path) -> Path:
    """The bmodel of a folder that `tpu-compile` wrote, or the file itself; TpuError if missing."""
    path = program / BMODEL if program.is_dir() else program
    if not path.is_file():
        raise TpuError(f"{path}: no such file; tpu-compile MODEL -o {program} makes one")
    return path


def chip_of(program: Program, given: str | None) -> Chip:
    """The chip asked for, else the one the program was compiled for.

    Raises TpuError when the program means something else on it; times may differ.
    """
    if given is None and program.chip.lower() not in known_chips():
        raise TpuError(
            f"the program was compiled for '{program.chip}', which has no description here: "
            "give its .toml file with --chip"
        )
    chip = load_chip(given or program.chip)
    check_chip(program, chip)
    check_fits(program, chip)
    return chip


def rates_note(program: Program, chip: Chip) -> str:
    """What is to be said of a chip that is slower or faster than the program's; else nothing."""
    if not program.chip_figures or not (differ := other_rates(program.chip_figures, chip)):
        return ""
    return (
        f"compiled for other rates ({'; '.join(differ)}): these are the cycles of this "
        "program, a program compiled for these rates would take others"
    )
