"""`tpu-run --no-values`: all that needs no numbers, the same as with them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.running import Run

from xdsl_tpu.backend.machine import Machine

OF_THE_RUN = ("command", "seed", "wall_seconds", "outputs")


def figures(report: Path) -> dict[str, Any]:
    """What a report says about the program."""
    found = json.loads(report.read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key not in OF_THE_RUN}


def test_the_same_figures_without_simulating(
    compiled: Callable[[str], Path], call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiled("cnn")
    files = [("--report", "r.json"), ("--timeline", "t.json"), ("--html", "p.html")]

    def run(name: str, *more: str) -> Path:
        into = tmp_path / name
        into.mkdir()
        options = [part for option, file in files for part in (option, into / file)]
        done = call("tpu-run", folder, *options, *more)
        assert done.status == 0, done.err
        assert "cycles" in done.out
        return into

    with_values = run("with")
    monkeypatch.setattr(Machine, "run", None)
    without = run("without", "--no-values")
    assert figures(without / "r.json") == figures(with_values / "r.json")
    assert (without / "t.json").read_bytes() == (with_values / "t.json").read_bytes()
    report = json.loads((without / "r.json").read_text(encoding="utf-8"))
    assert report["seed"] is None
    assert set(report["wall_seconds"]) == {"load", "timeline"}
    assert {output["not_finite"] for output in report["outputs"].values()} == {None}
    assert (without / "p.html").stat().st_size > 10_000


def test_the_whole_command_is_a_run_without_other_outputs(
    compiled: Callable[[str], Path], call: Run, tmp_path: Path
) -> None:
    """`--disassemble` alone runs nothing; with `--no-values` the table is asked for, too."""
    asm = tmp_path / "x.asm"
    done = call("tpu-run", compiled("cnn"), "--no-values", "--disassemble", asm)
    assert done.status == 0
    assert asm.exists()
    assert "most expensive layers" in done.out


@pytest.mark.parametrize(
    "option",
    [
        ("--inputs", "x.npz"),
        ("--outputs", "o.npz"),
        ("--compare", "cnn.onnx"),
        ("--compare-layers",),
        ("--find-bad",),
        ("--numerics", "exact"),
    ],
    ids=lambda option: option[0],
)
def test_what_needs_values_is_refused(
    option: tuple[str, ...],
    compiled: Callable[[str], Path],
    call: Run,
    models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "x.npz", image=np.zeros(1))
    (tmp_path / "cnn.onnx").write_bytes((models / "cnn.onnx").read_bytes())
    done = call("tpu-run", compiled("cnn"), "--no-values", *option)
    assert done.status == 2
    assert done.err == (
        f"error: --no-values computes no numbers: leave out {option[0]}, or --no-values\n"
    )
    assert not (tmp_path / "o.npz").exists()
