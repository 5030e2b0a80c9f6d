"""Chips of a grid: a description with some figures replaced by every listed value."""

import copy
import itertools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import tomli_w

from xdsl_tpu.backend.chip import CHIPS, load_chip
from xdsl_tpu.dialects.errors import TpuError

Number = int | float
Grid = dict[str, tuple[Number, ...]]
"""Key of the description, such as `gdma.load`, -> its values."""

SHORT = {
    "lanes": "lanes.count",
    "eu_bytes": "lanes.eu_bytes",
    "local_bytes": "local_memory.bytes_per_lane",
    "banks": "local_memory.banks",
    "ddr_load": "gdma.load",
    "ddr_store": "gdma.store",
    "ddr_copy": "gdma.ddr_to_ddr",
    "clock": "clock.hertz",
}
"""Short names of the keys that are varied most; any other number goes by its own key."""

_MEMORIES = ("local_memory", "static_memory", "l2_sram", "ddr")
"""In the order of their addresses."""


def parse_grid(text: str, base: str) -> Grid:
    """`lanes=32,64,128 ddr_load=29,58` as keys of the chip `base` and values.

    Raises TpuError for a key that the description of `base` has not, or a value that is no number.
    """
    description = _description(base)
    grid: Grid = {}
    for word in text.split():
        name, separator, values = word.partition("=")
        if not separator or not name or not values:
            raise TpuError(f"--chip-grid: '{word}' is not of the form key=value,value,...")
        key = SHORT.get(name, name)
        if key in grid:
            raise TpuError(f"--chip-grid: '{name}' is given twice")
        old = _number(description, key)
        if old is None:
            known = ", ".join((*SHORT, *(k for k in _keys(description) if k not in SHORT.values())))
            raise TpuError(f"--chip-grid: a chip has no figure '{name}'; known: {known}")
        numbers = tuple(_value(value, name, type(old)) for value in values.split(","))
        if len(set(numbers)) < len(numbers):
            raise TpuError(f"--chip-grid: a value of '{name}' is given twice")
        grid[key] = numbers
    return grid


def short_name(key: str) -> str:
    """The short name of a key, or the key itself."""
    return next((short for short, long in SHORT.items() if long == key), key)


def combinations(grid: Grid) -> list[dict[str, Number]]:
    """Every choice of one value per key, the last key varying fastest; [{}] for no keys."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def describe(base: str, changes: Mapping[str, Number]) -> str:
    """The TOML description of `base` with other figures.

    A memory that grows over the next one moves it up: addresses are no property that a study of
    sizes should have to care about. The name tells the changes: `BM1684X lanes=32`.
    """
    table = copy.deepcopy(_description(base))
    for key, value in changes.items():
        section, _, name = key.rpartition(".")
        table[section][name] = value
    table["name"] = " ".join((table["name"], *(f"{short_name(k)}={v}" for k, v in changes.items())))
    _move_up(table)
    return tomli_w.dumps(table)


def _move_up(table: dict[str, Any]) -> None:
    end = 0
    for name in _MEMORIES:
        memory = table[name]
        size = memory.get("bytes", memory.get("bytes_per_lane", 0))
        if name == "local_memory":
            size *= table["lanes"]["count"]
        if memory["base"] < end:
            unit = 1 << max(0, size - 1).bit_length()  # a base is a multiple of the memory's size
            memory["base"] = -(-end // unit) * unit
        end = memory["base"] + size


def _description(base: str) -> dict[str, Any]:
    load_chip(base)  # its errors are for people
    path = Path(base) if base.endswith(".toml") else CHIPS / f"{base.lower()}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _keys(description: Mapping[str, Any]) -> list[str]:
    return [
        f"{section}.{name}"
        for section, entries in description.items()
        if isinstance(entries, dict)
        for name in entries  # pyright: ignore[reportUnknownVariableType]
        if _number(description, f"{section}.{name}") is not None
    ]


def _number(description: Mapping[str, Any], key: str) -> Number | None:
    section, _, name = key.rpartition(".")
    entries: Any = description.get(section)
    value: Any = cast("dict[str, Any]", entries).get(name) if isinstance(entries, dict) else None
    return value if isinstance(value, int | float) else None


def _value(text: str, name: str, kind: type[Number]) -> Number:
    try:
        return int(text, 0) if kind is int else float(text)
    except ValueError:
        raise TpuError(f"--chip-grid: '{text}' is no value for '{name}'") from None
