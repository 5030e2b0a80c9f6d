"""Real compiled networks of another compiler: their layer groups through our code generator.

The files give every slice, address and time step; weights and inputs are random.
"""

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.tile.reading import commands, lowered
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import Weights, attach, from_float32, weights_of

DATA = Path(__file__).parents[1] / "data" / "ir"

TOTALS = {"mobilenetv2_100": 568_658, "resnet50": 1_449_589, "swin_t": 3_050_233}
"""Cycles of the compiler that made the files, for the same groups (docs/accuracy.md)."""


def final_module(name: str) -> ModuleOp:
    """A final file with random weights that keep activations near 1."""
    path = DATA / f"{name}_bm1684x_f16_final.mlir.gz"
    module = parse_module(gzip.decompress(path.read_bytes()).decode())
    weights = Weights()
    for op in module.walk():
        if isinstance(op, top.WeightOp):
            kind = op.output.type
            assert isa(kind, TensorType[Attribute])
            weights[name_of(op) or ""] = from_float32(_values(op), kind.element_type)
    attach(module, weights)
    return module


def _values(op: top.WeightOp) -> npt.NDArray[np.float32]:
    kind = op.output.type
    assert isa(kind, TensorType[Attribute])
    shape = kind.get_shape()
    path = op.path.data if op.path is not None else ""
    generator = np.random.default_rng(list((name_of(op) or "").encode()))
    values = generator.standard_normal(shape, np.float32)
    if "bias" in path or "Add" in path:
        return values * np.float32(0.1)
    inner = shape[-2] if "MatMul" in path else int(np.prod(shape[2:]))
    gain = 1.0 if "MatMul" in path else 2.0
    return values * np.float32((gain / max(inner, 1)) ** 0.5)


@pytest.mark.parametrize("name", sorted(TOTALS))
def test_final_file_computes_what_it_says_in_fewer_cycles(name: str) -> None:
    """And so does what is read back from the text of its tile programs, by the same commands."""
    chip = load_chip()
    module = final_module(name)
    program = generate(module, weights_of(module), chip)
    (tensor,) = program.inputs
    values = np.random.default_rng(1).standard_normal(tensor.shape, np.float32)
    (expected,) = run_module(module, {tensor.name: values}).values()
    (got,) = run_program(program, chip, {tensor.name: values}).values()
    a, b = np.asarray(expected).ravel().astype(float), got.ravel().astype(float)
    distance = 1 - float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))
    assert distance < 2e-5  # depthwise convolutions accumulate in f16
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert cycles < 0.85 * TOTALS[name]
    # Groups of one slice and of many, packs, filter taps in the lanes, turned channels.
    read = lowered(module)
    assert commands(generate(read, weights_of(read), chip)) == commands(program)
