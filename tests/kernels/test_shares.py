"""Ops that work from DDR, shared out between two cores: the numbers of one core, to the bit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.execute import random_inputs, run_program
from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.program import Program
from xdsl_tpu.tools.compile_model import compile_model
from xdsl_tpu.tools.folder import BMODEL

CHIP = load_chip("bm1688")
RANDOM = np.random.default_rng(3)


def context(core: int, cores: int) -> KernelContext:
    return KernelContext(CHIP, Emitter(CHIP, Program("x", "", "")), core=core, cores=cores)


@pytest.mark.parametrize(
    ("total", "unit", "sizes"),
    [(192, 32, [96, 96]), (197, 32, [96, 101]), (33, 32, [32, 1]), (32, 32, []), (7, 1, [3, 4])],
)
def test_parts_are_whole_units_and_all(total: int, unit: int, sizes: list[int]) -> None:
    parts = parts_of(context(0, 2), total, unit)
    assert [part.size for part in parts] == sizes
    assert not parts or (parts[0].start, parts[-1].end) == (0, total)
    assert not parts_of(context(0, 1), total, unit)


def test_who_takes_a_part_says_so() -> None:
    one = context(1, 2)
    assert not one.is_shared
    assert take(one, (Piece(0, 4), Piece(4, 3))) == Piece(4, 3)
    assert one.is_shared


def model(
    path: Path,
    kind: str,
    x: Sequence[int],
    y: Sequence[int],
    weight: Sequence[int],
    options: dict[str, Any],
) -> Path:
    """A network of one op with a weight and a bias."""
    count = weight[0] if kind == "Conv" else weight[-1]
    arrays = {"w": RANDOM.standard_normal(weight), "b": RANDOM.standard_normal(count)}
    weights = [numpy_helper.from_array(a.astype(np.float32), name) for name, a in arrays.items()]
    node = helper.make_node(kind, ["x", "w", "b"], ["y"], name="op", **options)
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))
        for name, shape in (("x", x), ("y", y))
    ]
    graph = helper.make_graph([node], "one", values[:1], values[1:], weights)
    opset = [helper.make_opsetid("", 13)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=8)
    path.write_bytes(made.SerializeToString())
    return path


_Sizes = tuple[int, ...]
CASES: dict[str, tuple[tuple[str, _Sizes, _Sizes, _Sizes], dict[str, Any], str]] = {
    "channels of a convolution": (
        ("Conv", (1, 3, 96, 96), (1, 80, 6, 6), (80, 3, 16, 16)),
        {"kernel_shape": [16, 16], "strides": [16, 16]},
        "tpu.Conv2D",
    ),
    "columns of a product": (("Gemm", (1, 96), (1, 200), (96, 200)), {}, "tpu.MatMul"),
    "rows of a product": (("Gemm", (300, 64), (300, 48), (64, 48)), {}, "tpu.MatMul"),
}


@pytest.mark.parametrize("name", CASES)
def test_both_cores_make_what_one_makes(name: str, tmp_path: Path) -> None:
    (kind, x, y, weight), options, op = CASES[name]
    path = model(tmp_path / "one.onnx", kind, x, y, weight, options)
    found: list[Program] = []
    for cores in (1, 2):
        folder = tmp_path / str(cores)
        off = ("layer-group", "RowToPixel")
        compile_model(path, folder, "F16", "bm1688", disable=off, cores=cores)
        found.append(read_bmodel(folder / BMODEL))
    one, two = found
    worked = {two.layers[layer].op for layer in two.others[0].tiu_layers if layer >= 0}
    assert op in worked
    inputs = random_inputs(one, 0)
    wanted, given = (run_program(program, CHIP, inputs, "exact") for program in (one, two))
    for key, values in wanted.items():
        np.testing.assert_array_equal(given[key], values)
