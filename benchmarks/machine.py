"""How faithful and how fast the machine is: values, cycles, wall time and memory.

usage: python benchmarks/machine.py --golden DIR --cycles DIR [--json FILE]

--golden: any folder that holds, at any depth, vectors (`index.json` beside `.npz` files) and
recorded streams (`.npz` files with a `crc` array), in the formats of tests/data/golden/README.md.
--cycles: any folder of `.csv.gz` files in the format of tests/data/cycles.

Streams run in processes of their own, so that times and peak memory are those of one run. Where
examples/ has the stream's network and onnxruntime is installed, the time of one inference there
is given as well; the machine computes what a chip would, so it is no match for it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from tests.machine import golden_traces, golden_vectors  # noqa: E402
from tests.timing import cycle_rows  # noqa: E402

from xdsl_tpu.backend.chip import load_chip  # noqa: E402
from xdsl_tpu.backend.isa import Engine  # noqa: E402
from xdsl_tpu.backend.machine import Machine  # noqa: E402
from xdsl_tpu.backend.timing import simulate  # noqa: E402
from xdsl_tpu.dialects.errors import TpuError  # noqa: E402

EXAMPLES = ROOT / "examples"
GARBAGE = 0xA5
CHIP = load_chip("bm1684x")


@dataclass
class Score:
    """How many of a kind were right."""

    passed: int = 0
    total: int = 0
    refused: int = 0
    notes: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, right: bool) -> None:
        """One more."""
        self.total += 1
        self.passed += right

    def refuse(self, error: Exception) -> None:
        """One more that cannot be computed."""
        self.total += 1
        self.refused += 1
        reason = str(error).rsplit(": ", maxsplit=1)[-1][:100]
        self.notes[reason] = self.notes.get(reason, 0) + 1

    def __str__(self) -> str:
        refused = f" ({self.refused} refused)" if self.refused else ""
        return f"{self.passed:,} / {self.total:,}{refused}"


Scores = dict[str, Score]


def summed(scores: Scores) -> Score:
    """All together."""
    total = Score()
    for score in scores.values():
        total.passed += score.passed
        total.total += score.total
        total.refused += score.refused
    return total


def files_below(folder: Path, ending: str) -> list[Path]:
    """All files whose names end so, at any depth, also behind links."""
    found = (
        Path(parent, name)
        for parent, _, names in os.walk(folder, followlinks=True)
        for name in names
        if name.endswith(ending)
    )
    return sorted(found)


def vector_scores(folder: Path) -> Scores:
    """Per form, vectors whose every result bit is as recorded, in exact mode."""
    scores: Scores = {}
    machine = Machine(CHIP, "exact")
    for index in files_below(folder, "index.json"):
        for vector in golden_vectors.vectors(index.parent):
            score = scores.setdefault(vector.form, Score())
            machine.memory.local.bytes[:] = GARBAGE
            try:
                golden_vectors.prepare(machine, vector)
                machine.execute(vector.command)
            except TpuError as error:
                score.refuse(error)
                continue
            found = golden_vectors.results(machine, vector)
            wrong = sum(golden_vectors.mismatches(g, w, dtype) for dtype, g, w in found)
            score.count(wrong == 0)
    return scores


@dataclass
class CycleFile:
    """One program's rows, and its total re-simulated from the commands alone."""

    name: str
    vendor_total: int
    total: int
    seconds: float


def cycle_scores(folder: Path) -> tuple[Scores, list[CycleFile]]:
    """Per family, rows whose cycles and bytes are the vendor's; per file, the totals."""
    scores: Scores = {}
    files: list[CycleFile] = []
    for path in files_below(folder, ".csv.gz"):
        rows = cycle_rows.read(path)
        commands = [cycle_rows.command_of(row) for row in rows]
        for row, command in zip(rows, commands, strict=True):
            score = scores.setdefault(row["family"], Score())
            try:
                mine = cycle_rows.estimate(command, CHIP)
            except TpuError as error:
                score.refuse(error)
                continue
            right = mine.bytes is None or mine.bytes == int(row["bytes"])
            score.count(right and mine.cycles == int(row["cycles"]))
        tiu, gdma = (cycle_rows.queue_of(rows, commands, engine) for engine in Engine)
        start = time.perf_counter()
        try:
            total = simulate(tiu, gdma, CHIP).total
        except TpuError:
            total = -1
        seconds = time.perf_counter() - start
        vendor = max(int(row["end"]) for row in rows) + 1
        files.append(CycleFile(path.name.split(".")[0], vendor, total, seconds))
    return scores, files


