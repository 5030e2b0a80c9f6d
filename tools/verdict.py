"""Whether the outputs of a run are right; what is wrong with them gives a status of its own."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.report import Closeness
from xdsl_tpu.tools.errors import DifferentError, NotFiniteError, UsageError

Arrays = Mapping[str, npt.NDArray[Any]]
Closenesses = Mapping[str, Closeness]


_OF_VALUES = ("find_bad", "compare", "compare_layers", "inputs", "outputs")
"""Options of `tpu-run` that need what commands compute."""


def refuse_values(args: argparse.Namespace) -> None:
    """Raise UsageError for options that `--no-values` leaves without an answer."""
    wanted = [name for name in _OF_VALUES if getattr(args, name)]
    if args.numerics == "exact":
        wanted.append("numerics")
    if wanted:
        option = f"--{wanted[0].replace('_', '-')}"
        raise UsageError(f"--no-values computes no numbers: leave out {option}, or --no-values")


@dataclass(frozen=True)
class Limits:
    """What a comparison must keep to; None: anything goes."""

    min_cosine: float | None = None
    max_error: float | None = None


def count_not_finite(outputs: Arrays, report: dict[str, Any]) -> None:
    """Note in the report how many numbers of each output are NaN or infinite."""
    for name, value in outputs.items():
        count = int(np.count_nonzero(~np.isfinite(value))) if value.dtype.kind == "f" else 0
        report["outputs"][name]["not_finite"] = count


def judge(outputs: Arrays, report: dict[str, Any], limits: Limits, compared: Closenesses) -> None:
    """Raise NotFiniteError or DifferentError, naming every output that is not right.

    `report` is that of the run after `count_not_finite`.
    """
    lost = {name: report["outputs"][name]["not_finite"] for name in outputs}
    found = [
        f"{count:,} of the {outputs[name].size:,} numbers of output '{name}' are NaN or infinite"
        for name, count in lost.items()
        if count
    ]
    if found:
        narrow = report["quantize"] == "F16"
        keeps = "; tpu-compile --calibrate-with keeps such layers out of F16" if narrow else ""
        raise NotFiniteError(
            f"{'; '.join(found)} (F16 ends at 65,504; BF16 and F32 reach 3e38; the program is "
            f"{report['quantize'] or 'of others'}): --find-bad names the command where it begins"
            f"{keeps}"
        )
    found = [
        f"output '{name}': {what}"
        for name, close in compared.items()
        for what in _beyond(close, limits)
    ]
    if found:
        raise DifferentError(f"the outputs are not close enough: {'; '.join(found)}")


def _beyond(close: Closeness, limits: Limits) -> list[str]:
    """Limits that are not kept; a figure that is not a number keeps none."""
    found: list[str] = []
    if limits.min_cosine is not None and not close.cosine >= limits.min_cosine:
        found.append(f"cosine {close.cosine:.7f} is below {limits.min_cosine}")
    if limits.max_error is not None and not close.max_abs_error <= limits.max_error:
        found.append(f"max abs error {close.max_abs_error:.3g} is above {limits.max_error}")
    return found
