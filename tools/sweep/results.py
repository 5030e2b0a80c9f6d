"""Results of a sweep in a folder: one file per point, so that a stopped sweep goes on."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.files import write_text
from xdsl_tpu.tools.sweep.grid import short_name
from xdsl_tpu.tools.sweep.point import Point

Result = Mapping[str, Any]
POINTS, CHIPS = "points", "chips"
SUMMARY, TABLE = "sweep.json", "sweep.csv"


class Store:
    """The folder: `points/KEY.json` as each point ends, `chips/*.toml`, then the two summaries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (POINTS, CHIPS):
            try:
                (folder / name).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise TpuError(f"{folder}: cannot be written ({reason})") from error

    def load(self, key: str) -> Result | None:
        """What is known of a point; an unreadable file counts as nothing."""
        try:
            result = json.loads((self.folder / POINTS / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return result if isinstance(result, dict) and "status" in result else None  # pyright: ignore[reportUnknownVariableType]

    def save(self, key: str, point: Point, result: Result) -> None:
        """Keep a result at once; a crash a moment later does not lose it."""
        entry = as_row(point) | dict(result)
        write_text(self.folder / POINTS / f"{key}.json", json.dumps(entry, indent=1) + "\n")

    def save_chip(self, point: Point) -> None:
        """The description of the point's chip, for `tpu-compile --chip`."""
        changes = [f"{short_name(key)}={value}" for key, value in point.changes]
        name = ",".join(changes) or "base"
        write_text(self.folder / CHIPS / f"{name}.toml", point.chip)

    def summarise(self, rows: Iterable[tuple[Point, Result]]) -> None:
        """`sweep.json` and `sweep.csv`: all points in order."""
        entries = [as_row(point) | dict(result) for point, result in rows]
        write_text(self.folder / SUMMARY, json.dumps(entries, indent=1) + "\n")
        flat = [_flat(entry) for entry in entries]
        columns = list(dict.fromkeys(name for entry in flat for name in entry))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)
        write_text(self.folder / TABLE, text.getvalue())


def as_row(point: Point) -> dict[str, Any]:
    """What identifies a point, as plain values."""
    chip = {short_name(key): value for key, value in point.changes}
    return {"model": point.model, "quantize": point.quantize, "chip": chip}


def _flat(entry: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            flat[f"{prefix}{name}"] = value
    return flat
