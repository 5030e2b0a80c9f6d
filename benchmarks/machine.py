"""How faithful and how fast the machine is: values, cycles, wall time and memory.

usage: python benchmarks/machine.py --golden DIR --cycles DIR [--json FILE]

--golden: any folder that holds, at any depth, vectors (`index.json` beside `.npz` files) and
recorded streams (`.npz` files with a `crc` array), in the formats of tests/data/golden/README.md.
--cycles: any folder of `.csv.gz` files in the format of tests/data/cycles, with or without a
`totals.csv`, and of `.commands.gz` files of single commands.

What is damaged counts as failed, and files that cannot be read are listed. The last line is
"everything passed" (exit status 0), or a list of what did not (1). Where examples/ has a
stream's network and onnxruntime is installed, the time of one inference there is given as well;
the machine computes what a chip would, so it is no match for it.
"""

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from figures import json_file, write_json  # noqa: E402
from machine_scores import (  # noqa: E402
    CycleFile,
    Scores,
    Unreadable,
    cycle_scores,
    lone_scores,
    summed,
    vector_scores,
)
from machine_streams import Stream, run_once, stream, traces  # noqa: E402
from machine_verdict import shortcomings, verdict  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402


def score_table(title: str, scores: Scores) -> Table:
    """One line per key, and their sum."""
    table = Table(title=title)
    table.add_column("")
    table.add_column("passed / total", justify="right")
    table.add_column("why not", overflow="fold")
    for name, score in [*sorted(scores.items()), ("total", summed(scores))]:
        why = "; ".join(f"{count} x {text}" for text, count in score.notes.items())
        table.add_row(name, str(score), why)
    return table


def file_table(files: list[CycleFile]) -> Table:
    """Totals of whole programs."""
    table = Table(title="cycles of whole programs, from the commands alone")
    for heading in ("program", "vendor", "totals.csv", "ours", "difference", "seconds"):
        table.add_column(heading, justify="left" if heading == "program" else "right")
    for file in files:
        listed = "-" if file.listed is None else f"{file.listed:,}"
        if file.total < 0:
            table.add_row(file.name, f"{file.vendor_total:,}", listed, "-", file.reason, "-")
            continue
        difference = f"{file.total / max(1, file.vendor_total) - 1:+.4%}"
        figures = (f"{file.total:,}", difference, f"{file.seconds:.2f}")
        table.add_row(file.name, f"{file.vendor_total:,}", listed, *figures)
    return table


def stream_table(streams: list[Stream]) -> Table:
    """What every stream gave and cost."""
    table = Table(title="recorded streams")
    table.add_column("")
    for item in streams:
        table.add_column(item.name, justify="right", overflow="fold")
    for numerics in ("exact", "fast"):
        modes = [item.modes.get(numerics) for item in streams]
        table.add_row(f"{numerics}: s", *("-" if m is None else f"{m.seconds:.2f}" for m in modes))
        peaks = ("-" if m is None else f"{m.peak_gib:.2f}" for m in modes)
        table.add_row(f"{numerics}: GiB", *peaks)
    table.add_row("exact: results", *(f"{s.passed:,} / {s.commands:,}" for s in streams))
    table.add_row("exact: memory snapshots", *(s.snapshots for s in streams))
    table.add_row("fast: largest output error", *(_number(s.logit_error, ".2g") for s in streams))
    table.add_row("timing alone: s", *(_number(s.timing_seconds, ".2f") for s in streams))
    table.add_row("onnxruntime, f32: s", *(_number(s.onnxruntime_seconds, ".3f") for s in streams))
    for numerics in ("fast", "exact"):
        table.add_row(f"{numerics} / onnxruntime", *(_ratio(s, numerics) for s in streams))
    if any(item.problem for item in streams):
        table.add_row("problem", *(item.problem or "-" for item in streams))
    return table


def _number(value: float | None, style: str) -> str:
    return "-" if value is None or math.isnan(value) else format(value, style)


def _ratio(item: Stream, numerics: str) -> str:
    seconds, mode = item.onnxruntime_seconds, item.modes.get(numerics)
    return "-" if seconds is None or mode is None else f"{mode.seconds / seconds:.0f} x"


def unreadable_table(files: list[Unreadable]) -> Table:
    """Files that were left out."""
    table = Table(title="files that cannot be read")
    for heading in ("file", "why"):
        table.add_column(heading, overflow="fold")
    for file in files:
        table.add_row(file.file, file.reason)
    return table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--golden", type=Path, metavar="DIR", help="vectors and streams")
    parser.add_argument("--cycles", type=Path, metavar="DIR", help="cycle data")
    parser.add_argument("--json", type=json_file, metavar="FILE", help="write the figures")
    parser.add_argument("--run", nargs=2, metavar=("STREAM", "MODE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    for folder in () if args.run else (args.golden, args.cycles):
        if folder is None or not folder.is_dir():
            parser.error(f"--golden and --cycles each name a folder, not {folder}")
    return args


def main() -> None:
    """Measure, print, and write the figures when asked."""
    args = _arguments()
    if args.run:
        print(json.dumps(run_once(Path(args.run[0]), args.run[1])))
        return
    console, progress = Console(), Console(stderr=True)
    unreadable: list[Unreadable] = []
    with progress.status("vectors"):
        vectors = vector_scores(args.golden, unreadable)
    console.print(score_table("vectors, exact mode: every bit as recorded", vectors))
    with progress.status("cycles"):
        rows, files = cycle_scores(args.cycles, unreadable)
        lone = lone_scores(args.cycles, unreadable)
    console.print(score_table("cycles and bytes of the commands of programs", rows))
    console.print(file_table(files))
    if lone:
        console.print(score_table("cycles of commands without a program", lone))
    streams: list[Stream] = []
    for path in traces(args.golden, unreadable):
        with progress.status(f"stream {path.stem}"):
            streams.append(stream(path))
    if streams:
        console.print(stream_table(streams))
    if unreadable:
        console.print(unreadable_table(unreadable))
    if args.json is not None:
        figures: dict[str, Any] = {
            "vectors": {name: asdict(score) for name, score in vectors.items()},
            "cycle_rows": {name: asdict(score) for name, score in rows.items()},
            "lone_commands": {name: asdict(score) for name, score in lone.items()},
            "cycle_totals": [asdict(file) for file in files],
            "streams": [_plain(asdict(item)) for item in streams],
            "unreadable": [asdict(file) for file in unreadable],
        }
        write_json(args.json, figures)
    missing = _missing(args, bool(vectors or streams), bool(files))
    if missing:
        sys.exit(f"error: {missing}")
    missed = shortcomings(vectors, rows | lone, files, streams)
    print(verdict(missed, unreadable))
    sys.exit(1 if missed or unreadable else 0)


def _missing(args: argparse.Namespace, has_golden: bool, has_cycles: bool) -> str:
    """Which folder holds nothing that can be measured, in words."""
    found: list[str] = []
    if not has_golden:
        found.append(f"{args.golden} has no vectors (index.json) and no streams (.npz with 'crc')")
    if not has_cycles:
        found.append(f"{args.cycles} has no cycles (.csv.gz) that can be read")
    return "; ".join(found)


def _plain(figures: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN."""
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in figures.items()}


if __name__ == "__main__":
    main()
