"""Accuracy, cycles and wall time of the example networks, through bmodel files.

usage: python benchmarks/end_to_end.py [--models NAME ...] [--quantize F16 F32] [--seeds N]
                                       [--json FILE]

Every network is compiled by `tpu-compile` and run by `tpu-run`, each as a process of its own, so
that times and peak memory are what a user sees. Cosines are against onnxruntime.
"""

import argparse
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from figures import json_file, write_json
from networks import (
    EXAMPLE_NAMES,
    VENDOR_CYCLES,
    WANTED_COSINE,
    ToolFailure,
    compiled,
    executed,
    lowest_cosine,
    peak_gib,
    source_of,
    wide_console,
)
from rich.table import Table

WIDTH = 120
"""Columns that the table needs."""


@dataclass
class Result:
    """One network in one number format."""

    model: str
    quantize: str
    cycles: int
    vendor_cycles: int | None
    cosines: list[float]
    wanted_cosine: float
    compile_seconds: float
    run_seconds: float
    peak_gib: float
    stages: dict[str, float]
    wall_seconds: dict[str, float]

    @property
    def passed(self) -> bool:
        """Whether every seed is close enough."""
        return all(cosine >= self.wanted_cosine for cosine in self.cosines)


def measure(model: str, quantize: str, seeds: int, folder: Path) -> Result:
    """Compile once, run once per seed."""
    source = source_of(model)
    out = folder / f"{model}_{quantize}"
    compile_seconds, stages = compiled(source, quantize, out)
    cosines: list[float] = []
    run_seconds = 0.0
    report: dict[str, Any] = {}
    for seed in range(seeds):
        run_seconds, report = executed(source, out, seed)
        cosines.append(lowest_cosine(report))
    return Result(
        model=model,
        quantize=quantize,
        cycles=report["cycles"],
        vendor_cycles=VENDOR_CYCLES.get((model, quantize)),
        cosines=cosines,
        wanted_cosine=WANTED_COSINE[quantize],
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
        peak_gib=peak_gib(),
        stages=stages,
        wall_seconds=report["wall_seconds"],
    )


def table(results: list[Result]) -> Table:
    """All results for the terminal."""
    shown = Table(title="end to end")
    shown.add_column("model")
    for heading in (
        "format",
        "cycles",
        "vendor",
        "ratio",
        "lowest cosine",
        "wanted",
        "compile s",
        "run s",
        "peak GiB",
    ):
        shown.add_column(heading, justify="right")
    for r in results:
        vendor, ratio = "", ""
        if r.vendor_cycles is not None:
            vendor, ratio = f"{r.vendor_cycles:,}", f"{r.cycles / r.vendor_cycles:.2f}"
        mark = "" if r.passed else " (missed)"
        shown.add_row(
            r.model,
            r.quantize,
            f"{r.cycles:,}",
            vendor,
            ratio,
            f"{min(r.cosines):.8f}{mark}",
            f"{r.wanted_cosine}",
            f"{r.compile_seconds:.1f}",
            f"{r.run_seconds:.1f}",
            f"{r.peak_gib:.2f}",
        )
    return shown


def main() -> None:
    """Measure, print, and exit with status 1 when a cosine is missed."""
    parser = argparse.ArgumentParser(
        description="Accuracy, cycles and times of the example networks."
    )
    parser.add_argument("--models", nargs="+", choices=EXAMPLE_NAMES, default=EXAMPLE_NAMES)
    parser.add_argument("--quantize", nargs="+", choices=WANTED_COSINE, default=["F16", "F32"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=json_file)
    args = parser.parse_args()
    console = wide_console(WIDTH)
    results: list[Result] = []
    failed = False
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for model in args.models:
            for quantize in args.quantize:
                status.update(f"{model} {quantize}")
                try:
                    results.append(measure(model, quantize, args.seeds, Path(folder)))
                except ToolFailure as failure:
                    failed = True
                    print(f"{model} {quantize}: {failure}", file=sys.stderr)
    console.print(table(results))
    write_json(args.json, [asdict(r) | {"passed": r.passed} for r in results])
    sys.exit(failed or not all(r.passed for r in results))


if __name__ == "__main__":
    main()
