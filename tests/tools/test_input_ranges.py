"""Inputs made from a seed: ids within their tables, masks of 0 and 1."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tests.tools.running import Run
from tests.tools.small_models import Builder
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr

from xdsl_tpu.backend.bmodel import read_bmodel, write_bmodel
from xdsl_tpu.backend.execute import random_inputs
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import (
    INPUT_RANGES,
    TRUTH,
    InputRange,
    ranges_attribute,
    ranges_of,
)
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.input_ranges import input_ranges, record_input_ranges

ROWS = 37
"""Of every table."""

Nodes = Sequence[tuple[str, Sequence[str], dict[str, Any]]]
Taken = dict[str, tuple[int, tuple[int, ...]]]


def network(nodes: Nodes, taken: Taken, shape: Sequence[int], **constants: Any) -> onnx.ModelProto:
    """Nodes in a row, each named by its place; the last gives the output `y`, of f32."""
    b = Builder(7)
    b.weight("table", ROWS, 8)
    for name, value in constants.items():
        b.constants.append(onnx.numpy_helper.from_array(np.array(value), name))
    for at, (kind, operands, attributes) in enumerate(nodes):
        output = "y" if at == len(nodes) - 1 else str(at)
        b.nodes.append(helper.make_node(kind, operands, [output], **attributes))
    model = b.model({}, {"y": shape})
    for name, (kind, sizes) in taken.items():
        model.graph.input.append(helper.make_tensor_value_info(name, kind, sizes))
    return model


IDS: Taken = {"ids": (TensorProto.INT64, (2, 4))}
CASES: dict[str, tuple[Nodes, Any, Taken, Sequence[int], tuple[int, int]]] = {
    "a table": ([("Gather", ["table", "ids"], {})], {}, IDS, (2, 4, 8), (0, ROWS)),
    "moved before": (
        [
            ("Unsqueeze", ["ids", "one"], {}),
            ("Transpose", ["0"], {"perm": [1, 0, 2]}),
            ("Cast", ["1"], {"to": TensorProto.INT32}),
            ("Gather", ["table", "2"], {}),
        ],
        {"one": [1]}, IDS, (1, 2, 4, 8), (0, ROWS),
    ),
    "another axis": (
        [("Gather", ["table", "ids"], {"axis": -1})], {}, IDS, (ROWS, 2, 4), (0, 8),
    ),
    "a constant added": (
        [("Add", ["ids", "two"], {}), ("Gather", ["table", "0"], {})],
        {"two": np.int64(2)}, IDS, (2, 4, 8), (0, ROWS - 2),
    ),
    "a constant taken away": (
        [("Sub", ["ids", "two"], {}), ("Gather", ["table", "0"], {})],
        {"two": np.int64(2)}, IDS, (2, 4, 8), (2, ROWS + 2),
    ),
    "several constants added, as of many tables in one": (
        [("Add", ["ids", "firsts"], {}), ("Gather", ["table", "0"], {})],
        {"firsts": [0, 9, 18, 27]}, IDS, (2, 4, 8), (0, ROWS - 27),
    ),
    "counted from the end where negative": (
        [
            ("Less", ["ids", "zero"], {}),
            ("Add", ["ids", "rows"], {}),
            ("Where", ["0", "1", "ids"], {}),
            ("Gather", ["table", "2"], {}),
        ],
        {"zero": np.int64(0), "rows": np.int64(ROWS)}, IDS, (2, 4, 8), (0, ROWS),
    ),
    "two tables": (
        [
            ("Gather", ["table", "ids"], {}),
            ("Gather", ["small", "ids"], {}),
            ("Add", ["0", "1"], {}),
        ],
        {"small": np.ones((5, 8), np.float32)}, IDS, (2, 4, 8), (0, 5),
    ),
    "coordinates": (
        [("GatherND", ["table", "ids"], {})],
        {}, {"ids": (TensorProto.INT64, (4, 2))}, (4,), (0, 8),
    ),
    "no table: a mask": ([("Cast", ["ids"], {"to": 1})], {}, IDS, (2, 4), (0, 2)),
    "booleans": (
        [("Cast", ["ids"], {"to": 1})], {}, {"ids": (TensorProto.BOOL, (2, 4))}, (2, 4), (0, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_ranges(name: str) -> None:
    nodes, constants, taken, shape, expected = CASES[name]
    module = import_onnx(network(nodes, taken, shape, **constants))
    record_input_ranges(module)
    assert ranges_of(module) == {"ids": InputRange(*expected)}


def test_floats_have_none() -> None:
    taken: Taken = {"x": (TensorProto.FLOAT, (2, 4))}
    module = import_onnx(network([("Relu", ["x"], {})], taken, (2, 4)))
    record_input_ranges(module)
    assert INPUT_RANGES not in module.attributes
    assert input_ranges(module) == {}


def test_the_attribute_goes_both_ways_and_is_checked() -> None:
    ranges = {"a": InputRange(-3, 9), "b": TRUTH}
    module = ModuleOp([], {INPUT_RANGES: ranges_attribute(ranges)})
    assert ranges_of(module) == ranges
    assert ranges_of(ModuleOp([])) == {}
    wrong = ranges_attribute({"a": InputRange(3, 3)}), StringAttr("a"), IntegerAttr(1, 64)
    for attribute in wrong:
        module.attributes[INPUT_RANGES] = attribute
        with pytest.raises(TpuError, match=INPUT_RANGES):
            ranges_of(module)


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of ids, a mask and floats, as an ONNX file."""
    taken: Taken = {
        **IDS,
        "mask": (TensorProto.BOOL, (2, 4, 1)),
        "x": (TensorProto.FLOAT, (2, 4, 8)),
    }
    nodes: Nodes = [
        ("Gather", ["table", "ids"], {}),
        ("Where", ["mask", "0", "x"], {}),
        ("Relu", ["1"], {}),
    ]
    path = tmp_path_factory.mktemp("ids") / "net.onnx"
    path.write_bytes(network(nodes, taken, (2, 4, 8)).SerializeToString())
    return path


