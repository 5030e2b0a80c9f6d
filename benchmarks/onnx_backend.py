"""The ONNX project's own backend tests on the whole path: import, compile in F32, simulate.

usage: python benchmarks/onnx_backend.py [--json FILE] [--only REGEX] [--jobs N] [--kinds KIND ..]

The tests, their inputs, expected outputs and tolerances are those of the installed `onnx` package.
tests/onnx_backend/backend_suite.py says which inputs become constants. A test counts as passed when
all outputs are within its tolerance, as unsupported when one message says why it cannot be
compiled, as failed when values are wrong (or time ran out), and as crash for everything else.
Exit status 1 when there is a failed test or a crash.
"""

import argparse
import multiprocessing
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from figures import json_file, write_json  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402
from tests.onnx_backend.backend_suite import (  # noqa: E402
    CRASH,
    FAILED,
    KINDS,
    PASSED,
    STEPS,
    UNSUPPORTED,
    Outcome,
    case_names,
    run_case,
)

STATUSES = (PASSED, FAILED, UNSUPPORTED, CRASH)


def _run(test: tuple[str, str]) -> Outcome:
    return run_case(*test)


def outcomes(tests: Sequence[tuple[str, str]], jobs: int) -> list[Outcome]:
    """All results, in the order of the tests; `jobs` processes."""
    for kind in KINDS:
        case_names(kind)  # loaded once, before the processes part
    console = Console(stderr=True)
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=200) as pool:
        results = pool.imap(_run, tests, chunksize=8)
        return list(track(results, "tests", len(tests), console=console, transient=True))


def table(results: Sequence[Outcome]) -> Table:
    """By op, those with most open tests first."""
    counts: dict[str, Counter[str]] = {}
    for one in results:
        counts.setdefault(one.op, Counter())[one.status] += 1
    shown = Table("op", *STATUSES)
    for column in shown.columns[1:]:
        column.justify = "right"
    order = sorted(counts, key=lambda op: (counts[op][PASSED] - counts[op].total(), op))
    for op in order:
        shown.add_row(op, *(str(counts[op][status] or "") for status in STATUSES))
    total = Counter(one.status for one in results)
    shown.add_section()
    shown.add_row("all", *(str(total[status]) for status in STATUSES))
    return shown


def listing(results: Sequence[Outcome], status: str) -> list[str]:
    """Reasons of one status with their tests, the commonest first."""
    groups: dict[str, list[Outcome]] = {}
    for one in results:
        if one.status == status:
            groups.setdefault(_general(one.reason), []).append(one)
    lines: list[str] = []
    for reason, members in sorted(groups.items(), key=lambda item: -len(item[1])):
        names = [one.name.removeprefix("test_") for one in members]
        lines += [f"{len(members):4} {reason[:220]}", f"       {' '.join(names)}"]
    return lines


def _general(reason: str) -> str:
    """A reason without the names of tensors, so that equal ones meet."""
    reason = re.sub(r"^cannot import \S+: \d+ problems? - ", "", reason)
    return re.sub(r"node '[^']*' |; inputs: [^)]*|'[^']*'", "", reason)


def summary(results: Sequence[Outcome]) -> dict[str, object]:
    """The figures of `--json`."""
    node = [one for one in results if one.kind == "node"]
    count = Counter(one.status for one in results)
    floats = [one for one in node if one.float_only]
    return {
        "tests": len(results),
        **{status: count[status] for status in STATUSES},
        "node tests": len(node),
        "node tests passed": sum(one.status == PASSED for one in node),
        "float32-only node tests": len(floats),
        "float32-only node tests passed": sum(one.status == PASSED for one in floats),
    }


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="The ONNX backend tests on the whole path.")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="tests by name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    args = parser.parse_args()
    tests = [
        (kind, name)
        for kind in args.kinds
        for name in case_names(kind)
        if args.only is None or args.only.search(name)
    ]
    results = outcomes(tests, args.jobs)
    console = Console(width=120, highlight=False)
    console.print(table(results))
    for status in (CRASH, FAILED, UNSUPPORTED):
        if lines := listing(results, status):
            print(f"\n{status}:", *lines, sep="\n")
    print()
    for key, value in summary(results).items():
        print(f"{key}: {value}")
    steps = Counter(one.baked for one in results if one.status == PASSED)
    print("passed, by constant inputs:", "; ".join(f"{step}: {steps[step]}" for step in STEPS))
    if args.json is not None:
        figures = {"summary": summary(results), "tests": [asdict(one) for one in results]}
        write_json(args.json, figures)
    sys.exit(any(one.status in (FAILED, CRASH) for one in results))


if __name__ == "__main__":
    main()
