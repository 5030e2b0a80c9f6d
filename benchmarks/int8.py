"""INT8: cycles and accuracy of networks, calibrated, compiled and run as a user would.

usage: python benchmarks/int8.py [--models NAME_OR_ONNX ...] [--seeds N] [--json FILE]

A model is the name of an example or an ONNX file with float inputs of fixed shape. Every network
is calibrated by `tpu-calibrate` (method max) on four inputs of a fixed seed, compiled by
`tpu-compile` and run by `tpu-run` on inputs of other seeds. Cosines are those of the outputs
against onnxruntime in float. Swin-T is also compiled without groups and with all its transposes,
and with the quantize table that `tpu-calibrate --suggest-mixed` proposes for a cosine of 0.99.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from figures import json_file, write_json
from networks import ToolFailure, lowest_cosine, source_of
from rich.console import Console
from rich.table import Table
from swin import FUSIONS, PRODUCTS, SPLIT

TOOLS = Path(sys.executable).parent

CALIBRATION_SEEDS = (0, 1, 2, 3)
FIRST_SEED = 1000
"""Of the inputs that accuracy is measured on."""

STRAIGHT = ("layer-group", *SPLIT, *FUSIONS, *PRODUCTS)
"""Passes and patterns switched off for what Swin-T would cost with its transposes and no groups."""

WIDTH = 110
"""Columns that the table needs."""


@dataclass(frozen=True)
class Goal:
    """What is known and wanted of a network."""

    vendor_cycles: int | None
    """What the vendor's compiler (tpu-mlir 1.30.2) estimates for its own program; it has none
    for Swin-T, on which it stops."""
    floor_cycles: int | None
    """Of weights loaded once and products at full rate, by the same rules."""
    most_cycles: int | None
    least_cosine: float
    least_gain: float = 0.0
    """Of cycles over the network with all transposes and no groups."""
    mixed_cosine: float = 0.0
    """With the proposed quantize table; 0: not asked for."""


GOALS = {
    "swin_t": Goal(None, 560_000, 1_250_000, 0.98, 2.45, 0.99),
    "vit_small_patch16_224": Goal(746_022, 480_000, 650_000, 0.98),
    "resnet50": Goal(593_430, 480_000, 550_000, 0.98),
    "mobilenetv2_100": Goal(175_774, 130_000, 150_000, 0.95),
}

OTHER = Goal(None, None, None, 0.98)
"""Of networks that are no examples."""


@dataclass
class Mixed:
    """The same with some layers in F16, as proposed."""

    layers: int
    cycles: int
    cosine: float


@dataclass
class Result:
    """One network: its program's cycles, and the cosine of each seed."""

    model: str
    goal: Goal
    cycles: int
    cosines: list[float]
    straight_cycles: int | None = None
    mixed: Mixed | None = None

    @property
    def gain(self) -> float:
        """How much faster than with all transposes and no groups; 0 where that was not run."""
        return self.straight_cycles / self.cycles if self.straight_cycles else 0.0

    @property
    def lowest(self) -> float:
        """The lowest cosine; NaN if one is not a number."""
        return float(np.min(self.cosines))

    @property
    def missed(self) -> list[str]:
        """Which goals were not reached."""
        found: list[str] = []
        if self.goal.most_cycles is not None and self.cycles > self.goal.most_cycles:
            found.append("cycles")
        if not self.lowest >= self.goal.least_cosine:
            found.append("cosine")
        if self.gain < self.goal.least_gain:
            found.append("gain")
        if self.mixed is not None and not self.mixed.cosine >= self.goal.mixed_cosine:
            found.append("mixed cosine")
        return found


