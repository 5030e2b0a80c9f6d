"""Programs note the chip they are for, and results where they come from."""

import hashlib
import json
import shlex
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.running import Run
from tests.tools.test_custom_chip import describe

from xdsl_tpu.backend.bmodel import read_bmodel, write_bmodel
from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.chip.identity import (
    CAPACITY,
    RATES,
    check_same_layout,
    figures_of,
    fingerprint,
    other_rates,
)
from xdsl_tpu.backend.execute import check_chip, random_inputs, run_program
from xdsl_tpu.dialects.errors import TpuError

CHIP = load_chip()
LAYOUT = [f.name for f in fields(Chip) if f.name not in RATES | CAPACITY | {"name"}]


def changed(name: str) -> Chip:
    """The chip with one other figure."""
    value: Any = getattr(CHIP, name)
    others = {"bm1684x": "other", 0: 64, (): (64,)}
    other = {2: 1} if isinstance(value, dict) else others.get(value, value * 2)
    return replace(CHIP, **{name: other})


@pytest.mark.parametrize("name", LAYOUT)
def test_every_figure_of_the_layout_counts(name: str) -> None:
    check_same_layout(figures_of(CHIP), replace(CHIP, name="another name"))
    with pytest.raises(TpuError, match=f"{name} is .* there, .* here"):
        check_same_layout(figures_of(CHIP), changed(name))
    assert fingerprint(figures_of(CHIP)) != fingerprint(figures_of(changed(name)))


@pytest.mark.parametrize("name", sorted(RATES))
def test_rates_are_only_noted(name: str) -> None:
    check_same_layout(figures_of(CHIP), changed(name))
    assert [line.split()[0] for line in other_rates(figures_of(CHIP), changed(name))] == [name]
    assert not other_rates(figures_of(CHIP), CHIP)


def test_figures_survive_the_file_and_are_the_same_in_any_order(
    compiled: Callable[[str], Path],
) -> None:
    figures = read_bmodel(compiled("cnn") / "model.bmodel").chip_figures
    assert figures == figures_of(CHIP)
    assert fingerprint(dict(reversed(figures.items()))) == fingerprint(figures)


def test_another_description_is_refused(
    compiled: Callable[[str], Path], call: Run, tmp_path: Path
) -> None:
    """Whatever it is called, and as a Python call, too."""
    own = describe(tmp_path / "own.toml", {"count = 64": "count = 32"}, "BM1684X")
    done = call("tpu-run", compiled("cnn"), "--chip", own, "--outputs", tmp_path / "y.npz")
    assert done.status == 1
    assert "lanes is 64 there, 32 here" in done.err
    assert "--chip" in done.err
    assert not (tmp_path / "y.npz").exists()
    program = read_bmodel(compiled("cnn") / "model.bmodel")
    with pytest.raises(TpuError, match="lanes is 64 there"):
        run_program(program, load_chip(str(own)), random_inputs(program, 0))


def test_the_chip_of_a_program_that_has_the_usual_name_is_not_taken_for_the_usual_one(
    models: Path, call: Run, tmp_path: Path
) -> None:
    own = describe(tmp_path / "own.toml", {"count = 64": "count = 32"}, "BM1684X")
    out = tmp_path / "out"
    assert call("tpu-compile", models / "cnn.onnx", "-o", out, "--chip", own).status == 0
    done = call("tpu-run", out)
    assert done.status == 1
    assert "lanes is 32 there, 64 here" in done.err
    assert call("tpu-run", out, "--chip", own, "--quiet").status == 0


def test_other_rates_are_said(compiled: Callable[[str], Path], call: Run, tmp_path: Path) -> None:
    fast = describe(tmp_path / "fast.toml", {"load = 58": "load = 116"})
    done = call("tpu-run", compiled("cnn"), "--chip", fast)
    assert done.status == 0
    assert "load_bytes_per_cycle is 58 there, 116 here" in done.err
    assert "note:" not in call("tpu-run", compiled("cnn"), "--chip", "bm1684x").err


