"""The example networks through the installed tools: closeness to onnxruntime, cycles."""

import json
from pathlib import Path

import pytest
from tests.tools.running import Run

EXAMPLES = Path(__file__).parents[2] / "examples"

CASES = [
    ("mobilenetv2_100", "F16", 0.9999),
    ("mobilenetv2_100", "F32", 0.99999),
    ("resnet50", "F16", 0.9999),
    ("swin_t", "F16", 0.9999),
    ("vit_small_patch16_224", "F16", 0.9999),
]

PARAMETERS = {
    "mobilenetv2_100": 3_400_000,
    "resnet50": 25_500_000,
    "swin_t": 28_000_000,
    "vit_small_patch16_224": 21_800_000,
}
"""Fewer than each network has; all of them have to be loaded once."""


@pytest.mark.parametrize(("name", "quantize", "cosine"), CASES, ids=str)
def test_closeness(name: str, quantize: str, cosine: float, tool: Run, tmp_path: Path) -> None:
    model, out, report = EXAMPLES / f"{name}.onnx", tmp_path / "out", tmp_path / "report.json"
    done = tool("tpu-compile", model, "-o", out, "--quantize", quantize, "--quiet")
    assert done.status == 0, done.err
    compare = ("--seed", "11", "--compare", model, "--report", report, "--quiet")
    done = tool("tpu-run", out / "model.bmodel", *compare)
    assert done.status == 0, done.err
    figures = json.loads(report.read_text(encoding="utf-8"))
    (output,) = figures["outputs"].values()
    assert output == {"shape": [1, 1000], "dtype": "f32"}
    (tensor,) = figures["comparison"]["tensors"].values()
    assert cosine <= tensor["cosine"] <= 1 + 1e-9
    assert figures["gdma"]["bytes"]["load"] > PARAMETERS[name] * (2 if quantize == "F16" else 4)
    assert figures["cycles"] < figures["bdc"]["busy_cycles"] + figures["gdma"]["busy_cycles"]
