"""What a user can write in place of an op that cannot be compiled."""

import tomllib
from functools import cache
from pathlib import Path

_ANY_OTHER = "?"


@cache
def _table() -> dict[str, str]:
    path = Path(__file__).with_name("rewrites.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def nearest_rewrite(op_type: str) -> str:
    """The nearest form of an ONNX op that can be compiled, in words."""
    table = _table()
    return table.get(op_type, table[_ANY_OTHER])
