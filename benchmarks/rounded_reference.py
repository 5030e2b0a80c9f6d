"""How much of a program's error is its number format's own: the same graph, every tensor rounded.

usage: python benchmarks/rounded_reference.py MODEL.onnx ... [--quantize F16 BF16] [--seed N]
                                              [--inputs X.npz] [--skip-program] [--json FILE]

The graph as imported and simplified is evaluated with every weight and every result of an op
rounded to the format once, and everything inside an op in f32: what hardware with a wide
accumulator gives at best if it keeps each tensor in that format. Both this reference and the
program on the machine are compared with onnxruntime. A program whose cosine is no lower than the
reference's has lost nothing of its own.

Ids are rounded with the rest: it is for networks whose inputs are numbers. Inputs are those of
`--inputs`, else of NAME.inputs.npz beside the model, else standard normal ones.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from figures import json_file, write_json
from networks import wide_console
from rich.table import Table
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, bf16, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import random_inputs, run_program
from xdsl_tpu.backend.report import closeness
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import Settings, lower, run_stage
from xdsl_tpu.passes.tensors import element_of, shape_of
from xdsl_tpu.tools.reference import reference_outputs

Array = npt.NDArray[Any]
CHIP = "bm1684x"
FORMATS: dict[str, Attribute] = {"F16": f16, "BF16": bf16}
WIDTH = 110


@dataclass(frozen=True)
class Row:
    """Lowest cosine of all outputs against onnxruntime; the program's is None when not run."""

    model: str
    quantize: str
    reference: float
    program: float | None


def rounded_module(model: Path, quantize: str) -> ModuleOp:
    """The imported and simplified graph with all its floating-point tensors in a 16-bit format."""
    module = import_onnx(model)
    run_stage(module, "top", Settings(quantize, CHIP))
    element = FORMATS[quantize]
    for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
        for value in _values(function):
            if isinstance(value.type, TensorType) and element_of(value) == f32:
                kind = TensorType(element, shape_of(value))
                Rewriter.replace_value_with_new_type(value, kind)
        block = function.body.block
        assert block.last_op is not None
        function.function_type = FunctionType.from_lists(
            block.arg_types, [value.type for value in block.last_op.operands]
        )
    return module


def _values(function: FuncOp) -> list[SSAValue]:
    results = [result for op in function.walk() for result in op.results]
    return [*function.body.block.args, *results]


def rounded_outputs(model: Path, inputs: Mapping[str, Array], quantize: str) -> list[Array]:
    """Outputs of the graph with every tensor rounded to `quantize` (F16 or BF16).

    Raises TpuError when the model cannot be imported or `inputs` do not fit it.
    """
    module = rounded_module(model, quantize)
    element = FORMATS[quantize]
    weights = dict(weights_of(module))
    for op in module.walk():
        if op.name != "top.Weight":
            continue
        name = name_of(op) or ""
        if element_of(op.results[0]) == element:
            weights[name] = _rounded(weights[name], quantize)
    return list(run_module(module, inputs, weights).values())


def _rounded(values: Array, quantize: str) -> Array:
    """The nearest numbers of the format, as weights are stored; too large ones its largest."""
    if quantize == "F16":
        return np.clip(values, -65504, 65504).astype(np.float16).astype(np.float32)
    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def program_outputs(model: Path, inputs: Mapping[str, Array], quantize: str) -> list[Array]:
    """Outputs of the compiled program on the machine."""
    chip = load_chip(CHIP)
    module = import_onnx(model)
    lower(module, quantize, chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    return list(run_program(program, chip, inputs).values())


def measure(model: Path, quantize: str, inputs: Mapping[str, Array], run: bool) -> Row:
    """Both cosines of one network in one format."""
    _, expected = reference_outputs(model, inputs)
    rounded = rounded_outputs(model, inputs, quantize)
    program = program_outputs(model, inputs, quantize) if run else None
    return Row(
        model.stem,
        quantize,
        _lowest(rounded, expected),
        None if program is None else _lowest(program, expected),
    )


def _lowest(found: Sequence[Array], expected: Sequence[Array]) -> float:
    pairs = zip(found, expected, strict=True)
    cosines = [closeness(value.reshape(want.shape), want).cosine for value, want in pairs]
    return math.nan if any(map(math.isnan, cosines)) else min(cosines)


def inputs_of(model: Path, given: Path | None, seed: int) -> dict[str, Array]:
    """The arrays of a file, or seeded normal ones."""
    beside = model.with_name(f"{model.stem}.inputs.npz")
    file = given or (beside if beside.is_file() else None)
    if file is not None:
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    chip, module = load_chip(CHIP), import_onnx(model)
    lower(module, "F16", chip.instruction_set)
    return random_inputs(generate(module, weights_of(module), chip), seed)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What a number format costs by itself.")
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--quantize", nargs="+", choices=FORMATS, default=["F16"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inputs", type=Path)
    parser.add_argument("--skip-program", action="store_true", help="the reference alone")
    parser.add_argument("--json", type=json_file)
    args = parser.parse_args()
    rows: list[Row] = []
    shown = Table("model", "format", "rounded reference", "program", title="cosine to onnxruntime")
    for model in args.models:
        inputs = inputs_of(model, args.inputs, args.seed)
        for quantize in args.quantize:
            row = measure(model, quantize, inputs, not args.skip_program)
            rows.append(row)
            program = "" if row.program is None else f"{row.program:.8f}"
            shown.add_row(row.model, quantize, f"{row.reference:.8f}", program)
    wide_console(WIDTH).print(shown)
    write_json(args.json, [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
