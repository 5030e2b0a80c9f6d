"""The reference pages are what the code says today."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "make_reference.py"


def test_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"python docs/make_reference.py; stale: {done.stdout}{done.stderr}"
