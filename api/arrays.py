"""Inputs as they may be given, and arrays under the names that the model has."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError

Array: TypeAlias = npt.NDArray[Any]
Inputs: TypeAlias = Mapping[str, Any] | Sequence[Any] | Array
"""Arrays by name, arrays in the order of the model's inputs, or the only one. Whatever numpy makes
an array of will do, tensors of other frameworks included."""


def bound(program: Program, inputs: Inputs) -> dict[str, Array]:
    """The arrays by name. Raises TpuError when there are more or fewer than the program takes.

    Names, shapes and types are checked where the program is run.
    """
    if isinstance(inputs, Mapping):
        return {str(name): np.asarray(value) for name, value in inputs.items()}
    names = [t.name for t in program.inputs if t.name not in program.random_masks]
    given = inputs if isinstance(inputs, list | tuple) else [inputs]
    if len(given) != len(names):
        raise TpuError(
            f"{len(given)} input{'s' if len(given) != 1 else ''} given, the program takes "
            f"{len(names)}: {', '.join(names)}"
        )
    return dict(zip(names, map(np.asarray, given), strict=True))


def shape_text(shape: Sequence[int]) -> str:
    """As the tools print shapes: `1x3x224x224`, or `scalar`."""
    return "x".join(map(str, shape)) or "scalar"
