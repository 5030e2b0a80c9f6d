"""Copies whose elements in DDR repeat: no command has a w or h stride of 0 there.

The vendor's C model divides by that of w, also where there is only one element; its estimate takes
a transfer for nothing where that of h is 0.
"""

import itertools

import numpy as np
import pytest

from xdsl_tpu.backend.checks.consistency import contradictions
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, GlobalTensor, aligned, contiguous
from xdsl_tpu.backend.timing import transfer

CHIP = load_chip()
SHAPES = [(2, 70, 3, 4), (2, 70, 3, 1), (2, 1, 1, 4), (1, 3, 1, 1)]
STEPS = [(0, 12, 4, 1), (0, 4, 1, 0), (12, 4, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0)]


@pytest.mark.parametrize(("shape", "steps"), list(itertools.product(SHAPES, STEPS)))
@pytest.mark.parametrize("to_local", [True, False])
def test_a_repeating_source(
    shape: tuple[int, int, int, int], steps: tuple[int, int, int, int], to_local: bool
) -> None:
    program, machine = Program("test", CHIP.name, "F32"), Machine(CHIP)
    values = np.arange(1024, dtype=np.float32)
    machine.memory.write(CHIP.ddr_base, values)
    source = GlobalTensor(CHIP.ddr_base, shape, steps, DType.F32)
    emitter = Emitter(CHIP, program)
    if to_local:
        local = aligned(CHIP, 0, shape, DType.F32)
        emitter.load(local, source)
        place = machine.memory.local.place(0, shape, local.strides, np.dtype(np.float32))
    else:
        target = contiguous(CHIP.ddr_base + 0x10000, shape, DType.F32)
        emitter.move(target, source)
        place = machine.memory.place(target.address, shape, target.strides, np.dtype(np.float32))
    for command in program.queue(Engine.GDMA):
        assert command["src_wstride"]
        assert command["dst_wstride"]
        assert command["src_hstride"]
        assert transfer(command, CHIP).cycles
        assert not list(contradictions(command, list(accesses(command, CHIP)), CHIP))
        machine.execute(command)
    indices = np.indices(shape)
    wanted = values[sum(i * s for i, s in zip(indices, steps, strict=True))]
    np.testing.assert_array_equal(place.read(), wanted)


def test_a_repeating_source_of_a_constant_step_is_one_command() -> None:
    program = Program("test", CHIP.name, "F32")
    source = GlobalTensor(CHIP.ddr_base, (1, 70, 8, 5), (350, 5, 1, 0), DType.F32)
    Emitter(CHIP, program).load(aligned(CHIP, 0, (1, 70, 8, 5), DType.F32), source)
    assert len(program.queue(Engine.GDMA)) == 1


def test_a_stride_without_effect_makes_no_transfer_faster() -> None:
    program = Program("test", CHIP.name, "F32")
    emitter = Emitter(CHIP, program)
    for h_stride in (0, 16, 1 << 20):
        source = GlobalTensor(CHIP.ddr_base, (1, 70, 1, 16), (1120, 16, h_stride, 1), DType.F32)
        emitter.load(aligned(CHIP, 0, (1, 70, 1, 16), DType.F32), source)
    first, *others = (transfer(command, CHIP).cycles for command in program.queue(Engine.GDMA))
    assert others == [first, first]
