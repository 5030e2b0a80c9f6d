"""The row stride of DMA matrix commands at the end of local memory.

The vendor's C-model asserts that rows * row stride lies within local memory although the last
row does not reach that far, so a matrix of one row must not carry the stride of a wider image,
and the last row of a matrix that ends with its lane goes by itself.
"""

import numpy as np
import pytest

from xdsl_tpu.backend.checks.consistency import contradictions
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, contiguous, strided

CHIP = load_chip()
WIDTH = 16
IMAGE = 4096  # elements of the row that the matrix is a part of


@pytest.mark.parametrize("blocks", [1, 64, 65])
def test_a_single_row_at_the_end_takes_no_more_than_it_needs(blocks: int) -> None:
    groups = -(-blocks // CHIP.lanes)
    program = Program("test", CHIP.name, "F32")
    address = CHIP.local_bytes - groups * WIDTH * DType.F32.bytes
    target = strided(address, (1, blocks, 1, WIDTH), (IMAGE, WIDTH, 0, 1), DType.F32)
    source = contiguous(CHIP.ddr_base, (1, 1, 1, blocks * WIDTH), DType.F32)
    Emitter(CHIP, program).load_matrix(target, source)
    (command,) = program.queue(Engine.GDMA)
    assert command["dst_nstride"] == WIDTH


@pytest.mark.parametrize("way", ["load", "transpose", "store"])
def test_the_last_row_at_the_end_goes_by_itself(way: str) -> None:
    program, machine = Program("test", CHIP.name, "F32"), Machine(CHIP)
    address = CHIP.local_bytes - (2 * IMAGE + WIDTH) * DType.F32.bytes
    local = strided(address, (3, 5, 1, WIDTH), (IMAGE, WIDTH, 0, 1), DType.F32)
    matrix = np.arange(3 * 5 * WIDTH, dtype=np.float32).reshape(3, 5, 1, WIDTH)
    rows = matrix.reshape(3, -1).T if way == "transpose" else matrix.reshape(3, -1)
    ddr = contiguous(CHIP.ddr_base, (1, 1, *rows.shape), DType.F32)
    place = machine.memory.local.place(address, local.shape, local.strides, np.dtype(np.float32))
    if way == "store":
        place.write(matrix)
        Emitter(CHIP, program).store_matrix(ddr, local)
    else:
        machine.memory.write(ddr.address, rows)
        Emitter(CHIP, program).load_matrix(local, ddr, transpose=way == "transpose")
    commands = program.queue(Engine.GDMA)
    assert len(commands) == 2
    for command in commands:
        assert not list(contradictions(command, list(accesses(command, CHIP)), CHIP))
        machine.execute(command)
    np.testing.assert_array_equal(place.read(), matrix)
    np.testing.assert_array_equal(machine.memory.read(ddr.address, rows.shape, "f4"), rows)


def test_rows_keep_their_stride() -> None:
    program = Program("test", CHIP.name, "F32")
    target = strided(0, (2, 64, 1, WIDTH), (IMAGE, WIDTH, 0, 1), DType.F32)
    source = contiguous(CHIP.ddr_base, (1, 1, 2, 64 * WIDTH), DType.F32)
    Emitter(CHIP, program).load_matrix(target, source)
    (command,) = program.queue(Engine.GDMA)
    assert command["dst_nstride"] == IMAGE
