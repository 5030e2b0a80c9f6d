"""Where a benchmark's figures go."""

import argparse
import json
import math
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
    """The figures as a file, if one was asked for; what is infinite or not a number is null."""
    if path is not None:
        text = json.dumps(_plain(figures), indent=1, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")


def _plain(figures: Any) -> Any:
    match figures:
        case dict():
            return {key: _plain(value) for key, value in figures.items()}  # pyright: ignore[reportUnknownVariableType]
        case list() | tuple():
            return [_plain(value) for value in figures]  # pyright: ignore[reportUnknownVariableType]
        case float() if not math.isfinite(figures):
            return None
        case _:
            return figures
