"""The weights that go with a module's text: found beside the input, left beside the output."""

import math
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top import WeightOp
from xdsl_tpu.dialects.weights import (
    WEIGHT_FILE,
    Weights,
    attach,
    attached_weights,
    rename_weights,
    weights_of,
)

_VARIABLE = "oneflow.variable"
"""A OneFlow job's weight, by its name: few modules have one, and need its dialect."""


def attach_weights(module: ModuleOp, directory: Path, weight_file: str | None) -> None:
    """Tell `module` where its weights are.

    They are in its `module.weight_file` in `directory`, which is not opened yet, or in
    `weight_file` when that is given (which a module that names no file takes as its own).
    """
    info, named = module_info(module), _weight_file(module)
    info.base_dir = directory.resolve()
    info.weight_file = None if named is None else info.base_dir / named
    if weight_file is None:
        return
    attach(module, Weights(weight_file))
    if named is None:
        rename_weights(module, Path(weight_file).name)


def attach_to_model(module: ModuleOp, model: Path, given: Path | None = None) -> None:
    """Find the weights of a module read from the file `model`.

    They are in `given`, in the module's `module.weight_file`, or for a OneFlow job whose variables
    nothing else has values for in the npz file beside `model` that is called like it.

    Raises TpuError when a job has variables and there is no such file.
    """
    beside = model.with_suffix(".npz")
    if given is None and _weight_file(module) is None and _has_variables(module):
        if not beside.is_file():
            raise TpuError(
                f"{model}: its variables have no values: put them in {beside.name} beside it, as "
                "arrays called like the variables' op_name, or give such a file with --weights"
            )
        given = beside
    attach_weights(module, model.parent, None if given is None else str(given))


def check_weights(module: ModuleOp, model: Path) -> None:
    """Look at the values of all weights of a module that was read from `model`.

    Raises TpuError naming a weight that is missing, has another size than the IR says, or holds
    NaN.
    """
    ops = [op for op in module.walk() if isinstance(op, WeightOp)]
    if not ops:
        return
    weights = weights_of(module)
    for op in ops:
        name, kind = name_of(op) or "", op.output.type
        values = weights[name]
        shape = list(kind.get_shape()) if isa(kind, TensorType[Attribute]) else []
        if values.size != math.prod(shape):
            raise TpuError(
                f"weight '{name}' has shape {list(values.shape)} in the weight file, {shape} in "
                f"{model}: use the weight file that was written with this module"
            )
        if values.dtype.kind == "f" and values.size and np.isnan(values.max()):
            raise TpuError(
                f"weight '{name}' of {model} holds NaN: every result would be NaN; write the "
                "weight file again from a model without"
            )


def _has_variables(module: ModuleOp) -> bool:
    return any(op.name == _VARIABLE for op in module.walk())


def save_weights(
    modules: Sequence[ModuleOp], directory: Path, output: Path | None, new: list[Path]
) -> None:
    """Leave each module's weights beside the output, so that text and weights stay together.

    Weights that passes changed, and those of files that the module does not name (any more), are
    saved under `module.weight_file` in the directory of `output`, or in the current one for
    standard output and pipes, which a line on standard error says; never over a file they were
    read from or the input names, in which case the module gets a new name for them. Text that
    nothing keeps, on a terminal or the null device, leaves no file. Unchanged weights of an input
    elsewhere are copied when there is an output file. Every file that was not there before is
    added to `new`.
    """
    written: set[Path] = set()
    beside = output.parent if output and (output.is_file() or not output.exists()) else None
    for module in modules:
        weights = attached_weights(module)
        name = _weight_file(module)
        if name is None:
            if not weights:
                continue
            name = name_weights(module)
        if weights is None or not _must_be_saved(weights, directory / name):
            if beside is not None:
                _copy(directory / name, beside / name, new)
        elif beside is None and _is_only_shown(output):
            _note(f"changed weights ({name}) are not saved: the output goes to no file")
        else:
            taken = written | _read_from(module, weights)
            candidates = _candidates((beside or Path()) / name)
            target = next(path for path in candidates if path.resolve() not in taken)
            drop_unused(module, weights)
            if not target.exists():
                new.append(target)
            weights.save(target)
            written.add(target.resolve())
            rename_weights(module, target.name)
            if beside is None:
                _note(f"changed weights are saved in {target}")


def name_weights(module: ModuleOp) -> str:
    """The weight file of a module; one that names none gets a name."""
    if (name := _weight_file(module)) is None:
        name = f"{module.sym_name.data if module.sym_name else 'module'}_weight.npz"
        rename_weights(module, name)
    return name


def _must_be_saved(weights: Weights, named: Path) -> bool:
    """Whether the arrays are not those of the file `named`."""
    if weights.changed:
        return True
    return bool(weights.files) and named.resolve() not in map(Path.resolve, weights.files)


def _read_from(module: ModuleOp, weights: Weights) -> set[Path]:
    """The files of the input, which stay as they are."""
    named = module_info(module).weight_file
    return {path.resolve() for path in (*weights.files, *([named] if named else ()))}


def _is_only_shown(output: Path | None) -> bool:
    """Whether nothing keeps a text written there: a terminal, the null device."""
    try:
        found = os.fstat(sys.stdout.fileno()) if output is None else output.stat()
    except OSError:  # a standard output that is none of the system's
        return False
    return stat.S_ISCHR(found.st_mode)


def _note(message: str) -> None:
    print(f"note: {message}", file=sys.stderr)


def drop_unused(module: ModuleOp, weights: Weights) -> None:
    """Forget the arrays that no op of the module names, such as what constants were folded from."""
    used = {name_of(op) for op in module.walk() if op.name in (WeightOp.name, _VARIABLE)}
    for name in [name for name in weights if name not in used]:
        del weights[name]


def _candidates(path: Path) -> chain[Path]:
    """`path`, then names derived from it: `_origin_weight` gives `_weight`, else a number."""
    plain = path.name.replace("_origin_weight", "_weight")
    numbered = (path.with_name(f"{path.stem}_{number}{path.suffix}") for number in count(1))
    return chain((path, path.with_name(plain)), numbered)


def _copy(source: Path, target: Path, new: list[Path]) -> None:
    """Put the file beside the output, by a link where that is possible."""
    if not source.is_file() or target.exists():
        return
    new.append(target)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _weight_file(module: ModuleOp) -> str | None:
    attribute = module.attributes.get(WEIGHT_FILE)
    return attribute.data if isinstance(attribute, StringAttr) else None
