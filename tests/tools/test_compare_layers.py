"""tpu-run --compare-layers: every layer against the float network and the interpreter."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.running import Run


def compiled(call: Run, models: Path, name: str, folder: Path, spoil: str = "") -> Path:
    """A program in INT8; the range of tensor `spoil` is a tenth of what it should be."""
    shapes = {"cnn": {"image": (3, 40, 24)}, "transformer": {"tokens": (1, 10, 24)}}[name]
    rng = np.random.default_rng(3)
    arrays = {key: rng.standard_normal((4, *s)).astype(np.float32) for key, s in shapes.items()}
    save: Any = np.savez
    save(folder / "x.npz", **arrays)
    table, out = folder / "t", folder / "out"
    arguments = ("--dataset", folder / "x.npz", "-o", table, "--quiet")
    assert call("tpu-calibrate", models / f"{name}.onnx", *arguments).status == 0
    lines = table.read_text().splitlines()
    for index, line in enumerate(lines):
        if spoil and line.startswith(f"{spoil} "):
            lines[index] = " ".join([spoil, *(str(float(w) / 10) for w in line.split()[1:])])
    table.write_text("\n".join(lines) + "\n")
    arguments = ("--quantize", "INT8", "--calibration-table", table, "-o", out, "--quiet")
    done = call("tpu-compile", models / f"{name}.onnx", *arguments)
    assert done.status == 0, done.err
    return out


def compared(call: Run, program: Path) -> list[dict[str, Any]]:
    report = program / "report.json"
    done = call("tpu-run", program, "--compare-layers", "--report", report, "--seed", 5)
    assert done.status == 0, done.err
    assert "layers are bad (cosine below 0.99)" in done.out
    assert re.search(r", [iu]8\)", " ".join(done.out.split()))
    assert "quant." not in done.out
    return json.loads(report.read_text())["layer_comparison"]


@pytest.mark.parametrize("name", ["cnn", "transformer"])
def test_every_layer_equals_the_interpreter(
    call: Run, models: Path, tmp_path: Path, name: str
) -> None:
    rows = compared(call, compiled(call, models, name, tmp_path))
    integers = [row for row in rows if row["type"].startswith("quant.uniform")]
    assert len(integers) >= 4
    if name == "cnn":  # what a mean in floats is rounded to moves by a step now and then
        errors = [row["to_interpreter"]["max_abs_error"] for row in integers]
        mean = [row["op"] for row in integers].index("tpu.Cast", 1)
        assert not any(errors[:mean])
        assert all(
            error < row["threshold"] / 100 for error, row in zip(errors, integers, strict=True)
        )
    assert all(row["to_interpreter"]["cosine"] > 0.9995 for row in rows)
    known = [row for row in rows if row["to_float"] is not None]
    assert len(known) >= 4
    assert all(row["to_float"]["cosine"] > 0.98 for row in known)
    assert all(row["threshold"] > 0 for row in integers)


def test_the_first_bad_layer_comes_first(call: Run, models: Path, tmp_path: Path) -> None:
    good = compared(call, compiled(call, models, "cnn", tmp_path))
    known = [row for row in good if row["to_float"] and row["type"].startswith("quant.uniform")]
    spoilt = known[len(known) // 2]["name"]
    (tmp_path / "again").mkdir()
    rows = compared(call, compiled(call, models, "cnn", tmp_path / "again", spoilt))
    assert rows[0]["bad"]
    bad = [row["name"] for row in rows if row["bad"]]
    assert spoilt in bad
    (row,) = (row for row in rows if row["name"] == spoilt)
    assert max(-row["low"], row["high"]) > 5 * row["threshold"]
    assert [row["bad"] for row in rows] == sorted((row["bad"] for row in rows), reverse=True)


def test_a_bmodel_alone_is_refused(call: Run, models: Path, tmp_path: Path) -> None:
    out = compiled(call, models, "cnn", tmp_path)
    done = call("tpu-run", out / "model.bmodel", "--compare-layers")
    assert done.status == 1
    assert "--compare-layers needs the folder that tpu-compile wrote" in done.err