@dataclass
class Mode:
    """One run of a stream: wall seconds of the commands alone, peak memory of the process."""

    seconds: float
    peak_gib: float


@dataclass
class Stream:
    """A recorded stream: results and memory snapshots with the recorded CRC, and the costs."""

    name: str
    commands: int
    passed: int
    snapshots: str
    logit_error: float
    modes: dict[str, Mode]
    timing_seconds: float
    onnxruntime_seconds: float | None = None


def traces(folder: Path) -> Iterator[Path]:
    """The recorded streams below a folder."""
    for path in files_below(folder, ".npz"):
        with np.load(path) as file:
            if "crc" in file.files and "raw" in file.files:
                yield path


def loaded(path: Path, numerics: Any) -> tuple[golden_traces.Trace, Machine]:
    """A stream and a machine with its weights, inputs and static memory."""
    trace = golden_traces.load_trace(path)
    machine = Machine(CHIP, numerics)
    golden_traces.prepare(trace, machine)
    if "smem" in trace.data:
        machine.memory.write(CHIP.static_base, trace.data["smem"])
    return trace, machine


def run_once(path: Path, numerics: str) -> dict[str, Any]:
    """The measurements of one run, in this process; exact runs are then repeated with CRCs."""
    trace, machine = loaded(path, numerics)
    queues = [trace.queue(engine, len(trace.commands)) for engine in Engine]
    start = time.perf_counter()
    machine.run(queues[0], queues[1])
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    result: dict[str, Any] = {"seconds": seconds, "peak_gib": peak}
    result["logit_error"] = max(_output_errors(trace, machine), default=0.0)
    start = time.perf_counter()
    simulate(queues[0], queues[1], CHIP)
    result["timing_seconds"] = time.perf_counter() - start
    if numerics == "exact":
        result |= _crcs(path)
    return result


def _output_errors(trace: golden_traces.Trace, machine: Machine) -> Iterator[float]:
    for port in trace.meta["io"]:
        wanted = trace.data.get(f"out_{port['name']}")
        if port["kind"] == "output" and wanted is not None:
            address = CHIP.ddr_base + port["addr"]
            got = machine.memory.read(address, wanted.shape, wanted.dtype)
            yield float(np.abs(got.astype(np.float64) - wanted).max())


def _crcs(path: Path) -> dict[str, Any]:
    """Run command by command in the recorded order, comparing every result."""
    trace, machine = loaded(path, "exact")
    snapshots = dict(trace.data["lmem_crc"].tolist())
    passed, equal = 0, 0
    for position, command in enumerate(trace.commands):
        machine.execute(command)
        passed += trace.region_crc(machine, position) == int(trace.data["crc"][position])
        if position in snapshots:
            equal += zlib.crc32(machine.memory.local.bytes.tobytes()) == snapshots[position]
    return {
        "commands": len(trace.commands),
        "passed": passed,
        "snapshots": f"{equal} / {len(snapshots)}",
    }


def stream(path: Path) -> Stream:
    """Measure one stream in processes of its own."""
    results: dict[str, dict[str, Any]] = {}
    for numerics in ("fast", "exact"):
        command = [sys.executable, __file__, "--run", str(path), numerics]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{path.name}, {numerics}: {done.stderr}")
        results[numerics] = json.loads(done.stdout)
    exact = results["exact"]
    return Stream(
        name=path.stem,
        commands=exact["commands"],
        passed=exact["passed"],
        snapshots=exact["snapshots"],
        logit_error=results["fast"]["logit_error"],
        modes={name: Mode(r["seconds"], r["peak_gib"]) for name, r in results.items()},
        timing_seconds=exact["timing_seconds"],
        onnxruntime_seconds=onnxruntime_seconds(path.stem),
    )


