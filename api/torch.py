"""Programs of `torch.export` as ONNX models, by PyTorch's own exporter (extra `torch`)."""

from importlib import import_module
from pathlib import Path
from typing import Any

import onnx

from xdsl_tpu.dialects.errors import TpuError

SUFFIX = ".pt2"
"""Of the files that `torch.export.save` writes."""


def is_exported(model: object) -> bool:
    """Whether something is a `torch.export.ExportedProgram`; PyTorch is not imported for that."""
    kind = type(model)
    return kind.__name__ == "ExportedProgram" and kind.__module__.startswith("torch.")


def from_torch(program: Any) -> onnx.ModelProto:
    """The ONNX model of an exported program, or of the `.pt2` file at a path.

    It has the names of the program's inputs and outputs. Raises TpuError when PyTorch or
    onnxscript is missing, the file cannot be read, or the exporter knows no ONNX for an op.
    """
    if isinstance(program, str | Path) and not Path(program).is_file():
        raise TpuError(f"{program}: no such file")
    torch = _torch()
    if isinstance(program, str | Path):
        program = _read(torch, Path(program))
    try:
        made: Any = torch.onnx.export(program, dynamo=True, verbose=False)
    except Exception as error:  # whatever an exporter's passes raise
        raise TpuError(
            f"PyTorch cannot write this program as ONNX: {_first_line(error)}"
        ) from error
    return made.model_proto


def _read(torch: Any, path: Path) -> Any:
    try:
        return torch.export.load(path)
    except Exception as error:  # zipfile's, torch's and pickle's
        raise TpuError(
            f"{path}: not a program that torch.export.save wrote ({_first_line(error)})"
        ) from error


def _torch() -> Any:
    try:
        import_module("onnxscript")
        return import_module("torch")
    except ImportError as error:
        raise TpuError(
            f"programs of torch.export need {error.name}: pip install 'xdsl-tpu[torch]'"
        ) from None


def _first_line(error: Exception) -> str:
    """The exporter's errors end in pages of advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
