"""The notebook runs, as a script and cell by cell, and its page is the report's."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "look_at_a_network.py"


def test_every_cell_runs_and_the_chip_makes_a_difference() -> None:
    spec = spec_from_file_location("look_at_a_network", NOTEBOOK)
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, names = module.app.run()
    assert names["program"].name == "mobilenetv2_100"
    assert names["other"].chip.lanes == 32
    assert names["ratio"] == names["other"].time().cycles / names["timing"].cycles != 1
    assert names["report"] in [output for output in outputs if output is not None]
    assert names["folder"] == ROOT / "examples"


def test_marimo_finds_nothing_wrong() -> None:
    command = [sys.executable, "-m", "marimo", "check", "--strict", str(NOTEBOOK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