def test_a_run_from_a_seed(ids: Path, call: Run, tmp_path: Path) -> None:
    """Through the file; and through the IR beside it for programs that note nothing."""
    out = tmp_path / "out"
    assert call("tpu-compile", ids, "-o", out, "--quiet").status == 0
    program = read_bmodel(out / "model.bmodel")
    assert program.input_ranges == {"ids": InputRange(0, ROWS), "mask": TRUTH}
    values = random_inputs(program, 1)
    assert values["ids"].min() >= 0
    assert 2 < values["ids"].max() < ROWS
    assert set(np.unique(values["mask"])) == {0, 1}
    assert values["x"].min() < 0
    compared = ("--compare", ids, "--min-cosine", "0.9999", "--quiet")
    for seed in range(3):
        assert call("tpu-run", out, "--seed", seed, *compared).status == 0
    bare = replace(program, input_ranges={}, chip_figures={})
    assert random_inputs(bare, 1)["ids"].max() == 1
    write_bmodel(bare, tmp_path / "bare.bmodel")
    outputs = [tmp_path / f"{name}.npz" for name in ("bare", "advised")]
    (tmp_path / "own.bmodel").write_bytes((tmp_path / "bare.bmodel").read_bytes())
    (tmp_path / "own_tpu.mlir").write_text((out / "tpu.mlir").read_text())
    for name, path in zip(("bare", "own"), outputs, strict=True):
        arguments = ("--seed", 1, "--outputs", path, "--quiet")
        assert call("tpu-run", tmp_path / f"{name}.bmodel", *arguments).status == 0
    first, second = (np.load(path)["y_Relu_f32"] for path in outputs)
    assert not np.array_equal(first, second)


def test_a_damaged_note_is_refused(ids: Path, call: Run, tmp_path: Path) -> None:
    assert call("tpu-compile", ids, "-o", tmp_path / "out", "--quiet").status == 0
    program = read_bmodel(tmp_path / "out" / "model.bmodel")
    for ranges in ({"other": TRUTH}, {"ids": InputRange(5, 5)}, {"ids": InputRange(0, 1 << 63)}):
        write_bmodel(replace(program, input_ranges=ranges), tmp_path / "bad.bmodel")
        with pytest.raises(TpuError, match="the bmodel is damaged"):
            read_bmodel(tmp_path / "bad.bmodel")
