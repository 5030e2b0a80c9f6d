"""The row stride of DMA matrix commands at the end of local memory.

The vendor's C-model asserts that rows * row stride lies within local memory although the last
row does not reach that far, so a matrix of one row must not carry the stride of a wider image.
"""

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa import Engine
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


def test_rows_keep_their_stride() -> None:
    program = Program("test", CHIP.name, "F32")
    target = strided(0, (2, 64, 1, WIDTH), (IMAGE, WIDTH, 0, 1), DType.F32)
    source = contiguous(CHIP.ddr_base, (1, 1, 2, 64 * WIDTH), DType.F32)
    Emitter(CHIP, program).load_matrix(target, source)
    (command,) = program.queue(Engine.GDMA)
    assert command["dst_nstride"] == IMAGE