def run(*command: str | Path) -> None:
    """Run one of the tools; leave with its message when it fails."""
    done = subprocess.run(
        [str(TOOLS / command[0]), *map(str, command[1:]), "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")


def samples(source: Path, path: Path) -> None:
    """Write the calibration data of a network.

    Raises:
        ToolFailure: an input is not float or has no fixed shape.
    """
    graph = onnx.ModelProto.FromString(source.read_bytes()).graph
    weights = {one.name for one in graph.initializer}
    inputs = [one for one in graph.input if one.name not in weights]
    random = [np.random.RandomState(seed) for seed in CALIBRATION_SEEDS]
    data: dict[str, np.ndarray[Any, Any]] = {}
    for one in inputs:
        kind = one.type.tensor_type
        shape = [size.dim_value for size in kind.shape.dim]
        if kind.elem_type != onnx.TensorProto.FLOAT or not all(shape):
            raise ToolFailure(f"{source.name}: input '{one.name}' is not float of a fixed shape")
        data[one.name] = np.stack([own.randn(*shape[1:]) for own in random]).astype(np.float32)
    np.savez(path, allow_pickle=False, **data)


def _disabled(names: Sequence[str]) -> list[str | Path]:
    return [word for name in names for word in ("--disable-pass", name)]


def compiled(source: Path, table: Path, out: Path, without: Sequence[str] = ()) -> None:
    """A network in INT8, with some passes and patterns switched off.

    A quantize table beside the calibration table (`suggest`) is used.
    """
    options: list[str | Path] = _disabled(without)
    modes = table.with_suffix(".qtable")
    if modes.exists():
        options += ["--quantize-table", modes]
    run(
        *("tpu-compile", source, "--quantize", "INT8", "--calibration-table", table),
        *("-o", out, *options),
    )


def calibrated(source: Path, table: Path, without: Sequence[str] = ()) -> None:
    """The table of a network, of all tensors that are left with some patterns switched off."""
    samples = table.parent / "samples.npz"
    run("tpu-calibrate", source, "--dataset", samples, "-o", table, *_disabled(without))


def measure(model: str, seeds: int, folder: Path) -> Result:
    """Calibrate and compile once, run once per seed."""
    source = source_of(model)
    name = source.stem
    table, out = folder / f"{name}.cali", folder / name
    samples(source, folder / "samples.npz")
    calibrated(source, table)
    compiled(source, table, out)
    cycles, cosines = accuracy(out, seeds, source)
    result = Result(name, GOALS.get(name, OTHER), cycles, cosines)
    if result.goal.least_gain:
        straight = folder / f"{name}_straight"
        table = straight.with_suffix(".cali")
        calibrated(source, table, STRAIGHT)
        compiled(source, table, straight, STRAIGHT)
        result.straight_cycles = executed(straight, FIRST_SEED, source)["cycles"]
    if result.goal.mixed_cosine:
        result.mixed = suggested(source, result.goal.mixed_cosine, seeds, folder)
    return result


def suggested(source: Path, target: float, seeds: int, folder: Path) -> Mixed:
    """What the proposed quantize table gives."""
    table, out = folder / "mixed.cali", folder / f"{source.stem}_mixed"
    run(
        *("tpu-calibrate", source, "--dataset", folder / "samples.npz", "-o", table),
        *("--suggest-mixed", "--target-cosine", str(target)),
    )
    lines = table.with_suffix(".qtable").read_text(encoding="utf-8").splitlines()
    compiled(source, table, out)
    cycles, cosines = accuracy(out, seeds, source)
    return Mixed(sum(line[0] != "#" for line in lines), cycles, float(np.min(cosines)))


def accuracy(program: Path, seeds: int, source: Path) -> tuple[int, list[float]]:
    """Cycles, and the lowest cosine of any output for each seed."""
    cycles, cosines = 0, list[float]()
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        report = executed(program, seed, source)
        cycles = report["cycles"]
        cosines.append(lowest_cosine(report))
    return cycles, cosines


def executed(program: Path, seed: int, source: Path) -> dict[str, Any]:
    """The report of one run."""
    path = program / "report.json"
    run("tpu-run", program, "--seed", str(seed), "--compare", source, "--report", path)
    return json.loads(path.read_text(encoding="utf-8"))


def table(results: list[Result]) -> Table:
    """All results for the terminal."""
    shown = Table(title="INT8")
    shown.add_column("model", no_wrap=True)
    for heading in ("vendor", "floor", "at most", "cycles", "at least", "lowest cosine", "missed"):
        shown.add_column(heading, justify="right")
    for result in results:
        goal = result.goal
        shown.add_row(
            result.model,
            "-" if goal.vendor_cycles is None else f"{goal.vendor_cycles:,}",
            "-" if goal.floor_cycles is None else f"{goal.floor_cycles:,}",
            "-" if goal.most_cycles is None else f"{goal.most_cycles:,}",
            f"{result.cycles:,}",
            f"{goal.least_cosine}",
            f"{result.lowest:.5f}",
            ", ".join(result.missed),
        )
    return shown


def main() -> None:
    """Measure, print, and exit with status 1 when a goal is missed or a network fails."""
    parser = argparse.ArgumentParser(description="Cycles and accuracy in INT8.")
    parser.add_argument("--models", nargs="+", default=list(GOALS), metavar="NAME_OR_ONNX")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=json_file)
    args = parser.parse_args()
    console = Console()
    console.width = max(console.width, WIDTH)  # figures are of no use cut off
    results: list[Result] = []
    failed = False
    with tempfile.TemporaryDirectory() as name, console.status("") as status:
        for model in args.models:
            status.update(model)
            try:
                results.append(measure(model, args.seeds, Path(name)))
            except ToolFailure as failure:
                failed = True
                print(f"{model}: {failure}", file=sys.stderr)
    console.print(table(results))
    for result in results:
        if result.straight_cycles is not None:
            console.print(
                f"{result.model}: {result.gain:.2f}x faster than with all transposes and no groups "
                f"({result.straight_cycles:,} cycles; wanted: {result.goal.least_gain}x)",
                highlight=False,
            )
        if result.mixed is not None:
            mixed = result.mixed
            console.print(
                f"{result.model} with the {mixed.layers} layers in F16 that are proposed for a "
                f"cosine of {result.goal.mixed_cosine}: {mixed.cosine:.5f}, {mixed.cycles:,} "
                "cycles",
                highlight=False,
            )
    if args.json is not None:
        rows = [asdict(r) | {"gain": r.gain, "missed": r.missed} for r in results]
        write_json(args.json, rows)
    sys.exit(failed or any(result.missed for result in results))


if __name__ == "__main__":
    main()
