"""The example networks through the tools: closeness to onnxruntime, cycles.

That their programs have no finding is seen when they are generated, as in all tests; the installed
scripts carry Swin-T through README.md.
"""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from tests.tools.running import Run

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.operands.region import regions
from xdsl_tpu.backend.program import Program

EXAMPLES = Path(__file__).parents[2] / "examples"

CASES = [
    ("mobilenetv2_100", "F32", 0.99999),
    ("mobilenetv2_100", "F16", 0.9999),
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
def test_closeness(name: str, quantize: str, cosine: float, call: Run, tmp_path: Path) -> None:
    model, out, report = EXAMPLES / f"{name}.onnx", tmp_path / "out", tmp_path / "report.json"
    done = call("tpu-compile", model, "-o", out, "--quantize", quantize, "--quiet")
    assert done.status == 0, done.err
    compare = ("--seed", "11", "--compare", model, "--report", report, "--quiet")
    done = call("tpu-run", out / "model.bmodel", *compare)
    assert done.status == 0, done.err
    figures = json.loads(report.read_text(encoding="utf-8"))
    (output,) = figures["outputs"].values()
    assert output == {"shape": [1, 1000], "dtype": "f32", "not_finite": 0}
    (tensor,) = figures["comparison"]["tensors"].values()
    assert cosine <= tensor["cosine"] <= 1 + 1e-9
    assert figures["gdma"]["bytes"]["load"] > PARAMETERS[name] * (2 if quantize == "F16" else 4)
    assert figures["cycles"] < figures["bdc"]["busy_cycles"] + figures["gdma"]["busy_cycles"]
    check_coefficients(read_bmodel(out / "model.bmodel"))


def check_coefficients(program: Program) -> None:
    """No load of weights has runs under 64 bytes; weights lie in the order they are loaded in.

    Biases and depthwise filters of convolutions are in packs, other vectors are loaded by the row.
    A weight that is loaded ahead of others changes the order, as do the strips of a product and
    memory that activations leave to the weights within a group.
    """
    chip = load_chip()
    first = program.coefficient_address
    image = range(first, first + len(program.coefficients))
    loads = [
        access
        for command in program.gdma
        for access in accesses(command, chip)
        if not access.local and not access.writes and access.address in image
    ]
    short = [load for load in loads if min(part.run for part in regions(load, chip)) < 64]
    assert len(loads) > 50
    assert short == []
    order = list(dict.fromkeys(load.address for load in loads))
    back = sum(after < before for before, after in pairwise(order))
    # What the TIU waits for goes in front of what runs ahead.
    assert back <= len(order) * 0.12
