"""Networks of several number formats, from the quantize table to the program's outputs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.running import Run

SHAPES = {"cnn": ("image", (3, 40, 24)), "transformer": ("tokens", (1, 10, 24))}


def table_of(call: Run, models: Path, name: str, folder: Path) -> Path:
    key, shape = SHAPES[name]
    arrays = {key: np.random.default_rng(3).standard_normal((4, *shape)).astype(np.float32)}
    save: Any = np.savez
    save(folder / "x.npz", **arrays)
    table = folder / "t"
    arguments = ("--dataset", folder / "x.npz", "-o", table, "--quiet")
    assert call("tpu-calibrate", models / f"{name}.onnx", *arguments).status == 0
    return table


@pytest.mark.parametrize("mode", ["INT8", "F16", "BF16", "F32"])
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_layers_in_turn_in_four_formats(
    call: Run, models: Path, tmp_path: Path, name: str, mode: str
) -> None:
    """Every fourth computing layer in INT8, F16, BF16 and F32, on top of each format."""
    table = table_of(call, models, name, tmp_path)
    names = [line.split()[0] for line in table.read_text().splitlines() if line[0] != "#"]
    formats = ("INT8", "BF16", "F32", "F16")
    lines = [f"{layer} {formats[i % 4]}" for i, layer in enumerate(names[1:])]
    (tmp_path / "modes").write_text("\n".join(lines) + "\n")
    out = tmp_path / "out"
    done = call(
        *("tpu-compile", models / f"{name}.onnx", "--quantize", mode, "-o", out, "--quiet"),
        *("--calibration-table", table, "--quantize-table", tmp_path / "modes"),
    )
    assert done.status == 0, done.err
    text = (out / "tpu.mlir").read_text()
    assert {kind for kind in ("xbf16", "xf16", "!quant.uniform<i8") if kind in text} == {
        "xbf16",
        "xf16",
        "!quant.uniform<i8",
    }
    report = tmp_path / "report.json"
    done = call(
        *("tpu-run", out, "--seed", 7, "--compare", models / f"{name}.onnx", "--check"),
        *("--report", report, "--quiet", "--compare-layers"),
    )
    assert done.status == 0, done.err
    found = json.loads(report.read_text())
    assert all(t["cosine"] > 0.995 for t in found["comparison"]["tensors"].values())
    rows = found["layer_comparison"]
    assert len(rows) >= 8
    far = [row for row in rows if not row["to_interpreter"]["cosine"] > 0.9995]
    assert not far, far
