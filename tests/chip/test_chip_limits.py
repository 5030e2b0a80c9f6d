"""Descriptions that cannot be are refused, and what is measured in lanes or EU widths follows."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.bm1684x import FORMS

from xdsl_tpu.backend.chip import CHIPS, Chip, load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, aligned
from xdsl_tpu.backend.timing.tiu_cost import tiu_cycles
from xdsl_tpu.dialects.errors import TpuError

DESCRIPTION = (CHIPS / "bm1684x.toml").read_text(encoding="utf-8")
CHANNELS = "input_channels = { 1 = 64, 2 = 32, 4 = 1 }"


def described(folder: Path, changes: dict[str, str]) -> Chip:
    text = DESCRIPTION
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / f"chip{abs(hash(text))}.toml"
    path.write_text(text, encoding="utf-8")
    return load_chip(str(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"eu_bytes = 64": "eu_bytes = 2"}, "eu_bytes is 2; it must be a multiple of 4"),
        ({"eu_bytes = 64": "eu_bytes = 96"}, "divides bytes_per_lane"),
        ({"banks = 16": "banks = 3"}, "banks is 3; it must divide bytes_per_lane"),
        ({"262144": "200000"}, "200000, no power of two"),
        ({"count = 64": "count = 128"}, "local memory ends at 0xa000000, the static memory begins"),
        ({"0x1000_0000": "0xFFFF_0000"}, "the L2 memory ends at 0x1001f0000, the DDR begins"),
        ({CHANNELS: CHANNELS.replace("32", "16")}, "those of 16 bits must be half of those of 8"),
        ({"outputs = { 1 = 4, 2": "outputs = { 2"}, "cube_outputs has no figure for .* 1 bytes"),
    ],
)
def test_impossible_chips(changes: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(TpuError, match=message) as caught:
        described(tmp_path, changes)
    assert ".toml" in str(caught.value)


def test_larger_chips_are_possible(tmp_path: Path) -> None:
    more = described(tmp_path, {"count = 64": "count = 128", "0x0900_0000": "0x0B00_0000"})
    assert (more.lanes, more.lane_shift) == (128, 18)
    wide = described(tmp_path, {"eu_bytes = 64": "eu_bytes = 128"})
    assert wide.eu(2) == 64


@pytest.mark.parametrize("width", [16, 32, 64, 128, 256])
def test_reserved_memory_begins_at_the_eu_width(width: int) -> None:
    chip = replace(load_chip(), eu_bytes=width)
    memory = LocalMemory(chip)
    memory.take(5)
    assert memory.take(5) == width


@pytest.mark.parametrize(("lanes", "local_bytes"), [(16, 1 << 20), (64, 1 << 18), (128, 1 << 18)])
def test_cycles_follow_the_lane_of_the_result(lanes: int, local_bytes: int) -> None:
    """As many channels as lanes, from lane 0 and from the last lane on: one group, then two."""
    chip = replace(load_chip(), lanes=lanes, local_bytes=local_bytes)
    cycles: list[int] = []
    for lane in (0, lanes - 1):
        fields = {"tsk_eu_typ": 2, "tsk_opd_num": 2, "res0_addr": lane << chip.lane_shift}
        fields |= {"res0_n": 1, "res0_c": lanes, "res0_h": 1, "res0_w": 640, "res0_prec": 2}
        fields |= {"opd0_addr": 0x1000, "opd1_addr": 0x2000, "opd0_prec": 2, "opd1_prec": 2}
        cycles.append(tiu_cycles(Command(FORMS["sAR"], fields), chip))
    assert cycles[1] == 2 * cycles[0]


@pytest.mark.parametrize("lanes", [16, 32, 64, 128])
def test_blocks_of_a_transposition_are_aligned(lanes: int) -> None:
    chip = replace(load_chip(), lanes=lanes)
    program = Program("test", chip.name, "F32")
    rows, columns = 2 * lanes + 5, lanes + 3
    source = aligned(chip, 0, (1, rows, 1, columns), DType.F32)
    target = aligned(chip, 65536, (1, columns, 1, rows), DType.F32)
    transpose(Emitter(chip, program), target, source)
    assert len(program.tiu) == 6
    for command in program.tiu:
        assert command["opd0_addr"] % chip.eu_bytes == 0
        assert command["res0_addr"] % chip.eu_bytes == 0


def test_lane_groups_shorter_than_the_eu_width_cannot_be_transposed() -> None:
    chip = replace(load_chip(), lanes=8)
    program = Program("test", chip.name, "F32")
    matrix = aligned(chip, 0, (1, 8, 1, 8), DType.F32)
    transpose(Emitter(chip, program), aligned(chip, 4096, (1, 8, 1, 8), DType.F32), matrix)
    larger = aligned(chip, 0, (1, 9, 1, 8), DType.F32)
    turned = aligned(chip, 4096, (1, 8, 1, 9), DType.F32)
    with pytest.raises(TpuError, match="8 lanes are no multiple of the 16 elements"):
        transpose(Emitter(chip, program), turned, larger)
