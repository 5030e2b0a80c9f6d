"""benchmarks/oneflow.py on the published job and on a job of one's own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.oneflow.jobs import NETWORKS, job

from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import weights_of

ROOT = Path(__file__).parents[2]


def run(figures: Path, *arguments: object) -> list[dict[str, Any]]:
    command = [sys.executable, ROOT / "benchmarks" / "oneflow.py", "--json", figures, *arguments]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["broken"] == []
    return found["jobs"]


def test_job_of_ones_own(tmp_path: Path) -> None:
    module = job(NETWORKS["cnn channels last"])
    weights_of(module).save(tmp_path / "mine.npz")
    del module.attributes["module.weight_file"]
    (tmp_path / "mine.mlir").write_text(module_text(module), encoding="utf-8")
    arguments = ("--quantize", "F16", "--jobs", tmp_path / "mine.mlir")
    plain, fused, laid_out = run(tmp_path / "figures.json", *arguments)
    assert (plain["fusions"], fused["fusions"], laid_out["fusions"]) == (0, 1, 1)
    assert fused["bytes"] < plain["bytes"]
    assert laid_out["cycles"] < fused["cycles"]
    assert all(row["same_bits"] for row in (plain, fused, laid_out))


@pytest.mark.parametrize("wrong", ["missing.mlir", "no_weights.mlir"])
def test_bad_jobs_are_one_message(wrong: str, tmp_path: Path) -> None:
    module = job(NETWORKS["cnn"])
    del module.attributes["module.weight_file"]
    (tmp_path / "no_weights.mlir").write_text(module_text(module), encoding="utf-8")
    command = [sys.executable, ROOT / "benchmarks" / "oneflow.py", "--jobs", tmp_path / wrong]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert wrong in done.stderr
    assert "Traceback" not in done.stderr
