"""Where a result comes from: version, command line, seed, and hashes of the files it was made of.

Hashes of files are SHA-256 of their bytes, as `sha256sum` prints them.
"""

import hashlib
import json
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import onnx
from onnx import external_data_helper
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.chip.identity import figures_of, fingerprint
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.weights import WEIGHT_FILE
from xdsl_tpu.passes.pipelines import Quantization
from xdsl_tpu.tools.folder import COMPILED

_OF_COMPILATION = ("model", "weights", "calibration_table", "quantize_table")
"""Hashes that a run takes over from it."""


def command_line(tool: str, argv: Sequence[str] | None) -> str:
    """What was typed, paths as they were given; `argv` are arguments, None those of the process."""
    return shlex.join([tool, *(sys.argv[1:] if argv is None else argv)])


def file_hash(path: Path) -> str:
    """Of a file's bytes. Raises OSError."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def external_files(model: Path) -> list[str]:
    """Names of the files, beside an ONNX file, that hold weights of it.

    Raises TpuError when it is no ONNX file.
    """
    try:
        proto = onnx.ModelProto.FromString(model.read_bytes())
    except Exception as error:  # protobuf's errors have no common class
        raise TpuError(f"{model}: not an ONNX model: {error}") from error
    tensors = [t for t in proto.graph.initializer if external_data_helper.uses_external_data(t)]
    return sorted({external_data_helper.ExternalDataInfo(t).location for t in tensors})


def output_names(model: Path) -> list[str] | None:
    """What an ONNX file calls its outputs; None for IR, whose names a program keeps."""
    if model.suffix != ".onnx":
        return None
    return [one.name for one in onnx.ModelProto.FromString(model.read_bytes()).graph.output]


def weight_hashes(model: Path, module: ModuleOp, given: Path | None) -> dict[str, str]:
    """Hashes of the files, by name, that hold weights of a model which was just read."""
    if given is not None:
        return {given.name: file_hash(given)}
    if model.suffix == ".onnx":
        names = external_files(model)
    else:
        named = module.attributes.get(WEIGHT_FILE)
        names = [named.data] if isinstance(named, StringAttr) else []
    paths = {name: model.parent / name for name in names}
    return {name: file_hash(path) for name, path in paths.items() if path.is_file()}


def compilation(
    command: str | None,
    model: Path,
    weights: dict[str, str],
    quantization: Quantization,
    chip: Chip,
    program: Path,
) -> dict[str, Any]:
    """What `compile.json` says about where the bmodel `program` comes from.

    Nothing in a compilation is random: its seed is None.
    """
    tables = {
        "calibration_table": quantization.calibration_table,
        "quantize_table": quantization.quantize_table,
    }
    hashes: dict[str, Any] = {"model": file_hash(model), "weights": weights}
    hashes |= {key: file_hash(Path(name)) if name else None for key, name in tables.items()}
    hashes |= {"chip": fingerprint(figures_of(chip)), "program": file_hash(program)}
    return {
        "version": version("xdsl-tpu"),
        "command": command,
        "seed": None,
        "outputs": output_names(model),
        "hashes": hashes,
    }


def run(
    command: str | None, program: Path, chip: Chip, seed: int | None, inputs: Path | None
) -> dict[str, Any]:
    """What `report.json` says about where its figures come from.

    The hashes of the model and its tables are those of the `compile.json` beside the program, if
    that is of this program; None otherwise.
    """
    hashes: dict[str, Any] = {"program": file_hash(program)}
    known = _compiled_hashes(program.with_name(COMPILED), hashes["program"])
    hashes |= {key: known.get(key) for key in _OF_COMPILATION}
    hashes["chip"] = fingerprint(figures_of(chip))
    hashes["inputs"] = None if inputs is None else file_hash(inputs)
    return {"version": version("xdsl-tpu"), "command": command, "seed": seed, "hashes": hashes}


def model_outputs(program: Path) -> list[str]:
    """What the model of the bmodel `program` calls its outputs; none where nobody knows."""
    names = _compiled(program.with_name(COMPILED), file_hash(program)).get("outputs")
    return [str(name) for name in names or ()]


def network_floor(program: Path) -> int | None:
    """Cycles that no program of the network beats; None when no `compile.json` of it tells."""
    found = _compiled(program.with_name(COMPILED), file_hash(program))
    return found.get("floor", {}).get("cycles")


def stale_note(program: Path, reference: Path) -> str:
    """What to say of a model to compare with that has changed since the bmodel `program` was
    compiled from it; nothing of another model, or where nobody knows."""
    found = _compiled(program.with_name(COMPILED), file_hash(program))
    known = found.get("hashes", {}).get("model")
    if known is None or found.get("model") != reference.stem:
        return ""
    if not reference.is_file() or file_hash(reference) == known:
        return ""
    return (
        f"{reference} is not the file that {program.parent} was compiled from: it has changed "
        "since, or is another one of that name; compile it again before outputs are compared"
    )


def _compiled_hashes(path: Path, program: str) -> dict[str, Any]:
    return _compiled(path, program).get("hashes", {})


def _compiled(path: Path, program: str) -> dict[str, Any]:
    """What `compile.json` says of a bmodel with this hash; nothing when it is of another one."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found if found["hashes"]["program"] == program else {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}
