"""examples/other_project: installed beside this package, its own tests pass."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "examples" / "other_project"


def test_it_installs_and_passes_its_tests(tmp_path: Path) -> None:
    install = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--target", str(tmp_path / "site"), str(PROJECT)),
    ]
    done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    # The folder is put before all others: entry points there are found as in site-packages.
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]
    done = subprocess.run(
        [*command, str(PROJECT), str(PROJECT / "tests")],
        capture_output=True, text=True, check=False, timeout=300, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
