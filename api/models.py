"""A model as it may be given: a file, ONNX or IR in memory, a program of `torch.export`."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import onnx
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.api.torch import SUFFIX, from_torch, is_exported
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import print_module
from xdsl_tpu.dialects.weights import known_weights
from xdsl_tpu.tools.module_weights import name_weights

Model: TypeAlias = str | Path | onnx.ModelProto | ModuleOp | Any
"""The path of an `.onnx`, `.mlir` or `.pt2` file, an `onnx.ModelProto`, a module of Top IR as
`top_module` gives it, or a `torch.export.ExportedProgram`."""


@contextmanager
def as_file(model: Model, name: str | None = None) -> Generator[Path]:
    """A file that the compiler reads, while it is needed; `name` is what the program is called.

    Raises TpuError when there is no such file, or `model` is none of what can be given.
    """
    if isinstance(model, str | Path) and Path(model).suffix != SUFFIX:
        path = Path(model)
        if not path.is_file():
            raise TpuError(f"{path}: no such file")
        yield path
        return
    if isinstance(model, ModuleOp):
        with TemporaryDirectory() as folder:
            yield _written(model, Path(folder), name)
        return
    if isinstance(model, str | Path):
        proto, name = from_torch(model), name or Path(model).stem
    elif isinstance(model, onnx.ModelProto):
        proto = model
    elif is_exported(model):
        proto = from_torch(model)
    else:
        raise TpuError(
            f"a {type(model).__name__} is no model: give the path of an .onnx, .mlir or .pt2 file, "
            "an onnx.ModelProto, a module of Top IR or a program of torch.export"
        )
    with TemporaryDirectory() as folder:
        file = Path(folder, f"{_file_name(name or proto.graph.name)}.onnx")
        # onnx leaves the argument of its PathLike out
        onnx.save_model(proto, file)  # pyright: ignore[reportUnknownMemberType]
        yield file


def _written(module: ModuleOp, folder: Path, name: str | None) -> Path:
    """The text of a module, beside its weights."""
    title = name or (module.sym_name.data if module.sym_name else "")
    file = folder / f"{_file_name(title)}.mlir"
    if (weights := known_weights(module)) is not None:
        weights.save(folder / name_weights(module))
    with file.open("w", encoding="utf-8") as stream:
        print_module(module, stream)
    return file


def _file_name(name: str) -> str:
    """A graph's name without what a file's may not have."""
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    return kept.strip(".") or "model"


def fixed_shapes(given: Mapping[str, Any] | None) -> dict[str, tuple[int, ...]]:
    """Shapes of inputs by name; raises TpuError for what is none."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in (given or {}).items():
        if isinstance(shape, str) or not all(isinstance(size, int) for size in shape):
            raise TpuError(
                f"input_shapes: that of '{name}' is {shape!r}: give whole numbers, such as "
                "(1, 3, 224, 224)"
            )
        shapes[name] = tuple(shape)
    return shapes
