"""The example networks, what they are measured against, and the tools run as a user runs them."""

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

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

EXAMPLE_NAMES = tuple(dict.fromkeys(name for name, _ in VENDOR_CYCLES))

WANTED_COSINE = {"F32": 0.99999, "F16": 0.9999, "BF16": 0.99}
"""Format -> the lowest cosine against onnxruntime that counts as the same output."""


class ToolFailure(Exception):
    """A tool's exit code was not 0; the text is one line with what it said last."""


def source_of(model: str) -> Path:
    """The ONNX file of an example's name or of a path.

    Raises:
        ToolFailure: there is none.
    """
    for path in (Path(model), EXAMPLES / f"{model}.onnx"):
        if path.is_file() and path.suffix == ".onnx":
            return path
    known = ", ".join(EXAMPLE_NAMES)
    raise ToolFailure(f"{model}: neither an ONNX file nor an example ({known})")


def compiled(
    source: Path, quantize: str, out: Path, disable: Sequence[str] = ()
) -> tuple[float, dict[str, float]]:
    """`tpu-compile` into the folder `out`: wall seconds, and seconds of each stage."""
    off = [part for name in disable for part in ("--disable-pass", name)]
    seconds = run_tool("tpu-compile", source, "--quantize", quantize, "-o", out, "--quiet", *off)
    return seconds, json.loads((out / "compile.json").read_text())["seconds"]


def executed(source: Path, out: Path, seed: int) -> tuple[float, dict[str, Any]]:
    """`tpu-run` on the bmodel in `out`, compared with onnxruntime: wall seconds and the report."""
    report = out / f"report{seed}.json"
    arguments = ("--seed", str(seed), "--compare", source, "--report", report, "--quiet")
    seconds = run_tool("tpu-run", out / "model.bmodel", *arguments)
    return seconds, json.loads(report.read_text())


def lowest_cosine(report: dict[str, Any]) -> float:
    """The lowest cosine of all outputs in a report of `executed`; NaN if one is not a number."""
    cosines = [tensor["cosine"] for tensor in report["comparison"]["tensors"].values()]
    return math.nan if None in cosines else min(cosines)


def peak_gib() -> float:
    """The most memory that any tool has used so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20


def wide_console(columns: int) -> Console:
    """A terminal of at least so many columns, as figures are of no use cut off."""
    console = Console()
    console.width = max(console.width, columns)
    return console


def run_tool(tool: str, *arguments: str | Path) -> float:
    """Wall seconds of a tool as a process of its own."""
    command = [str(TOOLS / tool), *map(str, arguments)]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        errors = [line for line in said if "error" in line.lower()] or said
        raise ToolFailure(f"{tool} failed with exit code {done.returncode}: {errors[-1].strip()}")
    return seconds
