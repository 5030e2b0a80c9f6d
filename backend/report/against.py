"""Two runs side by side: their layers, matched by name."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xdsl_tpu.dialects.errors import TpuError

Report = Mapping[str, Any]

_NEEDED = ("model", "quantize", "chip", "cycles", "milliseconds", "gdma", "usage", "layers")
_NUMBERS = ("cycles", "milliseconds")
_COLUMNS = ("cycles", "bdc_cycles", "gdma_cycles")
_LAYER_KEYS = ("name", "op", *_COLUMNS, "bytes")


def read_report(path: Path) -> dict[str, Any]:
    """A report that `tpu-run --report` wrote. Raises TpuError when the file is something else."""
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in _NEEDED if key not in report]
        rows: list[dict[str, Any]] = report.get("layers", [])
        missing += [key for row in rows for key in _LAYER_KEYS if key not in row]
        if not missing:
            _check_numbers((report[key] for key in _NUMBERS), "a figure")
            _check_numbers((row[key] for row in rows for key in _COLUMNS), "a layer")
    except (ValueError, TypeError, AttributeError) as error:
        raise TpuError(
            f"{path}: not a report; give what tpu-run --report X.json wrote ({error})"
        ) from error
    if missing:
        raise TpuError(
            f"{path}: not a report to compare with, it has no '{missing[0]}'; "
            "write it anew with tpu-run --report"
        )
    return report


def _check_numbers(values: Iterable[object], what: str) -> None:
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError(f"{what} has {value!r} where a number should be")


def compare_layers(report: Report, other: Report) -> list[dict[str, Any]]:
    """Layers of both runs, those first whose cycles differ most.

    A layer that only one run has counts as 0 cycles in the other, whose columns are None. The
    differences sum to that of the two runs.
    """
    mine = {row["name"]: row for row in report["layers"]}
    theirs = {row["name"]: row for row in other["layers"]}
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys([*mine, *theirs]):
        here, there = mine.get(name), theirs.get(name)
        row: dict[str, Any] = {"name": name, "op": (here or there or {})["op"]}
        for column in _COLUMNS:
            row[column] = None if here is None else here[column]
            row[f"other_{column}"] = None if there is None else there[column]
        row["difference"] = (row["cycles"] or 0) - (row["other_cycles"] or 0)
        rows.append(row)
    return sorted(rows, key=lambda row: -abs(row["difference"]))
