"""benchmarks/machine.py on a small folder, and on one with mistakes in it."""

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
    cycles = folder / "cycles"
    cycles.mkdir()
    name = "cycles_mobilenetv2_100_F16.csv.gz"
    (cycles / name).symlink_to(DATA / "cycles" / name)
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
    assert done.returncode == 0, done.stderr
    assert "recorded streams" in done.stdout
    return json.loads(out.read_text())


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


def test_vectors(figures: dict[str, Any]) -> None:
    entries = json.loads((DATA / "golden" / "unit" / "index.json").read_text())
    scores = figures["vectors"]
    assert sum(score["total"] for score in scores.values()) == len(entries) + 2
    bad = {name: s["total"] - s["passed"] for name, s in scores.items()}
    assert {name for name, count in bad.items() if count} == {"DMA_cw_transpose", "sRQ_DQ"}
    assert scores["sRQ_DQ"]["refused"] == 1


def test_cycles(figures: dict[str, Any]) -> None:
    assert all(score["passed"] == score["total"] for score in figures["cycle_rows"].values())
    (total,) = figures["cycle_totals"]
    assert total["vendor_total"] == total["total"] == 568658


def test_streams(figures: dict[str, Any]) -> None:
    (stream,) = figures["streams"]
    assert (stream["commands"], stream["passed"]) == (COMMANDS, COMMANDS - 1)
    for mode in ("fast", "exact"):
        assert stream["modes"][mode]["seconds"] > 0
        assert 0.05 < stream["modes"][mode]["peak_gib"] < 2
