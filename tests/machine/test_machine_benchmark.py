"""benchmarks/machine.py on a small folder, and on one with mistakes in it."""

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
COMMANDS = 40


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the benchmark writes for the shipped vectors, some cycle rows, the start of a stream
    of which one CRC is wrong, and an unreadable form."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "unit").symlink_to(DATA / "golden" / "unit")
    _write_bad_vector(folder / "bad")
    _write_stream(folder / "vit_start.npz")
    _write_broken_streams(folder)
    _write_broken_vectors(folder / "broken")
    cycles = folder / "cycles"
    cycles.mkdir()
    name = "cycles_mobilenetv2_100_F16.csv.gz"
    (cycles / name).symlink_to(DATA / "cycles" / name)
    (cycles / "totals.csv").write_text("model,quant,total_cycles\nmobilenetv2_100,F16,568658\n")
    _write_broken_cycles(cycles, name)
    out = folder / "figures.json"
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "benchmarks" / "machine.py",
            *("--golden", folder, "--cycles", cycles, "--json", out),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    assert "recorded streams" in done.stdout
    *_, report = done.stdout.partition("did not pass:\n")
    return json.loads(out.read_text()) | {"report": report.splitlines()}


def test_everything_passed(tmp_path: Path) -> None:
    """The shipped recordings of attention and of one network's cycles."""
    for name in ("traces/fa_tiny_decode.npz", "traces/fa_tiny_prefill.npz"):
        (tmp_path / Path(name).name).symlink_to(DATA / "golden" / name)
    name = "cycles_mobilenetv2_100_F16.csv.gz"
    (tmp_path / name).symlink_to(DATA / "cycles" / name)
    script = [sys.executable, ROOT / "benchmarks" / "machine.py"]
    script += ["--golden", tmp_path, "--cycles", tmp_path]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "everything passed"


def _write_bad_vector(folder: Path) -> None:
    """A command that is refused, and one whose recorded result is not what comes out."""
    folder.mkdir()
    entries = json.loads((DATA / "golden" / "unit" / "index.json").read_text())
    (wrong,) = [e for e in entries if e["form"] == "DMA_cw_transpose"][:1]
    (refused,) = [e for e in entries if e["form"] == "sRQ_DQ"][:1]
    raw = int.from_bytes(bytes.fromhex(refused["raw"]), "little")
    raw = raw & ~(31 << 45) | 5 << 45  # dq2
    refused["raw"] = raw.to_bytes(32, "little").hex()
    (folder / "index.json").write_text(json.dumps([wrong, refused]))
    for entry in (wrong, refused):
        with np.load(DATA / "golden" / "unit" / entry["shard"]) as shard:
            arrays = dict(shard)
        for output in entry["outputs"]:
            arrays[output["array"]] = arrays[output["array"]] + 1
        np.savez(folder / entry["shard"], **arrays)


def _write_stream(path: Path) -> None:
    """The first commands of a recorded stream, one of them with another CRC."""
    per_command = ("engine", "crc", "res_mem", "res_addr", "res_shape", "res_stride", "res_dtype")
    with np.load(DATA / "golden" / "traces" / "vit_small_f32.npz") as file:
        arrays = {n: file[n][:COMMANDS] if n in per_command else file[n] for n in file.files}
    arrays["crc"] = arrays["crc"].copy()
    arrays["crc"][7] += 1
    del arrays["out_logits_Gemm"]
    np.savez(path, **arrays)


def _write_broken_streams(folder: Path) -> None:
    """One whose bytes end early, and one that is no archive."""
    with np.load(folder / "vit_start.npz") as file:
        arrays = dict(file)
    np.savez(folder / "cut_off.npz", **(arrays | {"raw": arrays["raw"][:100]}))
    (folder / "no_archive.npz").write_text("nothing")


def _write_broken_vectors(folder: Path) -> None:
    """An index that is none, and entries of which no one can be computed."""
    (folder / "no_index").mkdir(parents=True)
    (folder / "no_index" / "index.json").write_text("{")
    entry = json.loads((DATA / "golden" / "unit" / "index.json").read_text())[0]
    entry |= {"form": "sNEW", "shard": str(DATA / "golden" / "unit" / entry["shard"])}
    broken = [
        entry | {"shard": "none.npz"},
        entry | {"raw": "ff" * 64},
        entry | {"raw": "no hex"},
        {k: v for k, v in entry.items() if k != "raw"},
        entry | {"inputs": [], "outputs": [], "raw": f"{3 << 41 | 2 << 45:0256x}"},
    ]
    (folder / "index.json").write_text(json.dumps(broken))


