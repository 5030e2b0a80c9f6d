"""The inputs of a run: read from a file, or made from a seed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy.typing as npt
from xdsl.utils.exceptions import ParseError, VerifyException

from xdsl_tpu.backend.execute import random_inputs
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import InputRange
from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.passes.input_ranges import input_ranges
from xdsl_tpu.tools.array_files import read_arrays
from xdsl_tpu.tools.image_files import ImageReader, is_image
from xdsl_tpu.tools.preprocess import Given, preprocess_of

Arrays = Mapping[str, npt.NDArray[Any]]


IR_SUFFIXES = ("_tpu.mlir", ".mlir")
"""Of IR beside a bmodel called NAME.bmodel, or tpu.mlir, which says what its inputs are."""


def run_inputs(
    path: Path,
    program: Program,
    given: Path | None,
    seed: int,
    preprocess: Given = MappingProxyType({}),
) -> Arrays:
    """The arrays of the npz file `given`, or the one of an npy file or an image, or random ones.

    `path` is where the program is, `preprocess` how an image becomes its input.

    A program that does not note which inputs are ids may have IR beside it that tells, as the
    vendor's compiler leaves it. Raises TpuError when `given` is no such file.
    """
    if given is None:
        if not program.chip_figures:  # others made it
            program = replace(program, input_ranges=_ranges_beside(path, program))
        return random_inputs(program, seed)
    if is_image(given):
        name = _only_input(program, given)
        reader = ImageReader(name, program.inputs[0].shape, preprocess_of(preprocess))
        return {name: reader.read(given)}
    if preprocess:
        raise TpuError(f"{given}: preprocessing is for images, and arrays go to it as they are")
    arrays = read_arrays(given)
    return arrays if isinstance(arrays, dict) else {_only_input(program, given): arrays}


def _only_input(program: Program, given: Path) -> str:
    """What an array without a name is for."""
    if len(program.inputs) != 1:
        raise TpuError(
            f"{given}: one input, and the program has {len(program.inputs)} inputs; save them by "
            "name with np.savez"
        )
    return program.inputs[0].name


def _ranges_beside(path: Path, program: Program) -> dict[str, InputRange]:
    """What the IR beside a bmodel says of the program's inputs; nothing where there is none."""
    names = [path.stem + suffix for suffix in IR_SUFFIXES]
    files = [path.with_name(name) for name in (*names, "tpu.mlir")]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        return {}
    try:
        ranges = input_ranges(read_module(found))
    except (TpuError, VerifyException, ParseError):  # it is only asked for advice
        return {}
    inputs = {tensor.name for tensor in program.inputs}
    return {name: one for name, one in ranges.items() if name in inputs}
