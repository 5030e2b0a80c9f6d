"""How far the vendor's cycle estimate is from silicon, by published measurements.

usage: python benchmarks/hardware.py [--check]

Divides every usable row of `data/published_latency.csv` by the estimate for the same network and
precision in `data/vendor_cycles.csv`, prints the ratios, and writes their ranges per precision and
model family to `backend/estimate/hardware.toml` (with --check: only compares it).

A row is usable when tpu-mlir compiled it, there is an estimate in its precision, and nobody has
marked it as doubtful. The ratios hold differences between compiler versions too: the programs
measured are not known, only their networks.
"""

import argparse
import csv
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from xdsl_tpu.backend.estimate import DATA as TARGET
from xdsl_tpu.backend.estimate import RatioGroup

FOLDER = Path(__file__).parent / "data"
FEWEST_ROWS = 3
NANOSECONDS_PER_CYCLE = 1.0
DOUBT = "do not"
COMPILER = "tpu-mlir"
NAMES = {"cnn": "CNN", "transformer": "transformer"}
"""Families as tables call them."""


@dataclass(frozen=True)
class Measurement:
    """A published time beside the estimate; `problem` is why it does not count."""

    network: str
    family: str
    precision: str
    milliseconds: float
    date: str
    estimated: float | None
    problem: str

    @property
    def ratio(self) -> float:
        """Measured over estimated; only for rows that count."""
        assert self.estimated is not None
        return self.milliseconds / self.estimated


def rows_of(name: str) -> list[dict[str, str]]:
    """A table of the data folder."""
    with (FOLDER / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def measurements() -> Iterator[Measurement]:
    """Every published row."""
    vendor = {(row["network"], row["precision"]): row for row in rows_of("vendor_cycles.csv")}
    families = {row["network"]: row["family"] for row in vendor.values()}
    for row in rows_of("published_latency.csv"):
        estimate = vendor.get((row["network"], row["precision"]))
        milliseconds = None
        problem = ""
        if row["compiler"] != COMPILER:
            problem = f"compiled by {row['compiler']}"
        elif DOUBT in row["note"]:
            problem = row["note"]
        elif estimate is None:
            problem = "no estimate in this precision"
        if estimate is not None:
            milliseconds = int(estimate["total"]) * NANOSECONDS_PER_CYCLE / 1e6
        yield Measurement(
            row["network"],
            families[row["network"]],
            row["precision"],
            float(row["milliseconds"]),
            row["date"],
            milliseconds,
            problem,
        )


def groups_of(usable: Sequence[Measurement]) -> list[RatioGroup]:
    """Per precision and family, per precision, and over all."""
    keys = {(m.precision, m.family) for m in usable} | {(m.precision, "") for m in usable}
    groups = [_group(usable, precision, family) for precision, family in sorted(keys)]
    return [*groups, _group(usable, "", "")]


def _group(usable: Sequence[Measurement], precision: str, family: str) -> RatioGroup:
    members = [m for m in usable if precision in ("", m.precision) and family in ("", m.family)]
    ratios = [m.ratio for m in members]
    return RatioGroup(
        precision,
        family,
        low=round(min(ratios), 3),
        median=round(statistics.median(ratios), 3),
        high=round(max(ratios), 3),
        rows=len(ratios),
        networks=tuple(sorted({m.network for m in members})),
    )


@dataclass(frozen=True)
class LeftOut:
    """How far times of one kind of program are from what those of other families lead to expect.

    An error is predicted over measured time, minus 1.
    """

    precision: str
    family: str
    rows: int
    by: str
    errors: tuple[float, ...]

    def cells(self) -> tuple[str, ...]:
        """A row of a table."""
        found = (min(self.errors), statistics.median(self.errors), max(self.errors))
        return (
            f"{self.precision}, {NAMES[self.family]}",
            str(self.rows),
            f"{self.precision}, {NAMES[self.by]}",
            *(f"{100 * error:+.0f} %" for error in found),
        )


def left_out(usable: Sequence[Measurement]) -> Iterator[LeftOut]:
    """Every family of every precision, predicted by the median ratio of the others."""
    for precision, family in sorted({(m.precision, m.family) for m in usable}):
        own = [m for m in usable if (m.precision, m.family) == (precision, family)]
        others = [m for m in usable if m.precision == precision and m.family != family]
        if not others:
            continue
        ratio = statistics.median(m.ratio for m in others)
        errors = tuple(ratio / m.ratio - 1 for m in own)
        by = " and ".join(sorted({m.family for m in others}))
        yield LeftOut(precision, family, len(own), by, errors)


def document(groups: Sequence[RatioGroup]) -> str:
    """`hardware.toml`."""
    lines = [
        "# Measured over estimated time of BM1684X programs, from published measurements",
        "# (benchmarks/data). Written by benchmarks/hardware.py. An empty key stands for all.",
        "# A group with fewer rows than this gives way to the wider one.",
        f"fewest_rows = {FEWEST_ROWS}",
    ]
    for group in groups:
        networks = ", ".join(f'"{name}"' for name in group.networks)
        lines += [
            "",
            "[[group]]",
            f'precision = "{group.precision}"',
            f'family = "{group.family}"',
            f"low = {group.low}",
            f"median = {group.median}",
            f"high = {group.high}",
            f"rows = {group.rows}",
            f"networks = [{networks}]",
        ]
    return "\n".join(lines) + "\n"


def table(found: Sequence[Measurement]) -> Table:
    """All rows for the terminal."""
    shown = Table(title="published times and the vendor's estimates")
    for heading in ("network", "precision", "date", "measured ms", "estimated ms", "ratio"):
        shown.add_column(heading, justify="right" if "ms" in heading else "left")
    for m in found:
        estimated = "" if m.estimated is None else f"{m.estimated:.3f}"
        verdict = m.problem or f"{m.ratio:.3f}"
        shown.add_row(m.network, m.precision, m.date, f"{m.milliseconds:.3f}", estimated, verdict)
    return shown


def main() -> None:
    """Print the rows; write or compare the ranges."""
    parser = argparse.ArgumentParser(description="Ratios of published times to vendor estimates.")
    parser.add_argument("--check", action="store_true", help="status 1 if hardware.toml is stale")
    args = parser.parse_args()
    found = list(measurements())
    Console().print(table(found))
    usable = [m for m in found if not m.problem]
    errors = Table(title="a family predicted by the others")
    for heading in ("left out", "rows", "predicted by", "lowest error", "median", "highest"):
        errors.add_column(heading, justify="left" if heading.endswith(("out", "by")) else "right")
    for one in left_out(usable):
        errors.add_row(*one.cells())
    Console().print(errors)
    text = document(groups_of(usable))
    if not args.check:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET} is stale: run benchmarks/hardware.py")


if __name__ == "__main__":
    main()
