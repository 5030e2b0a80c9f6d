"""The figures of `zoo.py` for the terminal: a row for each network, and sums of each format."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Table
from zoo_steps import FAILED, OK, WRONG, Row

COLUMNS = (
    "network",
    "format",
    "status",
    "cosine",
    "max error",
    "cycles",
    "previous",
    "floor",
    "/floor",
    "vendor",
    "vendor/ours",
    "import s",
    "calib s",
    "compile s",
    "run s",
    "GiB",
)
WIDTH = 190
"""Columns that the table needs."""


def table(rows: Sequence[Row]) -> Table:
    """Every network; those that failed show their message under the table."""
    shown = Table()
    for name in COLUMNS:
        left = name in COLUMNS[:3]
        shown.add_column(name, justify="left" if left else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*_cells(row))
    return shown


def _cells(row: Row) -> list[str]:
    seconds = [row.seconds.get(step) for step in ("import", "calibrate", "compile", "run")]
    return [
        row.network,
        row.quantize,
        row.status,
        _or_dash("{:.7f}", row.cosine),
        _or_dash("{:.3g}", row.max_abs_error),
        _or_dash("{:,}", row.cycles),
        _or_dash("{:,}", row.previous_cycles),
        _or_dash("{:,}", row.floor_given or row.floor),
        _or_dash("{:.2f}", row.over_floor),
        _or_dash("{:,}", row.vendor_cycles),
        _or_dash("{:.2f}", row.vendor_ratio),
        *(_or_dash("{:.1f}", value) for value in seconds),
        f"{row.peak_gib:.2f}",
    ]


def _or_dash(form: str, value: float | None) -> str:
    return "-" if value is None else form.format(value)


def line(row: Row) -> str:
    """One network as a line of progress."""
    took = f"{sum(row.seconds.get(step, 0) for step in ('calibrate', 'compile', 'run')):.1f} s"
    head = f"{row.network} {row.quantize}: {row.status}"
    figures = "" if row.cycles is None else f", cosine {_or_dash('{:.7f}', row.cosine)}"
    figures += "" if row.cycles is None else f", {row.cycles:,} cycles"
    said = f" - {row.message}" if row.message else ""
    return f"{head}{figures}, {took}{said}"


def sums(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Of each format: counts, seconds, memory, and the ratios of the networks that are right."""
    found: dict[str, dict[str, Any]] = {}
    for quantize in dict.fromkeys(row.quantize for row in rows):
        members = [row for row in rows if row.quantize == quantize]
        count = Counter(row.status for row in members)
        found[quantize] = {
            "networks": len(members),
            **{status: count[status] for status in (OK, WRONG, FAILED)},
            "cycles_over_floor": _spread(members, lambda row: row.over_floor, max),
            "vendor_over_ours": _spread(members, lambda row: row.vendor_ratio, min),
            "seconds": {
                step: round(sum(row.seconds.get(step, 0.0) for row in members), 1)
                for step in ("calibrate", "compile", "run")
            },
            "peak_gib": max(row.peak_gib for row in members),
        }
    return found


def _spread(
    rows: Sequence[Row],
    ratio: Callable[[Row], float | None],
    worst: Callable[[Sequence[tuple[float, str]]], tuple[float, str]],
) -> dict[str, Any] | None:
    """Geometric mean, median and worst of a ratio; None where no network has it."""
    pairs = [(r, row.network) for row in rows if row.status == OK and (r := ratio(row))]
    if not pairs:
        return None
    values = [value for value, _ in pairs]
    bad, name = worst(pairs)
    return {
        "networks": len(pairs),
        "geometric_mean": math.exp(statistics.fmean(map(math.log, values))),
        "median": statistics.median(values),
        "worst": bad,
        "worst_network": name,
    }


def sum_lines(found: dict[str, dict[str, Any]]) -> list[str]:
    """`sums` in words."""
    lines: list[str] = []
    for quantize, one in found.items():
        counts = ", ".join(f"{one[status]} {status}" for status in (OK, WRONG, FAILED))
        took = ", ".join(f"{step} {value:,}" for step, value in one["seconds"].items() if value)
        lines.append(f"{quantize}: {one['networks']} networks: {counts}; seconds: {took}")
        lines[-1] += f"; at most {one['peak_gib']:.2f} GiB"
        for key, words in _RATIOS.items():
            if (spread := one[key]) is not None:
                lines.append(
                    f"  {words} ({spread['networks']} networks): geometric mean "
                    f"{spread['geometric_mean']:.3f}, median {spread['median']:.3f}, worst "
                    f"{spread['worst']:.3f} ({spread['worst_network']})"
                )
    return lines


_RATIOS = {"cycles_over_floor": "cycles / floor", "vendor_over_ours": "vendor / ours"}
