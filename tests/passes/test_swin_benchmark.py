"""benchmarks/swin.py on another network: its stages and both timelines."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.tools.small_models import heads

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"│ (.+?) +│ +([\d,]+) │ +([\d.]+)x │ +([\d.]+) │ +(\d+)% │ +(\d+)% │")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "benchmarks" / "swin.py", *arguments]
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=300
    )


def test_stages_of_another_network(tmp_path: Path) -> None:
    model, out = tmp_path / "heads.onnx", tmp_path / "out"
    model.write_bytes(heads().SerializeToString())
    done = run("--model", model, "-o", out)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = ROW.findall(done.stdout)
    assert [row[0] for row in rows] == [
        "nothing",
        "+ MatmulWithPermuteAndSplit",
        "+ other fusions",
        "+ groups",
        "+ Slice 5-D local",
        "+ Squeeze local",
        "+ weight split",
        "+ three MatMuls: everything",
    ]
    cycles = [int(row[1].replace(",", "")) for row in rows]
    assert cycles[-1] < cycles[0] / 2
    assert (out / "timelines.png").read_bytes().startswith(b"\x89PNG")
    for name, end in (("before", cycles[0]), ("after", cycles[-1])):
        trace = json.loads((out / f"{name}.perfetto.json").read_text(encoding="utf-8"))
        commands = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        assert {event["tid"] for event in commands} >= {1, 2}
        last = max(event["ts"] + event["dur"] for event in commands)
        assert 0.9 * end <= round(1000 * last) <= end


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    done = run("--model", tmp_path / "none.onnx")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("none.onnx: no such file")