def test_programs_of_others_are_for_the_usual_chip(
    compiled: Callable[[str], Path], tmp_path: Path, call: Run
) -> None:
    """They note nothing."""
    program = read_bmodel(compiled("cnn") / "model.bmodel")
    program.chip_figures = {}
    check_chip(program, CHIP)
    with pytest.raises(TpuError, match="a BM1684X is assumed"):
        check_chip(program, replace(CHIP, lanes=32))
    write_bmodel(program, tmp_path / "other.bmodel")
    own = describe(tmp_path / "own.toml", {"count = 64": "count = 32"})
    assert call("tpu-run", tmp_path / "other.bmodel", "--quiet").status == 0
    done = call("tpu-run", tmp_path / "other.bmodel", "--chip", own)
    assert done.status == 1
    assert "a BM1684X is assumed" in done.err


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_where_results_come_from(models: Path, call: Run, tmp_path: Path) -> None:
    model, out, table = models / "cnn.onnx", tmp_path / "out", tmp_path / "modes"
    table.write_text("# no layers\n")
    arguments = ("tpu-compile", model, "-o", out, "--quantize-table", table, "--quiet")
    assert call(*arguments).status == 0
    made = load(out / "compile.json")
    assert made["command"] == shlex.join(map(str, arguments))
    assert made["seed"] is None
    assert made["hashes"] == {
        "model": sha256(model),
        "weights": {},
        "calibration_table": None,
        "quantize_table": sha256(table),
        "chip": fingerprint(figures_of(CHIP)),
        "program": sha256(out / "model.bmodel"),
    }
    assert call("tpu-run", out, "--seed", 3, "--report", tmp_path / "r.json").status == 0
    report = load(tmp_path / "r.json")
    assert (report["seed"], report["version"]) == (3, made["version"])
    assert report["command"].startswith("tpu-run ")
    assert report["hashes"] == made["hashes"] | {"inputs": None}
    inputs = tmp_path / "x.npz"
    np.savez(inputs, image=np.zeros((1, 3, 40, 24), np.float32))
    alone = tmp_path / "alone" / "copy.bmodel"
    alone.parent.mkdir()
    alone.write_bytes((out / "model.bmodel").read_bytes())
    assert call("tpu-run", alone, "--inputs", inputs, "--report", tmp_path / "r.json").status == 0
    report = load(tmp_path / "r.json")
    assert report["seed"] is None
    assert report["hashes"]["inputs"] == sha256(inputs)
    assert report["hashes"]["program"] == sha256(alone)
    assert report["hashes"]["model"] is None  # nothing beside it says
    (alone.parent / "compile.json").write_text((out / "compile.json").read_text())
    alone.write_bytes(alone.read_bytes()[:-1] + b"\1")  # padding: another file all the same
    assert call("tpu-run", alone, "--report", tmp_path / "r.json").status == 0
    assert load(tmp_path / "r.json")["hashes"]["model"] is None


def test_weights_in_files_of_their_own_are_hashed(
    compiled: Callable[[str], Path], call: Run, tmp_path: Path
) -> None:
    model = compiled("cnn") / "top.mlir"
    weights = "cnn_top_f32_all_origin_weight.npz"
    assert call("tpu-compile", model, "-o", tmp_path / "out", "--quiet").status == 0
    hashes = load(tmp_path / "out" / "compile.json")["hashes"]
    assert hashes["model"] == sha256(model)
    assert hashes["weights"] == {weights: sha256(model.with_name(weights))}


def test_equal_compilations_give_equal_files(models: Path, call: Run, tmp_path: Path) -> None:
    """In folders of other names; compile.json holds seconds and the command."""
    for name in ("one", "two"):
        call("tpu-compile", models / "cnn.onnx", "-o", tmp_path / name, "--quiet")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in files:
        if name != "compile.json":
            assert sha256(tmp_path / "one" / name) == sha256(tmp_path / "two" / name), name
