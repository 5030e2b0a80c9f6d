"""Accuracy, cycles and wall time of the example networks, through bmodel files.

usage: python benchmarks/end_to_end.py [--models NAME ...] [--quantize F16 F32] [--seeds N]
                                       [--json FILE]

Every network is compiled by `tpu-compile` and run by `tpu-run`, each as a process of its own, so
that times and peak memory are what a user sees. Cosines are against onnxruntime.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

EXAMPLES = Path(__file__).parents[1] / "examples"
TOOLS = Path(sys.executable).parent

VENDOR_CYCLES = {
    ("swin_t", "F16"): 3050233,
    ("vit_small_patch16_224", "F16"): 1463592,
    ("resnet50", "F16"): 1449589,
    ("mobilenetv2_100", "F16"): 568658,
    ("swin_t", "F32"): 34187620,
    ("vit_small_patch16_224", "F32"): 26305958,
    ("resnet50", "F32"): 5012026,
    ("mobilenetv2_100", "F32"): 781758,
}
"""What the vendor's compiler (tpu-mlir 1.30.2) estimates for its own programs."""

WIDTH = 120
"""Columns that the table needs."""

WANTED_COSINE = {"F32": 0.99999, "F16": 0.9999, "BF16": 0.99}


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
        return min(self.cosines) >= self.wanted_cosine


def timed(*command: str | Path) -> tuple[float, float]:
    """Run a process; its wall seconds, and the peak GiB of all processes so far."""
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20


def measure(model: str, quantize: str, seeds: int, folder: Path) -> Result:
    """Compile once, run once per seed."""
    source = EXAMPLES / f"{model}.onnx"
    out = folder / f"{model}_{quantize}"
    compile_seconds, peak = timed(
        TOOLS / "tpu-compile", source, "--quantize", quantize, "-o", out, "--quiet"
    )
    summary = json.loads((out / "compile.json").read_text())
    cosines: list[float] = []
    run_seconds = 0.0
    report: dict[str, Any] = {}
    for seed in range(seeds):
        path = out / f"report{seed}.json"
        arguments = ("--seed", str(seed), "--compare", source, "--report", path, "--quiet")
        run_seconds, run_peak = timed(TOOLS / "tpu-run", out / "model.bmodel", *arguments)
        peak = max(peak, run_peak)
        report = json.loads(path.read_text())
        tensors = report["comparison"]["tensors"].values()
        cosines.append(min(tensor["cosine"] for tensor in tensors))
    return Result(
        model=model,
        quantize=quantize,
        cycles=report["cycles"],
        vendor_cycles=VENDOR_CYCLES.get((model, quantize)),
        cosines=cosines,
        wanted_cosine=WANTED_COSINE[quantize],
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
        peak_gib=peak,
        stages=summary["seconds"],
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
    models = list(dict.fromkeys(model for model, _ in VENDOR_CYCLES))
    parser = argparse.ArgumentParser(
        description="Accuracy, cycles and times of the example networks."
    )
    parser.add_argument("--models", nargs="+", choices=models, default=models)
    parser.add_argument("--quantize", nargs="+", choices=WANTED_COSINE, default=["F16", "F32"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    console = Console()
    console.width = max(console.width, WIDTH)  # figures are of no use cut off
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for model in args.models:
            for quantize in args.quantize:
                status.update(f"{model} {quantize}")
                results.append(measure(model, quantize, args.seeds, Path(folder)))
    console.print(table(results))
    if args.json is not None:
        rows = [asdict(r) | {"passed": r.passed} for r in results]
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    sys.exit(not all(r.passed for r in results))


if __name__ == "__main__":
    main()