def _write_broken_cycles(folder: Path, name: str) -> None:
    """A program of five rows: wrong cycles, an unknown instruction, no number; and no program."""
    with gzip.open(folder / name, "rt") as stream:
        rows = list(csv.DictReader(stream))[:5]
    rows[1]["cycles"] = str(int(rows[1]["cycles"]) + 1)
    rows[2]["op"] = rows[2]["family"] = "NEW"
    rows[3]["cycles"] = "many"
    with gzip.open(folder / "program_broken.csv.gz", "wt", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    (folder / "text.csv.gz").write_text("no gzip")


def test_folders_without_anything_are_one_message(tmp_path: Path) -> None:
    """Nothing to measure, and no place for the figures."""
    script = [sys.executable, ROOT / "benchmarks" / "machine.py", "--golden", tmp_path]
    script += ["--cycles", tmp_path]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"error: {tmp_path} has no vectors (index.json) and no streams")
    assert line.endswith(f"; {tmp_path} has no cycles (.csv.gz) that can be read")
    script += ["--json", tmp_path / "none" / "x.json"]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 2
    assert f"--json: there is no folder {tmp_path / 'none'}" in done.stderr


def test_what_is_damaged_is_reported(figures: dict[str, Any]) -> None:
    new = figures["vectors"]["sNEW"]
    assert (new["passed"], new["total"], new["refused"]) == (0, 5, 5)
    assert len(new["notes"]) == 5
    rows = figures["cycle_rows"]
    assert (rows["NEW"]["passed"], rows["NEW"]["total"], rows["NEW"]["refused"]) == (0, 1, 1)
    assert sum(score["total"] - score["passed"] for score in rows.values()) == 3
    (cut,) = [item for item in figures["streams"] if item["name"] == "cut_off"]
    assert cut["passed"] == 0
    assert "left, too few for a command" in cut["problem"]
    unreadable = {Path(item["file"]).name for item in figures["unreadable"]}
    assert unreadable == {"index.json", "no_archive.npz", "text.csv.gz"}


def test_what_did_not_pass_is_listed(figures: dict[str, Any]) -> None:
    report = "\n".join(figures["report"])
    for line in (
        "vectors of sNEW: 5 of 5",
        "cycle rows of NEW: 1 of 1",
        "cycles of program_broken: there is no 'NEW'",
        "stream vit_start: 1 of 40 results",
        "text.csv.gz: ",
    ):
        assert line in report
    assert "everything passed" not in report


def test_vectors(figures: dict[str, Any]) -> None:
    entries = json.loads((DATA / "golden" / "unit" / "index.json").read_text())
    scores = {name: score for name, score in figures["vectors"].items() if name != "sNEW"}
    assert sum(score["total"] for score in scores.values()) == len(entries) + 2
    bad = {name: s["total"] - s["passed"] for name, s in scores.items()}
    assert {name for name, count in bad.items() if count} == {"DMA_cw_transpose", "sRQ_DQ"}
    assert scores["sRQ_DQ"]["refused"] == 1


def test_cycles(figures: dict[str, Any]) -> None:
    assert sum(score["passed"] for score in figures["cycle_rows"].values()) == 368 + 2
    whole, broken = figures["cycle_totals"]
    assert whole["vendor_total"] == whole["total"] == whole["listed"] == 568658
    assert (broken["total"], broken["reason"]) == (-1, "there is no 'NEW'")


def test_streams(figures: dict[str, Any]) -> None:
    (stream,) = [item for item in figures["streams"] if item["name"] == "vit_start"]
    assert (stream["commands"], stream["passed"]) == (COMMANDS, COMMANDS - 1)
    for mode in ("fast", "exact"):
        assert stream["modes"][mode]["seconds"] > 0
        assert 0.05 < stream["modes"][mode]["peak_gib"] < 2
