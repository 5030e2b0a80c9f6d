"""One network through the tools, each step a process with a time limit and a memory figure."""

import json
import math
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from networks import TOOLS, ToolFailure, lowest_cosine
from zoo_samples import write_samples

OK, WRONG, FAILED = "ok", "wrong", "failed"

LEAST_COSINE = {"F32": 0.999999, "F16": 0.9999, "BF16": 0.9999, "INT8": 0.99}
"""Format -> the lowest cosine against onnxruntime that counts as the same output."""

CALIBRATE = ("--method", "auto", "--suggest-mixed", "--target-cosine", str(LEAST_COSINE["INT8"]))
"""What brings a network to INT8 in one command."""

RAN = (0, 3, 4)
"""Statuses of a tpu-run that came to its end: fine, outputs not finite, outputs that differ."""

POLL = 0.05
"""Seconds between looks at a process."""

LONGEST_MESSAGE = 300


@dataclass(frozen=True)
class Task:
    """One network in one number format, and what is known of it."""

    source: Path
    quantize: str
    floor_given: int | None = None
    previous_cycles: int | None = None
    vendor_cycles: int | None = None

    @property
    def inputs(self) -> Path:
        """The file of inputs beside it, if there is one."""
        return self.source.with_suffix(".inputs.npz")


@dataclass
class Row:
    """How far one network came."""

    network: str
    quantize: str
    status: str = FAILED
    message: str = ""
    cosine: float | None = None
    max_abs_error: float | None = None
    cycles: int | None = None
    floor: int | None = None
    floor_given: int | None = None
    previous_cycles: int | None = None
    vendor_cycles: int | None = None
    kept_in_float: int | None = None
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    peak_gib: float = 0.0

    @property
    def over_floor(self) -> float | None:
        """Cycles over the floor: the one given, where one is."""
        floor = self.floor_given or self.floor
        return self.cycles / floor if self.cycles and floor else None

    @property
    def vendor_ratio(self) -> float | None:
        """The vendor's cycles over ours."""
        return self.vendor_cycles / self.cycles if self.vendor_cycles and self.cycles else None


class Processes:
    """The processes that are running, so that none is left when the benchmark ends."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, command: list[str], deadline: float, log: Path) -> tuple[int, float]:
        """Status and peak GiB of a process that writes to the file `log`.

        Raises TimeoutError when it still runs at the deadline; it is ended then.
        """
        with log.open("wb") as stream:
            with self._lock:
                if self._stopped:
                    raise ToolFailure("not started: the benchmark was stopped")
                child = subprocess.Popen(command, stdout=stream, stderr=stream)
                self._running.add(child)
            try:
                return _wait(child, deadline)
            finally:
                with self._lock:
                    self._running.discard(child)

    def stop(self) -> None:
        """End all of them; none starts any more."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                os.kill(child.pid, signal.SIGKILL)


def _wait(child: subprocess.Popen[bytes], deadline: float) -> tuple[int, float]:
    late = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if not late and time.monotonic() > deadline:
            late = True
            os.kill(child.pid, signal.SIGKILL)
        time.sleep(POLL)
    child.returncode = os.waitstatus_to_exitcode(status)
    if late:
        raise TimeoutError
    return child.returncode, usage.ru_maxrss / 2**20


