"""A chip of one's own: other lanes, memories and rates in a TOML file, and nothing else."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.running import Run

from xdsl_tpu.backend.chip import CHIPS
from xdsl_tpu.passes.calibration.table import read_table
from xdsl_tpu.tools.tpu_calibrate import main as tpu_calibrate

DESCRIPTION = (CHIPS / "bm1684x.toml").read_text(encoding="utf-8")

CHANGES = {
    "32 lanes": {"count = 64": "count = 32"},
    "16 lanes of 32 KiB": {"count = 64": "count = 16", "262144": "32768"},
    "narrow lanes": {"eu_bytes = 64": "eu_bytes = 32"},
    "wide lanes": {"eu_bytes = 64": "eu_bytes = 128"},
    "few wide lanes": {"count = 64": "count = 32", "eu_bytes = 64": "eu_bytes = 128"},
    "many short lanes": {
        "count = 64": "count = 128",
        "eu_bytes = 64": "eu_bytes = 32",
        "262144": "65536",
    },
    "other DDR": {"base = 0x1_0000_0000": "base = 0x20_4000_0000"},
    "half of it": {
        "count = 64": "count = 32",
        "262144": "131072",
        "base = 0x1_0000_0000": "base = 0x8_0000_0000",
    },
    "128 lanes": {"count = 64": "count = 128", "0x0900_0000": "0x0B00_0000"},
}

NETWORKS = ("cnn", "transformer", "channels", "heads")


def describe(path: Path, changes: Mapping[str, str], name: str = "OWN") -> Path:
    """The BM1684X's description with other figures, as a file."""
    text = DESCRIPTION
    for old, new in ({'name = "BM1684X"': f'name = "{name}"'} | dict(changes)).items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def compile_and_run(
    call: Run, models: Path, tmp_path: Path
) -> Callable[[str, Path, str], dict[str, Any]]:
    """The report of a small model on a chip."""

    def measure(name: str, chip: Path, quantize: str) -> dict[str, Any]:
        model, out, report = models / f"{name}.onnx", tmp_path / "out", tmp_path / "report.json"
        chosen = ("--chip", chip, "--quiet")
        done = call("tpu-compile", model, "-o", out, "--quantize", quantize, *chosen)
        assert done.status == 0, done.err
        done = call("tpu-run", out, "--check", "--compare", model, "--report", report, *chosen)
        assert done.status == 0, done.out + done.err
        return json.loads(report.read_text(encoding="utf-8"))

    return measure


KINDS = [(name, quantize) for name in NETWORKS for quantize in ("F32", "F16")]
"""Every chip has two networks, one in F32 and one in F16."""

ON_CHIPS = [
    (change, *KINDS[(3 * number + step) % len(KINDS)])
    for number, change in enumerate(CHANGES)
    for step in (0, 3)
]


def test_every_network_and_format_is_on_two_chips_or_more() -> None:
    counts = Counter((name, quantize) for _, name, quantize in ON_CHIPS)
    assert counts.keys() == set(KINDS)
    assert min(counts.values()) >= 2
    for change in CHANGES:
        mine = [one[1:] for one in ON_CHIPS if one[0] == change]
        assert all(len(set(column)) == 2 for column in zip(*mine, strict=True))


@pytest.mark.parametrize(("change", "name", "quantize"), ON_CHIPS)
def test_values_on_other_chips(
    change: str,
    name: str,
    quantize: str,
    compile_and_run: Callable[[str, Path, str], dict[str, Any]],
    tmp_path: Path,
) -> None:
    report = compile_and_run(name, describe(tmp_path / "own.toml", CHANGES[change]), quantize)
    assert report["chip"] == "OWN"
    for tensor in report["comparison"]["tensors"].values():
        assert tensor["cosine"] >= (0.99999 if quantize == "F32" else 0.9999)


