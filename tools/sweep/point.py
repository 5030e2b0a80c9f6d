"""One point of a sweep: one model, one number format, one chip; from files to figures.

A point travels to its worker as plain values, model files included: a worker on another machine
needs nothing but this package.
"""

import hashlib
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from xdsl_tpu.backend.report import run_report
from xdsl_tpu.backend.timing import simulate_program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.pipelines import FLOAT, Quantization
from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.errors import describe
from xdsl_tpu.tools.files import require_file
from xdsl_tpu.tools.provenance import external_files

Files = Mapping[str, bytes]
"""A model's files by name, the model itself first."""

_CHIP = "chip.toml"


@dataclass(frozen=True)
class Point:
    """What is compiled, and for which chip."""

    model: str  # name of the model's file
    quantize: str
    changes: tuple[tuple[str, int | float], ...]  # figures of the chip that are not the base's
    chip: str  # its description, TOML
    table: str | None = None  # name of the calibration table among the model's files
    disable: tuple[str, ...] = ()

    def label(self) -> str:
        """In words, for people."""
        changes = (f"{key}={value}" for key, value in self.changes)
        return " ".join((self.model, self.quantize, *changes))

    def key(self, files: Files) -> str:
        """A name for the result: equal points of equal files have equal ones."""
        digest = hashlib.sha256(version("xdsl-tpu").encode())
        parts = (self.model, self.quantize, self.chip, self.table, self.disable)
        digest.update(json.dumps(parts).encode())
        for name, data in files.items():
            digest.update(name.encode() + b"\0" + len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()[:16]


def model_files(model: Path, table: Path | None = None) -> dict[str, bytes]:
    """The model and what it refers to, by name: external weights, a module's npz, the table.

    Raises TpuError for a file that is missing, a model's also where it is outside its folder.
    """
    require_file(model)
    names = [model.name, *_companions(model)]
    files: dict[str, bytes] = {}
    for name in names:
        path = model.parent / name
        if not path.resolve().is_relative_to(model.parent.resolve()):
            raise TpuError(f"{model}: refers to {name}, which is outside its folder")
        if not path.is_file():
            raise TpuError(f"{model}: refers to {name}, which is not beside it")
        files[name] = path.read_bytes()
    if table is None:
        return files
    if not table.is_file():
        raise TpuError(f"{table}: no such calibration table; make one with tpu-calibrate")
    return files | {table.name: table.read_bytes()}


def _companions(model: Path) -> list[str]:
    if model.suffix == ".mlir":
        return sorted(path.name for path in model.parent.glob("*.npz"))
    if model.suffix != ".onnx":
        raise TpuError(f"{model}: neither .onnx nor .mlir; give an ONNX model or Top IR")
    return external_files(model)


def run_point(point: Point, files: Files) -> dict[str, Any]:
    """Compile and time; `{"status": "done", "seconds": ..., **figures}` or `{"status": "failed",
    "error": message}`. Everything that can go wrong with one point is its own result."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tpu-sweep-") as folder:
        try:
            figures = _measure(point, files, Path(folder))
        except Exception as error:
            # The folder is gone when the message is read, and the chip is no file of the user's.
            message = describe(error).replace(f"{Path(folder, _CHIP)}:", "chip:")
            return {"status": "failed", "error": message.replace(f"{folder}/", "")}
    return {"status": "done", "seconds": round(time.perf_counter() - start, 2), **figures}


def _measure(point: Point, files: Files, folder: Path) -> dict[str, Any]:
    for file, data in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    chip_file = folder / _CHIP
    chip_file.write_text(point.chip, encoding="utf-8")
    result = compile_model(
        folder / point.model,
        folder / "out",
        point.quantize,
        str(chip_file),
        disable=point.disable,
        quantization=FLOAT if point.table is None else Quantization(str(folder / point.table)),
    )
    program, chip = result.program, result.chip
    report = run_report(program, chip, simulate_program(program, chip), None, {})
    kept = ("cycles", "milliseconds", "bdc", "gdma")
    floor = result.floor or 1
    gap = {"floor": floor, "gap": round(report["cycles"] / floor, 4)}
    figures = {key: report[key] for key in kept} | gap
    return figures | {"memory": result.summary()["memory"]}
