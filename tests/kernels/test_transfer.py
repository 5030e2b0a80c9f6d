"""Tiles of wide matrices: several rows to a lane, moved at the full rate."""

import numpy as np
import pytest

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles, put, store_cycles
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.transfer import load_slice
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, GlobalTensor, aligned, contiguous
from xdsl_tpu.backend.timing import transfer
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw

CHIP = load_chip("bm1684x")
WIDE = 8960
"""Elements of a row: 16 KiB of DDR are fewer than two."""


def _columns(address: int, rows: int, columns: int, row: int = WIDE) -> GlobalTensor:
    return GlobalTensor(address, (1, rows, 1, columns), (rows * row, row, columns, 1), DType.F16)


@pytest.mark.parametrize(("rows", "columns"), [(64, 96), (65, 96), (200, 33), (192, 128)])
def test_columns_of_a_wide_matrix_arrive_and_leave(rows: int, columns: int) -> None:
    program = Program("columns", CHIP.name, "F16")
    emitter = Emitter(CHIP, program)
    source, target = CHIP.ddr_base, CHIP.ddr_base + (1 << 23)
    tile = aligned(CHIP, 4096, (1, rows, 1, columns), DType.F16)
    start = 2 * 128
    fetch(emitter, tile, _columns(source + start, rows, columns))
    put(emitter, _columns(target, rows, columns), tile)
    emitter.finish()
    values = np.random.default_rng(rows).integers(0, 1 << 16, (rows, WIDE)).astype(np.uint16)
    machine = Machine(CHIP)
    machine.memory.write(source, values)
    machine.memory.write(target, np.zeros_like(values))
    machine.run(program.tiu, program.gdma)
    moved = machine.memory.read(target, values.shape, "uint16")
    assert np.array_equal(moved[:, :columns], values[:, 128 : 128 + columns])
    assert not moved[:, columns:].any()


@pytest.mark.parametrize(("lines", "commands"), [(65535, 1), (65536, 2), (75264, 2)])
def test_lines_that_no_field_holds_come_in_parts(lines: int, commands: int) -> None:
    """Apart from those beside them in DDR, so that they are no matrix."""
    program = Program("lines", CHIP.name, "F16")
    emitter, apart = Emitter(CHIP, program), 1 << 17

    def lies(address: int) -> GlobalTensor:
        return GlobalTensor(address, (1, 3, lines, 1), (3 * apart, apart, 1, 1), DType.F16)

    source, target = lies(CHIP.ddr_base), lies(CHIP.ddr_base + (1 << 23))
    tile = aligned(CHIP, 4096, source.shape, DType.F16)
    fetch(emitter, tile, source)
    assert len(program.gdma) == commands
    put(emitter, target, tile)
    emitter.finish()
    values = np.random.default_rng(lines).integers(0, 1 << 16, (3, apart)).astype(np.uint16)
    machine = Machine(CHIP)
    machine.memory.write(source.address, values)
    machine.run(program.tiu, program.gdma)
    moved = machine.memory.read(target.address, values.shape, "uint16")
    assert np.array_equal(moved[:, :lines], values[:, :lines])


def test_rows_of_a_lane_spread_over_all_channels_of_ddr() -> None:
    far, near = _columns(0, 512, 128), contiguous(0, (1, 512, 1, 128), DType.F16)
    tile = aligned(CHIP, 0, far.shape, DType.F16)
    derate = CHIP.tensor_derate
    assert load_cycles(tile, far, CHIP) <= load_cycles(tile, near, CHIP) * derate + 1
    assert store_cycles(far, tile, CHIP) <= store_cycles(near, tile, CHIP) * derate + 1


@pytest.mark.parametrize(("rows", "commands"), [(64, 1), (128, 1), (150, 2)])
def test_rows_that_fill_no_lane_group_come_by_themselves(rows: int, commands: int) -> None:
    program = Program("columns", CHIP.name, "F16")
    emitter = Emitter(CHIP, program)
    source = _columns(CHIP.ddr_base, rows, 128)
    tile = aligned(CHIP, 0, source.shape, DType.F16)
    fetch(emitter, tile, source)
    assert len(program.gdma) == commands
    taken = sum(transfer(command, CHIP).cycles for command in program.gdma)
    assert taken == load_cycles(tile, source, CHIP)


def test_narrow_matrices_are_moved_as_before() -> None:
    program = Program("columns", CHIP.name, "F16")
    source = _columns(CHIP.ddr_base, 512, 128, row=384)
    fetch(Emitter(CHIP, program), aligned(CHIP, 0, source.shape, DType.F16), source)
    assert [command["src_csize"] for command in program.gdma] == [512]


@pytest.mark.parametrize(("rows", "columns"), [(768, 192), (200, 704)])
def test_matrices_of_many_commands_are_one_where_each_begins_anew(rows: int, columns: int) -> None:
    """Where a command has cycles before its first byte; a matrix command names 65535 columns."""
    chip = load_chip("bm1688")
    program = Program("matrix", chip.name, "F16")
    emitter = Emitter(chip, program)
    source = contiguous(chip.ddr_base, (1, rows, 1, columns), DType.F16)
    tile = aligned(chip, 0, source.shape, DType.F16)
    fetch(emitter, tile, source)
    put(emitter, contiguous(chip.arena_base, source.shape, DType.F16), tile)
    assert len(program.gdma) == 2
    taken = [transfer(command, chip).cycles for command in program.gdma]
    assert taken == [load_cycles(tile, source, chip), store_cycles(source, tile, chip)]
    emitter.finish()
    values = np.random.default_rng(rows).integers(0, 1 << 16, (rows, columns)).astype(np.uint16)
    machine = Machine(chip)
    machine.memory.write(chip.ddr_base, values)
    machine.run(program.tiu, program.gdma)
    assert np.array_equal(machine.memory.read(chip.arena_base, values.shape, "uint16"), values)


@pytest.mark.parametrize(
    ("chip", "commands"),
    [(load_chip("bm1684x"), 12), (load_chip("bm1688"), 6)],
    ids=lambda value: value.name if isinstance(value, Chip) else None,
)
def test_filters_come_in_pieces_that_are_worth_their_start(chip: Chip, commands: int) -> None:
    """768 rows of 384 bytes: 12 groups of 64 lanes, or 24 of 32, where a start is 290 cycles."""
    program = Program("filters", chip.name, "F16")
    full = Ncdhw(1, 768, 1, 1, 192)
    tile = LocalValue(aligned(chip, 0, (1, 768, 1, 192), DType.F16), Ncdhw(0, 0, 0, 0, 0), full)
    load_slice(Emitter(chip, program), tile, DdrValue(chip.ddr_base, (768, 192), DType.F16))
    assert len(program.gdma) == commands
