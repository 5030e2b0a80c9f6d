"""A folder of networks through all the tools: does each work, is it right, how many cycles.

usage: python benchmarks/zoo.py [--models DIR] [--quantize Q ...] [--only REGEX] [--jobs N]
                                [--seed N] [--time-limit SECONDS] [--json FILE [--resume]]

Each ONNX file of the folder (default: the examples) is compiled by `tpu-compile`, run by `tpu-run`
on the machine and compared with onnxruntime; INT8 is calibrated by `tpu-calibrate` before that.
Every step is a process of its own. Beside the networks there may be

- `NAME.inputs.npz`, the inputs to run on; others get standard normal ones,
- `baseline.csv` with columns `network`, `floor`, `cycles..` and `vendor_cycles` of F16 programs.

Stripped graphs are refilled. The floor is the larger of moving weights (once), inputs and outputs
at DDR's rate, and of multiply-accumulates at the array's rate; F16 takes that of the baseline where
there is one. A network is `ok` when its lowest cosine is at least 0.999999 in F32, 0.9999 in F16
and BF16, 0.99 in INT8, `wrong` when it is not, `failed` when a step failed. Ratios are those of
networks that are ok. Exit status 1 when there is one that is not.

FILE is written after every network. With `--resume` the networks that it has are not run again; it
must come from the same folder, seed and time limit.
"""

import argparse
import csv
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from figures import json_file, write_json
from networks import EXAMPLES, VENDOR_CYCLES, wide_console
from zoo_steps import LEAST_COSINE, OK, Processes, Row, Steps, Task
from zoo_table import WIDTH, line, sum_lines, sums, table

BASELINE = "baseline.csv"
BASELINE_FORMAT = "F16"


def tasks(folder: Path, quantize: Sequence[str], only: re.Pattern[str] | None) -> list[Task]:
    """Every network of a folder in every format, in the order of names."""
    known = _baseline(folder / BASELINE)
    found: list[Task] = []
    for source in sorted(folder.glob("*.onnx")):
        if only is not None and not only.search(source.stem):
            continue
        row = known.get(source.stem, {})
        for one in quantize:
            own = row if one == BASELINE_FORMAT else {}
            vendor = _number(own.get("vendor_cycles"))
            if folder == EXAMPLES:
                vendor = VENDOR_CYCLES.get((source.stem, one))
            previous = next((own[key] for key in own if key.startswith("cycles")), None)
            found.append(Task(source, one, _number(own.get("floor")), _number(previous), vendor))
    return found


def _baseline(path: Path) -> dict[str, dict[str, str]]:
    """Its rows by network; empty where there is none."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["network"]: row for row in csv.DictReader(stream)}


def _number(text: str | None) -> int | None:
    """None for cells that are empty or words ("fails")."""
    return int(text) if text and text.isdecimal() else None


def measure(work: Sequence[Task], jobs: int, seed: int, limit: float) -> Iterator[tuple[int, Row]]:
    """Position and result of every task, as each ends."""
    processes = Processes()

    def one(task: Task) -> Row:
        with tempfile.TemporaryDirectory() as out:
            return Steps(task, Path(out), seed, limit, processes).all()

    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = {pool.submit(one, task): at for at, task in enumerate(work)}
        while waiting:
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(done), done.result()
    finally:
        processes.stop()
        pool.shutdown(cancel_futures=True)


def resumed(
    path: Path, arguments: Mapping[str, Any], work: Sequence[Task]
) -> tuple[dict[int, Row], list[Row]]:
    """Position and row of the tasks whose rows an earlier run has left in a file, and the rows of
    other tasks; none without it.

    Raises ValueError when the file is something else, or of a run with other arguments.
    """
    if not path.exists():
        return {}, []
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        before: dict[str, Any] = found["arguments"]
        known = {(one["network"], one["quantize"]): one for one in found["networks"]}
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ValueError(f"{path}: not what --json writes") from None
    other = [f"--{key.replace('_', '-')} {before.get(key)}" for key in arguments
             if before.get(key) != arguments[key]]  # fmt: skip
    if other:
        raise ValueError(f"{path}: of a run with {' '.join(other)}; give another --json")
    names = {one.name for one in fields(Row)}
    rows = {
        task: Row(**{key: value for key, value in one.items() if key in names})
        for task, one in known.items()
    }
    places = {(task.source.stem, task.quantize): at for at, task in enumerate(work)}
    ours = {at: rows[task] for task, at in places.items() if task in rows}
    return ours, [row for task, row in rows.items() if task not in places]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A folder of networks through all the tools.")
    parser.add_argument("--models", type=_folder, default=EXAMPLES, metavar="DIR")
    parser.add_argument(
        "--quantize", nargs="+", type=str.upper, choices=LEAST_COSINE, default=[BASELINE_FORMAT]
    )
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="networks by name")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="at once (1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of normal inputs (0)")
    parser.add_argument(
        "--time-limit", type=float, default=3600, metavar="SECONDS", help="of a network (3600)"
    )
    parser.add_argument("--json", type=json_file, metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="keep the rows that FILE has")
    return parser


def _folder(text: str) -> Path:
    path = Path(text)
    if not any(path.glob("*.onnx")):
        raise argparse.ArgumentTypeError(f"{path} is no folder with .onnx files")
    return path


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def _write(path: Path | None, arguments: Mapping[str, Any], rows: Sequence[Row]) -> None:
    ratios = [{"over_floor": row.over_floor, "vendor_over_ours": row.vendor_ratio} for row in rows]
    listed = [asdict(row) | ratio for row, ratio in zip(rows, ratios, strict=True)]
    write_json(path, {"arguments": arguments, "sums": sums(rows), "networks": listed})


def main() -> None:
    """Measure, print, and exit with status 1 unless all networks are right."""
    parser = _parser()
    args = parser.parse_args()
    if args.resume and args.json is None:
        parser.error("--resume needs --json FILE")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    work = tasks(args.models, args.quantize, args.only)
    if not work:
        sys.exit(f"{args.models}: no network has a name with '{args.only.pattern}'")
    if args.jobs > 1:
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(name, "1")
    arguments = {
        "models": str(args.models), "seed": args.seed, "time_limit": args.time_limit,
    }  # fmt: skip
    try:
        finished, others = resumed(args.json, arguments, work) if args.resume else ({}, [])
    except ValueError as error:
        sys.exit(str(error))
    places = [at for at in range(len(work)) if at not in finished]
    left = [work[at] for at in places]
    for at, row in measure(left, args.jobs, args.seed, args.time_limit):
        finished[places[at]] = row
        print(f"[{len(finished)}/{len(work)}] {line(row)}", file=sys.stderr, flush=True)
        _write(args.json, arguments, [*others, *(finished[key] for key in sorted(finished))])
    rows = [finished[key] for key in sorted(finished)]
    wide_console(WIDTH).print(table(rows))
    for row in rows:
        if row.message:
            print(f"{row.network} {row.quantize}: {row.status}: {row.message}")
    print(*sum_lines(sums(rows)), sep="\n")
    sys.exit(any(row.status != OK for row in rows))


if __name__ == "__main__":
    main()
