"""Chip descriptions: what the shipped one says, and what is refused."""

from pathlib import Path

import pytest

from xdsl_tpu.backend.chip import CHIPS, known_chips, load_chip
from xdsl_tpu.dialects.errors import TpuError

SHIPPED = (CHIPS / "bm1684x.toml").read_text(encoding="utf-8")


def test_bm1684x() -> None:
    """Figures of docs/hardware/machine.md."""
    chip = load_chip("BM1684X")
    assert chip == load_chip("bm1684x")
    assert (chip.lanes, chip.local_bytes, chip.banks, chip.bank_bytes) == (64, 1 << 18, 16, 1 << 14)
    assert chip.lane_shift == 18
    assert [chip.eu(width) for width in (1, 2, 4)] == [64, 32, 16]
    assert chip.milliseconds(1_500_000) == 1.5
    assert (chip.ddr_base, chip.local_base) == (0x1_0000_0000, 0x800_0000)
    assert known_chips() == ["bm1684x", "bm1688"]


def test_bm1688() -> None:
    """Figures of docs/hardware/bm1688.md."""
    chip = load_chip("bm1688")
    assert (chip.lanes, chip.local_bytes, chip.bank_bytes) == (32, 1 << 17, 1 << 13)
    assert [chip.eu(width) for width in (1, 2, 4)] == [16, 8, 4]
    assert (chip.weight_lanes.row, chip.cube_channels[2]) == (32, 16)
    windows = range(0x90 << 32, 0x100 << 32, 0x10 << 32)
    assert sorted(chip.ddr_windows) == [chip.io_base, *windows]
    assert chip.in_ddr(0xA0_0000_0000, 4096)
    assert not chip.in_ddr(0x91_0000_0000, 1)


@pytest.mark.parametrize("name", ["bm1684", "", "bm1684x.toml", "a/b"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(TpuError, match=r"no chip '.*give one of bm1684x, bm1688, or the path"):
        load_chip(name)


PROBLEMS = {
    "no lanes": ("count = 64", "count = 0", "lanes is 0; it must be above 0"),
    "no number": ("load = 58", "load = nan", "load_bytes_per_cycle is nan; it must be"),
    "endless": ("load = 58", "load = inf", "load_bytes_per_cycle is inf; it must be"),
    "negative": ("load = 58", "load = -1", "load_bytes_per_cycle is -1"),
    "text": ("count = 64", 'count = "64"', "lanes is '64', not of type int"),
    "fraction": ("banks = 16", "banks = 1.5", "banks is 1.5, not of type int"),
    "in a table": ("4 = 16 }", "4 = 0 }", "cube_outputs is 0"),
    "no power of two": ("262144", "200000", "no power of two"),
    "another instruction set": ('"bm1684x"', '"bm1690"', "'bm1690'; known: bm1684x, bm1688"),
    "missing key": ("hertz = 1_000_000_000", "", "lacks the key 'hertz'"),
    "missing table": ("[gdma]", "[dma]", "lacks the key 'gdma'"),
    "no table": ("[l2_sram]", "l2_sram = 3\n[other]", "lacks the key 'l2_sram'"),
    "no TOML": ("[lanes]", "[lanes", "not a chip description"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_descriptions_that_cannot_be(case: str, tmp_path: Path) -> None:
    old, new, message = PROBLEMS[case]
    assert SHIPPED.count(old) == 1
    path = tmp_path / "own.toml"
    path.write_text(SHIPPED.replace(old, new), encoding="utf-8")
    with pytest.raises(TpuError) as error:
        load_chip(str(path))
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TpuError, match=r"own\.toml: not a chip description"):
        load_chip(str(path))


def test_a_copy_is_the_same_chip(tmp_path: Path) -> None:
    path = tmp_path / "copy.toml"
    path.write_text(SHIPPED, encoding="utf-8")
    assert load_chip(str(path)) == load_chip("bm1684x")