def onnxruntime_seconds(name: str) -> float | None:
    """The best of five inferences of the network that a stream is named after."""
    models = [m for m in EXAMPLES.glob("*.onnx") if name.startswith(m.stem.split("_patch")[0])]
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError:
        return None
    if not models:
        return None
    from xdsl_tpu.frontend.onnx import is_stripped, refill
    from xdsl_tpu.frontend.onnx.load import load_model

    model = load_model(models[0])[0]
    data = (refill(model) if is_stripped(model) else model).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = os.cpu_count() or 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    feeds = {i.name: np.zeros(i.shape, np.float32) for i in session.get_inputs()}
    times: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - start)
    return min(times)


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
    for heading in ("program", "vendor", "ours", "difference", "seconds"):
        table.add_column(heading, justify="left" if heading == "program" else "right")
    for file in files:
        difference = f"{file.total / file.vendor_total - 1:+.4%}"
        figures = (f"{file.vendor_total:,}", f"{file.total:,}", difference, f"{file.seconds:.2f}")
        table.add_row(file.name, *figures)
    return table


def stream_table(streams: list[Stream]) -> Table:
    """What every stream gave and cost."""
    table = Table(title="recorded streams")
    table.add_column("")
    for item in streams:
        table.add_column(item.name, justify="right")
    for numerics in ("exact", "fast"):
        table.add_row(f"{numerics}: s", *(f"{s.modes[numerics].seconds:.2f}" for s in streams))
        table.add_row(f"{numerics}: GiB", *(f"{s.modes[numerics].peak_gib:.2f}" for s in streams))
    table.add_row("exact: results", *(f"{s.passed:,} / {s.commands:,}" for s in streams))
    table.add_row("exact: memory snapshots", *(s.snapshots for s in streams))
    table.add_row("fast: largest output error", *(f"{s.logit_error:.2g}" for s in streams))
    table.add_row("timing alone: s", *(f"{s.timing_seconds:.2f}" for s in streams))
    table.add_row("onnxruntime, f32: s", *(_seconds(s.onnxruntime_seconds) for s in streams))
    table.add_row("fast / onnxruntime", *(_ratio(s) for s in streams))
    return table


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ratio(item: Stream) -> str:
    seconds = item.onnxruntime_seconds
    return "-" if seconds is None else f"{item.modes['fast'].seconds / seconds:.0f} x"


def main() -> None:
    """Measure, print, and write the figures when asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--golden", type=Path, metavar="DIR", help="vectors and streams")
    parser.add_argument("--cycles", type=Path, metavar="DIR", help="cycle data")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--run", nargs=2, metavar=("STREAM", "MODE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        print(json.dumps(run_once(Path(args.run[0]), args.run[1])))
        return
    for folder in (args.golden, args.cycles):
        if folder is None or not folder.is_dir():
            parser.error(f"--golden and --cycles each name a folder, not {folder}")
    console, progress = Console(), Console(stderr=True)
    with progress.status("vectors"):
        vectors = vector_scores(args.golden)
    console.print(score_table("vectors, exact mode: every bit as recorded", vectors))
    with progress.status("cycles"):
        rows, files = cycle_scores(args.cycles)
    console.print(score_table("cycles and bytes of single commands", rows))
    console.print(file_table(files))
    streams: list[Stream] = []
    for path in traces(args.golden):
        with progress.status(f"stream {path.stem}"):
            streams.append(stream(path))
    if streams:
        console.print(stream_table(streams))
    if args.json is not None:
        figures = {
            "vectors": {name: asdict(score) for name, score in vectors.items()},
            "cycle_rows": {name: asdict(score) for name, score in rows.items()},
            "cycle_totals": [asdict(file) for file in files],
            "streams": [asdict(item) for item in streams],
        }
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
