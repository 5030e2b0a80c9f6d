"""How far the vendor's cycle estimate is from silicon, by published measurements.

usage: python benchmarks/hardware.py [--check]

Divides every usable row of `data/published_latency.csv` by the estimate for the same network and
precision in `data/vendor_cycles.csv`, and the time that every row of `data/published_speeds.csv`
gives a prompt and a token by what `data/vendor_llm_cycles.csv` gives all blocks and the output
matrix of that language model; prints the ratios, and writes their ranges per precision and model
family to `backend/estimate/hardware.toml` (with --check: only compares it).

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
from xdsl_tpu.backend.estimate.families import CNN, DECODE, PREFILL

FOLDER = Path(__file__).parent / "data"
FEWEST_ROWS = 3
NANOSECONDS_PER_CYCLE = 1.0
DOUBTS = ("do not", "suspect")
COMPILER = "tpu-mlir"
NO_ESTIMATE = "no estimate in this precision"
NAMES = {CNN: "CNN"}
"""Families that tables call otherwise."""


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
    yield from _device_times()
    yield from _speeds()


def _device_times() -> Iterator[Measurement]:
    vendor = {(row["network"], row["precision"]): row for row in rows_of("vendor_cycles.csv")}
    for row in rows_of("published_latency.csv"):
        estimate = vendor.get((row["network"], row["precision"]))
        problem = _doubt(row["note"])
        if row["compiler"] != COMPILER:
            problem = f"compiled by {row['compiler']}"
        yield Measurement(
            row["network"],
            row["family"],
            row["precision"],
            float(row["milliseconds"]),
            row["date"],
            None if estimate is None else _milliseconds(int(estimate["total"])),
            problem or ("" if estimate else NO_ESTIMATE),
        )


def _speeds() -> Iterator[Measurement]:
    """Of language models: a prompt as long as the program takes, then a token behind as many.

    All layers take what one does; the output matrix is behind both.
    """
    keys = ("model", "precision", "sequence")
    vendor = {tuple(row[key] for key in keys): row for row in rows_of("vendor_llm_cycles.csv")}
    for row in rows_of("published_speeds.csv"):
        model, precision, sequence = (row[key] for key in keys)
        estimate = vendor.get((model, precision, sequence))
        measured = {DECODE: 1e3 / float(row["tokens_per_s"])}
        measured[PREFILL] = 1e3 * float(row["first_token_s"])
        for family, block in ((DECODE, "decode_block"), (PREFILL, "prefill_block")):
            cycles, problem = None, NO_ESTIMATE
            if estimate is not None and not estimate["head"]:
                problem = f"no estimate of its output matrix in {estimate['head_format']}"
            elif estimate is not None:
                cycles = int(estimate["layers"]) * int(estimate[block]) + int(estimate["head"])
            yield Measurement(
                f"{model} {sequence}".strip(),
                family,
                precision,
                measured[family],
                "",
                None if cycles is None else _milliseconds(cycles),
                _doubt(row["note"]) or ("" if cycles else problem),
            )


def usable_speeds() -> list[dict[str, str]]:
    """Published speeds of language models that nobody has marked as doubtful."""
    return [row for row in rows_of("published_speeds.csv") if not _doubt(row["note"])]


def _milliseconds(cycles: int) -> float:
    return cycles * NANOSECONDS_PER_CYCLE / 1e6


def _doubt(note: str) -> str:
    """The note, if it says that the row is not to be used."""
    return note if any(doubt in note for doubt in DOUBTS) else ""


def groups_of(usable: Sequence[Measurement]) -> list[RatioGroup]:
    """Per precision and family."""
    keys = {(m.precision, m.family) for m in usable}
    return [_group(usable, precision, family) for precision, family in sorted(keys)]


def _group(usable: Sequence[Measurement], precision: str, family: str) -> RatioGroup:
    members = [m for m in usable if (m.precision, m.family) == (precision, family)]
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
            f"{self.precision}, {NAMES.get(self.family, self.family)}",
            str(self.rows),
            self.by,
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
        by = " and ".join(NAMES.get(one, one) for one in sorted({m.family for m in others}))
        yield LeftOut(precision, family, len(own), by, errors)


def networks_left_out(usable: Sequence[Measurement]) -> Iterator[LeftOut]:
    """Every network of a kind, predicted by the median ratio of the others of that kind.

    This is what a user meets whose network nobody has measured. Kinds of one network say nothing.
    """
    for precision, family in sorted({(m.precision, m.family) for m in usable}):
        kind = [m for m in usable if (m.precision, m.family) == (precision, family)]
        networks = {m.network for m in kind}
        if len(networks) == 1:
            continue
        errors: list[float] = []
        for m in kind:
            ratio = statistics.median(o.ratio for o in kind if o.network != m.network)
            errors.append(ratio / m.ratio - 1)
        yield LeftOut(precision, family, len(kind), f"{len(networks)} networks", tuple(errors))


def document(groups: Sequence[RatioGroup]) -> str:
    """`hardware.toml`."""
    lines = [
        "# Measured over estimated time of BM1684X programs, from published measurements",
        "# (benchmarks/data). Written by benchmarks/hardware.py.",
        "# Of a group with fewer rows than this it is said that too few times were published.",
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


def _errors(title: str, rows: Iterator[LeftOut]) -> Table:
    errors = Table(title=title)
    for heading in ("left out", "rows", "predicted by", "lowest error", "median", "highest"):
        errors.add_column(heading, justify="left" if heading.endswith(("out", "by")) else "right")
    for one in rows:
        errors.add_row(*one.cells())
    return errors


def main() -> None:
    """Print the rows; write or compare the ranges."""
    parser = argparse.ArgumentParser(description="Ratios of published times to vendor estimates.")
    parser.add_argument("--check", action="store_true", help="status 1 if hardware.toml is stale")
    args = parser.parse_args()
    found = list(measurements())
    Console().print(table(found))
    usable = [m for m in found if not m.problem]
    Console().print(_errors("a family predicted by the others", left_out(usable)))
    title = "a network predicted by the others of its kind"
    Console().print(_errors(title, networks_left_out(usable)))
    text = document(groups_of(usable))
    if not args.check:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET} is stale: run benchmarks/hardware.py")


if __name__ == "__main__":
    main()
