"""Channels moved to other lanes: the same bits as by the copy, in fewer cycles, on any lanes."""

import numpy as np
import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.codes import TransBc
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.local.lane_shift import shift_lanes
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, aligned, contiguous
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import DoesNotFit

CHIP = load_chip("bm1684x")
ROOM = 64 * 1024


def moved(
    dtype: DType, shape: tuple[int, int, int, int], first: int, to: int, free: int
) -> tuple[int, bool]:
    """Cycles of moving channels from lane `first` to `to`, and whether they are copied; checked.

    The source is the end of a larger tensor, the result that of another.
    """
    n, c, h, w = shape
    program = Program("shift", CHIP.name, "F16")
    e, machine = Emitter(CHIP, program), Machine(CHIP)
    machine.memory.local.bytes[...] = 0xFF
    wholes = [(n, c + first, h, w), (n, c + to, h, w)]
    x, out = (
        aligned(CHIP, place, whole, dtype)
        for place, whole in zip((0, 1 << 16), wholes, strict=True)
    )
    given = np.random.default_rng(2).integers(0, 256, (*wholes[0][:3], w * dtype.bytes), np.uint8)
    values = given.view(dtype.numpy).reshape(wholes[0])
    before = np.zeros(wholes[1], dtype.numpy)
    places = [CHIP.ddr_base + (i << 24) for i in range(3)]
    machine.memory.write(places[0], values)
    machine.memory.write(places[1], before)
    e.load(x, contiguous(places[0], wholes[0], dtype))
    e.load(out, contiguous(places[1], wholes[1], dtype))
    part = aligned(CHIP, x.address | first << CHIP.lane_shift, shape, dtype)
    target = aligned(CHIP, out.address | to << CHIP.lane_shift, shape, dtype)
    start = len(program.tiu)
    shift_lanes(e, LocalMemory(CHIP, [(2 * ROOM, 2 * ROOM + free)]), target, part)
    commands = list(program.tiu[start:])
    e.store(contiguous(places[2], wholes[1], dtype), out)
    e.finish()
    machine.run(program.tiu, program.gdma)
    found = machine.memory.read(places[2], wholes[1], dtype.numpy)
    assert np.array_equal(found[:, to:].view(np.uint8), values[:, first:].view(np.uint8))
    assert not found[:, :to].view(np.uint8).any()
    copies = [
        command.form.name == "sTRANS_BC" and command["tsk_eu_typ"] == TransBc.LANE_COPY
        for command in commands
    ]
    return simulate(program.tiu, program.gdma, CHIP).total, copies == [True]


@pytest.mark.parametrize("dtype", [DType.U8, DType.I8, DType.F16, DType.F32])
@pytest.mark.parametrize(
    ("shape", "first", "to"),
    [
        ((1, 32, 20, 20), 0, 32),
        ((2, 29, 9, 11), 29, 0),
        ((1, 100, 8, 12), 0, 20),
        ((1, 90, 8, 12), 50, 0),
        ((1, 64, 4, 16), 0, 63),
    ],
)
def test_many_pixels_are_transposed(
    dtype: DType, shape: tuple[int, int, int, int], first: int, to: int
) -> None:
    cycles, is_copy = moved(dtype, shape, first, to, ROOM)
    copied, is_plain = moved(dtype, shape, first, to, 0)
    assert (is_copy, is_plain) == (False, True)
    assert cycles < copied
    assert moved(dtype, shape, first, to, 8192)[0] < copied


@pytest.mark.parametrize(
    ("dtype", "shape", "first", "to"),
    [
        (DType.F16, (1, 2, 1, 8), 0, 3),
        (DType.U8, (1, 2, 5, 5), 0, 32),
        (DType.F16, (1, 20, 20, 20), 20, 10),
    ],
)
def test_few_pixels_and_odd_lanes_are_copied(
    dtype: DType, shape: tuple[int, int, int, int], first: int, to: int
) -> None:
    assert moved(dtype, shape, first, to, ROOM)[1]


@pytest.mark.parametrize(("first", "to"), [(1, 0), (0, 1)])
def test_many_channels_ask_for_room(first: int, to: int) -> None:
    """3,136 tokens beside one more are moved by transpositions or not at all."""
    shape = (1, 3136, 1, 64)
    cycles, is_copy = moved(DType.F16, shape, first, to, 19072)
    assert not is_copy
    assert cycles < 60_000, "with the loads and stores of the test"
    with pytest.raises(DoesNotFit, match="scratch memory per lane: too few for"):
        moved(DType.F16, shape, first, to, 16384)


def test_more_channels_than_there_is_room_for_are_copied() -> None:
    assert moved(DType.F16, (1, 16000, 1, 16), 1, 0, 0)[1]
