"""How close a program's outputs are to those of its model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from xdsl_tpu.api.arrays import Array, Inputs, bound
from xdsl_tpu.api.models import Model, as_file
from xdsl_tpu.api.program import Program
from xdsl_tpu.api.told import told
from xdsl_tpu.backend.report import Closeness, closeness
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.array_files import read_arrays
from xdsl_tpu.tools.reference import reference_outputs

_ARRAYS = (".npz", ".npy")


@dataclass(frozen=True, repr=False)
class Comparison:
    """For every output, its closeness to the `reference`, which is named in words."""

    reference: str
    outputs: Mapping[str, Closeness]

    @property
    def cosine(self) -> float:
        """The lowest of all outputs."""
        return min(close.cosine for close in self.outputs.values())

    @property
    def max_abs_error(self) -> float:
        """The largest of all outputs."""
        return max(close.max_abs_error for close in self.outputs.values())

    def __repr__(self) -> str:
        found = "; ".join(
            f"{name}: cosine {close.cosine:.7f}, max abs error {close.max_abs_error:.3g}"
            for name, close in self.outputs.items()
        )
        return f"<against {self.reference}: {found}>"


def compare(
    program: Program,
    reference: Model | Mapping[str, Array],
    inputs: Inputs | None = None,
    *,
    seed: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Run a program, and compare its outputs with a model's on the same inputs, or with arrays.

    An ONNX model is run by onnxruntime (extra `reference`), Top IR by the interpreter; their
    outputs are matched by position, arrays by name. `inputs` and `seed` are as in `Program.run`.

    Raises TpuError when the two do not have the same outputs.
    """
    given = program.random_inputs(seed) if inputs is None else bound(program.commands, inputs)
    outputs = program.run(given, progress=progress)
    if isinstance(reference, Mapping):
        return _with_arrays(outputs, cast("Mapping[str, Array]", reference))
    with told(), as_file(reference, program.name) as file:
        return compare_outputs(file, given, outputs)


def compare_outputs(
    model: Path, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> Comparison:
    """Closeness of every output to that of the model's reference at the same position.

    `model` may also be a file of arrays, as `tpu-run --outputs` writes, which are matched by name
    where all are names of outputs, else by position as well.
    """
    if model.suffix in _ARRAYS:
        arrays = read_arrays(model)
        if isinstance(arrays, dict) and outputs.keys() >= arrays.keys():
            return _with_arrays(outputs, arrays, model.name)
        kind, expected = "arrays", [*arrays.values()] if isinstance(arrays, dict) else [arrays]
    else:
        kind, expected = reference_outputs(model, inputs)
    if len(expected) != len(outputs):
        raise TpuError(
            f"{model} has {len(expected)} outputs, the program has {len(outputs)} "
            f"({', '.join(outputs)}): was it compiled from this model?"
        )
    tensors: dict[str, Closeness] = {}
    for (name, value), reference in zip(outputs.items(), expected, strict=True):
        if value.shape != reference.shape:
            raise TpuError(
                f"output '{name}' has shape {list(value.shape)}, in {model} it has "
                f"{list(reference.shape)}: was the program compiled from this model?"
            )
        tensors[name] = closeness(value, reference)
    return Comparison(f"{kind} {model.name}", tensors)


def _with_arrays(
    outputs: Mapping[str, Array], expected: Mapping[str, Array], name: str = ""
) -> Comparison:
    missing = [name for name in expected if name not in outputs]
    if missing or not expected:
        said = f"no output '{missing[0]}'" if missing else "no arrays to compare with"
        raise TpuError(f"{said}; the program has {', '.join(outputs)}")
    for name, array in expected.items():
        if array.shape != outputs[name].shape:
            raise TpuError(
                f"output '{name}' has shape {list(outputs[name].shape)}, the array to compare "
                f"with has {list(array.shape)}"
            )
    close = {name: closeness(outputs[name], array) for name, array in expected.items()}
    return Comparison(f"arrays {name}".rstrip(), close)
