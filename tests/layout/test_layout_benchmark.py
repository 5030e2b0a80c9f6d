"""The ResNet-101 stack of the auto-NHWC article, and benchmarks/layout.py on another network."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.layout.conv_stack import conv_stack
from tests.oneflow.jobs import inputs_of, with_weights
from tests.oneflow.test_convert_to_top import apply, assert_close, outputs
from tests.tools.small_models import cnn

from xdsl_tpu.passes.layout.count import transpositions

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("surrounded", "one", "count"),
    [
        (False, "auto-nhwc", 2),
        (True, "auto-nhwc", 2),
        (True, "transfer-layout target=NHWC", 1),
    ],
)
def test_transpositions_of_the_stack(surrounded: bool, one: str, count: int) -> None:
    """210 with two around each op: in front of 104 convolutions and a pool, and behind them."""
    before = conv_stack(surrounded=surrounded)
    assert transpositions(before).count == (210 if surrounded else 0)
    after = apply(with_weights(before), one)
    assert transpositions(after).count == count


def test_the_stack_computes_the_same() -> None:
    """A shorter one: one block in each stage."""
    before = with_weights(conv_stack((1, 1, 1, 1)))
    inputs = inputs_of(before)
    expected = outputs(before, inputs)
    for one in ("auto-nhwc", "transfer-layout target=NHWC"):
        assert_close(outputs(apply(before, one), inputs), expected)


def test_benchmark_of_a_network_of_ones_own(tmp_path: Path) -> None:
    model, figures = tmp_path / "mine.onnx", tmp_path / "figures.json"
    model.write_bytes(cnn().SerializeToString())
    command = [sys.executable, ROOT / "benchmarks" / "layout.py", "--graphs", 40]
    command += ["--models", model, "--compile", model, "--json", figures]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=300
    )
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert done.returncode == int(bool(found["broken"])), done.stderr
    assert not [line for line in found["broken"] if "optimal" in line or "rule" in line]
    cut, greedy, published, weighted = found["random_graphs"]
    assert cut["not_optimal"] == weighted["not_optimal"] == 0
    assert cut["transpositions"] == cut["best"] < greedy["transpositions"]
    assert published["transpositions"] > cut["best"]
    assert {row["form"] for row in found["networks"]} == {"NCHW", "NHWC"}
    without, after, _ = (row["cycles"] for row in found["cycles"])
    assert after < without


def test_benchmark_names_a_missing_model() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "layout.py"), "--models", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "nothing.onnx does not exist" in done.stderr
    assert "Traceback" not in done.stderr
