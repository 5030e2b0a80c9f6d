"""Recorded streams: every result against its CRC, and what a run costs in time and memory.

Streams run in processes of their own, so that times and peak memory are those of one run.
"""

import json
import os
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from machine_scores import CHIP, DAMAGE, Unreadable, files_below, in_words
from tests.machine import golden_traces

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MODES = ("fast", "exact")


@dataclass
class Mode:
    """One run of a stream: wall seconds of the commands alone, peak memory of the process."""

    seconds: float
    peak_gib: float


@dataclass
class Stream:
    """A recorded stream: results and memory snapshots with the recorded CRC, and the costs.

    `problem` says what kept it from running to its end; `passed` counts the results before.
    """

    name: str
    commands: int = 0
    passed: int = 0
    snapshots: str = "-"
    logit_error: float = float("nan")
    modes: dict[str, Mode] = field(default_factory=dict[str, Mode])
    timing_seconds: float = float("nan")
    onnxruntime_seconds: float | None = None
    problem: str = ""

    @property
    def shortcoming(self) -> str:
        """What differs from the recording in exact mode, in words."""
        if self.problem:
            return self.problem
        if self.passed < self.commands:
            return f"{self.commands - self.passed:,} of {self.commands:,} results"
        equal, _, recorded = self.snapshots.partition(" / ")
        return "" if equal == recorded or not recorded else f"memory snapshots: {self.snapshots}"


def traces(folder: Path, unreadable: list[Unreadable]) -> Iterator[Path]:
    """The recorded streams below a folder."""
    for path in files_below(folder, ".npz"):
        try:
            with np.load(path) as file:
                is_stream = "crc" in file.files and "raw" in file.files
        except DAMAGE as error:
            unreadable.append(Unreadable(str(path), in_words(error)))
            continue
        if is_stream:
            yield path


def stream(path: Path) -> Stream:
    """Measure one stream in processes of its own."""
    found = Stream(path.stem, onnxruntime_seconds=onnxruntime_seconds(path.stem))
    script = Path(__file__).with_name("machine.py")
    for numerics in MODES:
        command = [sys.executable, str(script), "--run", str(path), numerics]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            found.problem = found.problem or f"{numerics}: {last[0][:200]}"
            continue
        result: dict[str, Any] = json.loads(done.stdout)
        if result["problem"]:
            found.problem = found.problem or f"{numerics}: {result['problem']}"
        if "seconds" in result:
            found.modes[numerics] = Mode(result["seconds"], result["peak_gib"])
        found.timing_seconds = result.get("timing_seconds", found.timing_seconds)
        if numerics == "fast":
            found.logit_error = result.get("logit_error", found.logit_error)
        found.commands = result.get("commands", found.commands)
        found.passed = result.get("passed", found.passed)
        found.snapshots = result.get("snapshots", found.snapshots)
    return found


def run_once(path: Path, numerics: str) -> dict[str, Any]:
    """The measurements of one run, in this process; exact runs are then repeated with CRCs."""
    result: dict[str, Any] = {"problem": ""}
    try:
        _measure(path, numerics, result)
    except DAMAGE as error:
        result["problem"] = in_words(error)
    if numerics == "exact":
        try:
            result |= _crcs(path)
        except DAMAGE as error:
            result["problem"] = result["problem"] or in_words(error)
    return result


def loaded(path: Path, numerics: Any) -> tuple[golden_traces.Trace, Machine]:
    """A stream and a machine with its weights, inputs and static memory."""
    trace = golden_traces.load_trace(path)
    machine = Machine(CHIP, numerics)
    golden_traces.prepare(trace, machine)
    if "smem" in trace.data:
        machine.memory.write(CHIP.static_base, trace.data["smem"])
    return trace, machine


def _measure(path: Path, numerics: str, result: dict[str, Any]) -> None:
    trace, machine = loaded(path, numerics)
    result["commands"] = len(trace.commands)
    queues = [trace.queue(engine, len(trace.commands)) for engine in Engine]
    start = time.perf_counter()
    simulate(queues[0], queues[1], CHIP)
    result["timing_seconds"] = time.perf_counter() - start
    start = time.perf_counter()
    machine.run(queues[0], queues[1])
    result["seconds"] = time.perf_counter() - start
    result["peak_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    result["logit_error"] = max(_output_errors(trace, machine), default=0.0)


def _output_errors(trace: golden_traces.Trace, machine: Machine) -> Iterator[float]:
    for port in trace.meta["io"]:
        wanted = trace.data.get(f"out_{port['name']}")
        if port["kind"] == "output" and wanted is not None:
            address = CHIP.ddr_base + port["addr"]
            got = machine.memory.read(address, wanted.shape, wanted.dtype)
            yield float(np.abs(got.astype(np.float64) - wanted).max())


def _crcs(path: Path) -> dict[str, Any]:
    """Run command by command in the recorded order, comparing every result.

    A command that cannot be executed fails, and those behind it are tried all the same.
    """
    trace, machine = loaded(path, "exact")
    snapshots: dict[int, int] = {}
    if "lmem_crc" in trace.data:
        snapshots = dict(trace.data["lmem_crc"].tolist())
    passed, equal, problem = 0, 0, ""
    for position, command in enumerate(trace.commands):
        try:
            machine.execute(command)
            passed += trace.region_crc(machine, position) == int(trace.data["crc"][position])
        except TpuError as error:
            problem = problem or str(error)[:200]
        if position in snapshots:
            equal += zlib.crc32(machine.memory.local.bytes.tobytes()) == snapshots[position]
    found = {"passed": passed, "snapshots": f"{equal} / {len(snapshots)}"}
    return {"commands": len(trace.commands)} | found | ({"problem": problem} if problem else {})


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