class Steps:
    """Import, calibration, compilation and run of one network, in the folder `out`."""

    def __init__(
        self, task: Task, out: Path, seed: int, limit: float, processes: Processes
    ) -> None:
        self.task, self.out, self.seed, self.limit = task, out, seed, limit
        self.deadline = time.monotonic() + limit
        self.processes = processes
        self.row = Row(
            task.source.stem,
            task.quantize,
            floor_given=task.floor_given,
            previous_cycles=task.previous_cycles,
            vendor_cycles=task.vendor_cycles,
        )

    def all(self) -> Row:
        """Every step until one fails, which becomes the row's message."""
        try:
            options = self._calibrate() if self.task.quantize == "INT8" else []
            self._compile(options)
            self._floor()
            self._judge(self._run())
        except ToolFailure as failure:
            self.row.message = _shortened(str(failure))
        except Exception as error:  # whatever it is, it is this network's, and the others go on
            self.row.message = _shortened(f"{type(error).__name__}: {error}")
        return self.row

    def _tool(self, step: str, tool: str, *arguments: str | Path) -> int:
        command = [str(TOOLS / tool), *map(str, arguments), "--quiet"]
        log = self.out / f"{step}.log"
        start = time.monotonic()
        try:
            status, peak = self.processes.run(command, self.deadline, log)
        except TimeoutError:
            raise ToolFailure(f"{tool}: the time limit of {self.limit:g} s was reached") from None
        finally:
            self.row.seconds[step] = round(time.monotonic() - start, 2)
        self.row.peak_gib = max(self.row.peak_gib, round(peak, 3))
        if status and not (tool == "tpu-run" and status in RAN):
            raise ToolFailure(_said(tool, status, log))
        return status

    def _calibrate(self) -> list[str | Path]:
        """The options for `tpu-compile` that make INT8 of it."""
        samples, table = self.out / "samples.npz", self.out / "table.cali"
        write_samples(self.task.source, self.task.inputs, samples)
        self._tool(
            *("calibrate", "tpu-calibrate", self.task.source, "--dataset", samples, "-o", table),
            *CALIBRATE,
        )
        modes = table.with_suffix(".qtable")
        options: list[str | Path] = ["--calibration-table", table]
        if modes.exists():
            lines = modes.read_text(encoding="utf-8").splitlines()
            self.row.kept_in_float = sum(not line.startswith("#") for line in lines)
            options += ["--quantize-table", modes]
        return options

    def _compile(self, options: list[str | Path]) -> None:
        out = self.out / "program"
        source = self.task.source
        arguments = ("--quantize", self.task.quantize, "-o", out, *options)
        self._tool("compile", "tpu-compile", source, *arguments)
        seconds = json.loads((out / "compile.json").read_text(encoding="utf-8"))["seconds"]
        self.row.seconds = {"import": round(seconds["import"], 2)} | self.row.seconds

    def _floor(self) -> None:
        compiled = (self.out / "program" / "compile.json").read_text(encoding="utf-8")
        self.row.floor = json.loads(compiled)["floor"]["cycles"]

    def _run(self) -> dict[str, Any]:
        report, inputs = self.out / "report.json", self.task.inputs
        given = ("--inputs", inputs) if inputs.is_file() else ("--seed", str(self.seed))
        program = self.out / "program"
        compared = ("--compare", self.task.source, "--report", report)
        self._tool("run", "tpu-run", program, *given, *compared)
        return json.loads(report.read_text(encoding="utf-8"))

    def _judge(self, report: dict[str, Any]) -> None:
        row, tensors = self.row, report["comparison"]["tensors"].values()
        row.cycles, row.cosine = report["cycles"], lowest_cosine(report)
        errors = [one["max_abs_error"] for one in tensors]
        row.max_abs_error = None if None in errors else max(errors)
        lost = sum(one["not_finite"] for one in report["outputs"].values())
        least = LEAST_COSINE[row.quantize]
        if lost:
            row.message = f"{lost:,} numbers of its outputs are not finite"
        elif not row.cosine >= least:
            row.message = f"cosine {row.cosine:.6f} is below {least}"
        row.status = WRONG if row.message else OK
        if math.isnan(row.cosine):
            row.cosine = None


def _said(tool: str, status: int, log: Path) -> str:
    """One line of what a tool said before it failed."""
    if status < 0:
        return f"{tool} was ended by {signal.Signals(-status).name} (out of memory?)"
    text = log.read_text(encoding="utf-8", errors="replace")
    said = [line.strip() for line in text.splitlines() if line.strip()] or ["it said nothing"]
    errors = [at for at, line in enumerate(said) if line.startswith("error:")]
    if not errors:
        return f"{tool} failed with status {status}: {said[-1]}"
    first = said[errors[-1]]
    # A list of problems: the first of them says more than its heading.
    return f"{first} {said[errors[-1] + 1]}" if said[errors[-1] + 1 :] else first


def _shortened(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}.."
