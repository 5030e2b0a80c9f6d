"""Where a benchmark's figures go."""

import argparse
import json
from pathlib import Path
from typing import Any


def json_file(text: str) -> Path:
    """The argument of `--json`; refused at once when the file cannot be made, not after the run."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def write_json(path: Path | None, figures: Any) -> None:
    """The figures as a file, if one was asked for."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
