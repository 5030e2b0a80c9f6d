"""How a tool that was run ended."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class Done:
    """How a tool ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]
