"""Grids of chips: keys, values, combinations, descriptions."""

from dataclasses import fields
from pathlib import Path

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.sweep.grid import combinations, describe, parse_grid


def test_short_and_long_keys() -> None:
    grid = parse_grid("lanes=32,0x40 gdma.load=29 gdma.tensor_derate=1.0,1.5", "bm1684x")
    assert grid == {"lanes.count": (32, 64), "gdma.load": (29,), "gdma.tensor_derate": (1.0, 1.5)}
    assert combinations(grid) == [
        {"lanes.count": lanes, "gdma.load": 29, "gdma.tensor_derate": derate}
        for lanes in (32, 64)
        for derate in (1.0, 1.5)
    ]


def test_no_grid_is_the_chip_itself() -> None:
    assert combinations(parse_grid("", "bm1684x")) == [{}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lanes", "not of the form"),
        ("lanes=", "not of the form"),
        ("=3", "not of the form"),
        ("lame=3", "no figure 'lame'; known: lanes, "),
        ("gdma=3", "no figure 'gdma'"),
        ("cube.outputs=3", "no figure 'cube.outputs'"),
        ("lanes=3x", "'3x' is no value for 'lanes'"),
        ("lanes=1.5", "'1.5' is no value for 'lanes'"),
        ("lanes=32,,64", "'' is no value"),
        ("lanes=32,0x20", "given twice"),
        ("lanes=32 lanes.count=64", "given twice"),
    ],
)
def test_what_is_no_grid(text: str, words: str) -> None:
    with pytest.raises(TpuError, match=words):
        parse_grid(text, "bm1684x")


def test_a_description_is_a_chip_with_only_those_figures_changed(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(describe("bm1684x", {"lanes.count": 32, "gdma.load": 29}), encoding="utf-8")
    chip, base = load_chip(str(path)), load_chip("bm1684x")
    assert (chip.lanes, chip.load_bytes_per_cycle) == (32, 29)
    assert chip.name == "BM1684X lanes=32 ddr_load=29"
    changed = {"name", "lanes", "load_bytes_per_cycle"}
    names = [field.name for field in fields(base)]
    assert {name for name in names if getattr(chip, name) != getattr(base, name)} == changed


@pytest.mark.parametrize("lanes", [65, 128, 1024])
def test_memories_move_out_of_the_way(lanes: int, tmp_path: Path) -> None:
    """128 lanes of 256 KiB reach into the static memory's addresses, 1024 into the L2's."""
    path = tmp_path / "own.toml"
    path.write_text(describe("bm1684x", {"lanes.count": lanes}), encoding="utf-8")
    chip = load_chip(str(path))
    assert chip.static_base >= chip.local_base + lanes * chip.local_bytes
    assert chip.l2_base >= chip.static_base + chip.static_bytes
    assert chip.ddr_base >= chip.l2_base + chip.l2_bytes
