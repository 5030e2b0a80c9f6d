"""Calibrating and comparing from Python."""

from pathlib import Path

import numpy as np
import pytest
from tests.api.samples import cnn, image
from tests.tools.running import Run

import xdsl_tpu as xt


def test_a_table_is_that_of_the_tool(model: Path, tool: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", image=image())
    table = tmp_path / "t.cali"
    done = tool("tpu-calibrate", model, "--dataset", tmp_path / "x.npz", "-o", table)
    assert done.status == 0, done.err
    for samples in (tmp_path / "x.npz", image(), {"image": image()}, [{"image": image()}]):
        assert xt.calibrate(model, samples).text() == table.read_text()
    two = xt.calibrate(model, [image(), 2 * image()])
    assert "# sample number: 2" in two.text()
    assert xt.calibrate(model, [image(), 2 * image()], limit=1).text() == table.read_text()


def test_int8_from_a_table_and_from_samples(model: Path, tmp_path: Path) -> None:
    table = xt.calibrate(model, image())
    made = xt.compile(model, "INT8", calibration=table)
    again = xt.compile(model, "INT8", calibration=table.save(tmp_path / "t.cali"))
    samples = xt.compile(model, "INT8", calibration=image())
    assert made.file.read_bytes() == again.file.read_bytes() == samples.file.read_bytes()
    assert "thresholds by method max" in samples.notes
    assert (samples.path / "calibration.cali").read_text() == table.text()
    assert xt.compare(made, model, image()).cosine > 0.99
    with pytest.raises(xt.TpuError, match="nothing is wider"):
        xt.compile(model, "F32", calibration="random")


def test_methods_that_look_twice_and_auto(model: Path) -> None:
    largest = xt.calibrate(model, image()).thresholds["image"].threshold
    clipped = xt.calibrate(model, image(), "percentile", percentile=90.0)
    assert clipped.thresholds["image"].threshold < largest
    assert xt.calibrate(model, image(), "auto").thresholds.keys() == clipped.thresholds.keys()


def test_against_a_model_and_against_arrays(program: xt.Program, model: Path) -> None:
    found = xt.compare(program, model, image())
    assert found.reference == "onnxruntime cnn.onnx"
    assert list(found.outputs) == ["logits", "features"]
    assert 0.9999 < found.cosine <= 1
    assert found.max_abs_error == max(c.max_abs_error for c in found.outputs.values())
    assert repr(found).startswith("<against onnxruntime cnn.onnx: logits: cosine ")
    assert xt.compare(program, cnn(), image()).outputs == found.outputs
    outputs = program.run(image())
    assert xt.compare(program, outputs, image()).max_abs_error == 0
    assert xt.compare(program, {"logits": outputs["logits"] + 1}, image()).max_abs_error == 1
    top = xt.compare(program, program.path / "top.mlir", image())
    assert top.reference == "interpreter top.mlir"
    assert top.cosine == pytest.approx(found.cosine, abs=1e-6)


def test_what_cannot_be_compared(program: xt.Program, model: Path) -> None:
    with pytest.raises(xt.TpuError, match="no output 'scores'; the program has logits, features"):
        xt.compare(program, {"scores": np.zeros(1)})
    with pytest.raises(xt.TpuError, match="no arrays to compare with"):
        xt.compare(program, {})
    with pytest.raises(xt.TpuError, match="the array to compare with has"):
        xt.compare(program, {"logits": np.zeros((2, 2))})
    other = cnn()
    del other.graph.output[1]
    with pytest.raises(xt.TpuError, match="has 1 outputs, the program has 2"):
        xt.compare(program, other)
