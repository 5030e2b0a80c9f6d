"""Modules without weights, and weights that change their file's name on the way to a program."""

from pathlib import Path

import numpy as np
import pytest
from tests.tools.running import Run

from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.dialects.weights import WEIGHT_FILE, needs_weights, weights_of

TOP = """\
module @plain{attributes} {{
  func.func @main(%arg0: tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> {{
    %0 = "top.Input"(%arg0) : (tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> loc("x")
    %1 = "top.Softsign"(%0) : (tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> loc("y")
    return %1 : tensor<1x8x6x5xf32>
  }}
}}
"""
NAMES_NONE = ""
NAMES_ONE_THAT_IS_NOT_THERE = ' attributes {module.weight_file = "gone.npz"}'
TABLE = "# op_name    threshold    min    max\nx 4.0 -4.0 4.0\ny 1.0 -1.0 1.0\n"


def files_exist(folder: Path) -> None:
    """Whatever a stage's text says of its weights is true."""
    for path in folder.glob("*.mlir"):
        module = read_module(path)
        name = module.attributes.get(WEIGHT_FILE)
        assert name is None or (folder / name.data).is_file(), path.name  # type: ignore[attr-defined]
        assert name is not None or not needs_weights(module), path.name
        weights_of(module)


@pytest.mark.parametrize("attributes", [NAMES_NONE, NAMES_ONE_THAT_IS_NOT_THERE])
@pytest.mark.parametrize("quantize", ["F32", "F16", "INT8"])
def test_network_without_weights_compiles_and_runs(
    attributes: str, quantize: str, call: Run, tmp_path: Path
) -> None:
    """In INT8 the lowering makes a table: the first weights of a module that names no file."""
    top, table, out = (tmp_path / name for name in ("top.mlir", "t.cali", "out"))
    top.write_text(TOP.format(attributes=attributes))
    table.write_text(TABLE)
    calibrated = ("--calibration-table", table) if quantize == "INT8" else ()
    done = call("tpu-compile", top, "-o", out, "--quantize", quantize, *calibrated, "--quiet")
    assert (done.status, done.err) == (0, "")
    files_exist(out)
    if quantize == "INT8":
        assert list(out.glob("*_tpu_lowered_*.npz"))
    report = tmp_path / "outputs.npz"
    done = call("tpu-run", out, "--check", "--compare", top, "--outputs", report, "--quiet")
    assert (done.status, done.err) == (0, "")
    (values,) = np.load(report).values()
    assert -1 < values.min() < 0 < values.max() < 1


def test_weights_that_are_needed_must_be_there(call: Run, tmp_path: Path) -> None:
    text = TOP.format(attributes=NAMES_NONE).replace(
        '"top.Softsign"(%0) : (', '"top.Add"(%0, %w) : (tensor<1x8x6x5xf32>, '
    )
    weight = '    %w = "top.Weight"() : () -> tensor<1x8x6x5xf32> loc("w")\n'
    text = text.replace("    %1 =", f"{weight}    %1 =")
    (tmp_path / "top.mlir").write_text(text)
    done = call("tpu-compile", tmp_path / "top.mlir", "-o", tmp_path / "out", "--quiet")
    assert done.status == 1
    assert "module @plain has no weights: give it the attribute module.weight_file" in done.err
    (tmp_path / "top.mlir").write_text(
        text.replace("@plain", "@plain" + NAMES_ONE_THAT_IS_NOT_THERE)
    )
    done = call("tpu-compile", tmp_path / "top.mlir", "-o", tmp_path / "out", "--quiet")
    assert done.status == 1
    assert "gone.npz does not exist" in done.err