@pytest.fixture(scope="module")
def tables(models: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Calibration tables, from random inputs."""
    folder, random = tmp_path_factory.mktemp("tables"), np.random.default_rng(8)
    shapes = {"channels": ("image", (4, 3, 16, 14)), "heads": ("tokens", (4, 70, 48))}
    for name, (tensor, shape) in shapes.items():
        data: dict[str, Any] = {tensor: random.standard_normal(shape, np.float32)}
        np.savez(folder / f"{name}.npz", **data)
        arguments = ("--dataset", folder / f"{name}.npz", "-o", folder / name, "--quiet")
        with pytest.raises(SystemExit, match=r"^0$"):
            tpu_calibrate([str(a) for a in (models / f"{name}.onnx", *arguments)])
        # What is faster in F16 depends on the chip: all is in 8 bits.
        ranges = read_table(folder / name)
        modes = "".join(f"{one} INT8\n" for one in ranges.thresholds if one != tensor)
        (folder / f"{name}.modes").write_text(modes, encoding="utf-8")
    return {name: folder / name for name in shapes}


@pytest.mark.parametrize("name", ["channels", "heads"])
def test_integers_are_the_same_on_every_chip(
    name: str, tables: dict[str, Path], models: Path, call: Run, tmp_path: Path
) -> None:
    """Sums of integers are exact, so that no cutting into lanes may change a bit."""
    results: dict[str, Any] = {}
    described: dict[str, Mapping[str, str] | None] = {"": {}, **CHANGES, "BM1688": None}
    for change, figures in described.items():
        chip: str | Path = "bm1688"
        if figures is not None:
            chip = describe(tmp_path / "own.toml", figures)
        out = tmp_path / change.replace(" ", "_")
        chosen = ("--chip", chip, "--quiet")
        table, modes = tables[name], tables[name].with_suffix(".modes")
        quantize = ("--quantize", "INT8", "--calibration-table", table, "--quantize-table", modes)
        done = call("tpu-compile", models / f"{name}.onnx", "-o", out, *quantize, *chosen)
        assert done.status == 0, f"{change}: {done.err}"
        done = call("tpu-run", out, "--check", "--outputs", tmp_path / "y.npz", *chosen)
        assert done.status == 0, f"{change}: {done.out} {done.err}"
        with np.load(tmp_path / "y.npz") as arrays:
            (results[change],) = (arrays[key] for key in arrays.files)
    assert len(np.unique(results[""])) > 50
    for change, result in results.items():
        assert np.array_equal(result, results[""]), change


def test_rates_and_clock_change_the_time(
    compile_and_run: Callable[[str, Path, str], dict[str, Any]], call: Run, tmp_path: Path
) -> None:
    """Twice the bandwidth, half the clock, for one program: the compiler would choose another."""
    plain = compile_and_run("cnn", describe(tmp_path / "plain.toml", {}), "F16")
    rates = {"load = 58": "load = 116", "store = 44": "store = 88", "1_000_000_000": "500_000_000"}
    chip, path = describe(tmp_path / "fast.toml", rates), tmp_path / "fast.json"
    arguments = ("--chip", chip, "--report", path, "--quiet")
    assert call("tpu-run", tmp_path / "out", *arguments).status == 0
    fast = json.loads(path.read_text(encoding="utf-8"))
    assert fast["gdma"]["bytes"] == plain["gdma"]["bytes"]
    assert fast["bdc"]["busy_cycles"] == plain["bdc"]["busy_cycles"]
    assert 0.45 < fast["gdma"]["busy_cycles"] / plain["gdma"]["busy_cycles"] < 0.65
    assert fast["milliseconds"] == pytest.approx(fast["cycles"] / 0.5e6)


def test_small_local_memory_gives_more_and_smaller_transfers(
    compile_and_run: Callable[[str, Path, str], dict[str, Any]], tmp_path: Path
) -> None:
    whole = compile_and_run("cnn", describe(tmp_path / "whole.toml", {}), "F32")
    memory = {"262144": "2048", "banks = 16": "banks = 4"}
    small = compile_and_run("cnn", describe(tmp_path / "small.toml", memory), "F32")
    assert small["gdma"]["instructions"] > whole["gdma"]["instructions"]
    assert min(t["cosine"] for t in small["comparison"]["tensors"].values()) >= 0.99999


def test_a_program_asks_for_the_chip_it_was_compiled_for(
    call: Run, models: Path, tmp_path: Path
) -> None:
    chip, out = describe(tmp_path / "own.toml", CHANGES["32 lanes"], "My chip"), tmp_path / "out"
    chosen = ("--chip", chip, "--quiet")
    assert call("tpu-compile", models / "cnn.onnx", "-o", out, *chosen).status == 0
    assert json.loads((out / "compile.json").read_text())["chip"] == "My chip"
    done = call("tpu-run", out, "--quiet")
    assert done.status == 1
    assert "'My chip'" in done.err
    assert "--chip" in done.err
    assert call("tpu-run", out, *chosen).status == 0


def test_network_too_large_for_the_memory(call: Run, models: Path, tmp_path: Path) -> None:
    """Coefficients and activations are checked against the DDR before code is generated."""
    memory = {"bytes = 0x1_0000_0000": "bytes = 0x4000"}
    chip, out = describe(tmp_path / "own.toml", memory), tmp_path / "out"
    done = call("tpu-compile", models / "cnn.onnx", "-o", out, "--chip", chip, "--quiet")
    assert done.status == 1
    assert "DDR" in done.err
    assert str(0x4000) in done.err
    assert not out.exists()
