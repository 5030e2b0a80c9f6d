"""Transfers of several cores: which loads run ahead, and the barriers that this leaves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from xdsl_tpu.backend.barriers import synchronise
from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.ddr_order import After, Placed, ddr_order
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.float_loads import float_loads
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.isa.messages import message_of
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.tensor import DType, aligned, contiguous
from xdsl_tpu.backend.timing import simulate_program

CHIP = load_chip("bm1688")
SHAPE = (1, 32, 8, 8)
BYTES = 32 * 64 * 2
LANE = 128
"""Bytes of a lane that a value takes."""
VALUES = 6


@dataclass(frozen=True)
class Job:
    """values[target] = values[source] + number, by way of a place in local memory."""

    source: int
    target: int
    number: float
    place: int


Steps = Sequence[Sequence[Job | None]]
"""For each step what each core does in it."""


def address(value: int) -> int:
    return CHIP.arena_base + value * BYTES


def started() -> tuple[Program, list[Emitter]]:
    program = Program("p", CHIP.name, "F16", arena_address=CHIP.arena_base, arena_bytes=99 * BYTES)
    program.inputs = [IoTensor(f"in{n}", address(n), SHAPE, DType.F16) for n in range(VALUES)]
    program.outputs = [IoTensor(f"out{n}", address(n), SHAPE, DType.F16) for n in range(VALUES)]
    program.beside()
    return program, [Emitter(CHIP, core) for core in program.cores]


def finished(program: Program, cores: Sequence[Emitter], bounds: Sequence[int]) -> int:
    """How many barriers it takes."""
    for emitter in cores:
        emitter.finish()
    order = ddr_order(program, bounds, CHIP)
    before = [emitter.transfers_before for emitter in cores]
    return synchronise(program, order, float_loads(program.cores, before, order, CHIP))


def compiled(steps: Steps) -> Program:
    program, cores = started()
    bounds: list[int] = []
    for number, jobs in enumerate(steps):
        for emitter, job in zip(cores, jobs, strict=True):
            with emitter.layer(f"step{number}", "job"):
                if job is not None:
                    tile = aligned(CHIP, job.place * LANE, SHAPE, DType.F16)
                    emitter.load(tile, contiguous(address(job.source), SHAPE, DType.F16))
                    emitter.arith(Arith.ADD, tile, tile, job.number)
                    emitter.store(contiguous(address(job.target), SHAPE, DType.F16), tile)
        bounds.append(len(program.layers))
    finished(program, cores, bounds)
    return program


def drawn(generator: np.random.Generator) -> Iterator[Sequence[Job | None]]:
    """Steps in which no core touches what the other writes."""
    for _ in range(20):
        one, two, three, four = generator.permutation(VALUES)[:4].tolist()
        jobs = [
            Job(source, target, float(generator.integers(1, 4)), int(generator.integers(4)))
            if generator.random() < 0.8
            else None
            for source, target in ((one, two), (three, four))
        ]
        yield jobs


@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_steps_one_after_the_other(seed: int) -> None:
    generator = np.random.default_rng(seed)
    steps = list(drawn(generator))
    program = compiled(steps)
    values = [generator.integers(0, 9, SHAPE).astype(np.float16) for _ in range(VALUES)]
    found = run_program(program, CHIP, {f"in{n}": one for n, one in enumerate(values)}, "exact")
    for job in (job for jobs in steps for job in jobs if job is not None):
        values[job.target] = values[job.source] + np.float16(job.number)
    for number, expected in enumerate(values):
        np.testing.assert_array_equal(found[f"out{number}"], expected)
    assert not check_program(program, CHIP)
    assert simulate_program(program, CHIP)[0].total > 0


def names(program: Program, core: int) -> list[str]:
    """A core's transfers and messages, by step."""
    known = program.cores[core]
    found: list[str] = []
    for command, layer in zip(known.gdma[:-1], known.gdma_layers[:-1], strict=True):
        message = message_of(command)
        if message is None:
            where = "load" if command["dst_start_addr_h8"] == 0 else "store"
            found.append(f"{where} {known.layers[layer].name}")
        else:
            found.append(f"{'send' if message.sends else 'wait'} {message.number}")
    return found


def test_a_core_waits_in_front_of_what_needs_the_other_only() -> None:
    """The second core reads what the first made in step 0, but in step 2; the first needs nothing
    and awaits the message at its end."""
    steps = [[Job(0, 1, 1.0, 0), None], [None, Job(2, 3, 1.0, 0)], [None, Job(1, 4, 1.0, 1)]]
    program = compiled(steps)
    assert names(program, 0) == [
        *("load step0", "store step0", "send 30", "wait 30", "send 31", "wait 31"),
    ]
    assert names(program, 1) == [
        *("send 30", "load step1", "store step1", "wait 30", "load step2", "store step2"),
        *("send 31", "wait 31"),
    ]


def test_nothing_is_awaited_where_nothing_crosses() -> None:
    assert not any("wait" in name for name in names(compiled([[Job(0, 1, 1.0, 0), None]]), 0))


def test_what_another_core_has_read_is_not_written_before() -> None:
    program = compiled([[Job(0, 1, 1.0, 0), None], [None, Job(2, 0, 1.0, 0)]])
    order = names(program, 1)
    assert order.index("wait 30") < order.index("store step1")
    assert order.index("load step1") < order.index("wait 30")


def test_a_load_of_what_was_made_goes_ahead_of_a_store_that_waits() -> None:
    """What the second job reads is there; the TIU is still at work on the first."""
    program, cores = started()
    emitter = cores[0]
    bounds: list[int] = []
    for number, (source, place) in enumerate(((0, 0), (1, 1))):
        with emitter.layer(f"step{number}", "job"):
            tile = aligned(CHIP, place * LANE, SHAPE, DType.F16)
            emitter.load(tile, contiguous(address(source), SHAPE, DType.F16))
            for _ in range(100):
                emitter.arith(Arith.ADD, tile, tile, 1.0)
            emitter.store(contiguous(address(number + 2), SHAPE, DType.F16), tile)
        bounds.append(len(program.layers))
    finished(program, cores, bounds)
    assert names(program, 0) == ["load step0", "load step1", "store step0", "store step1"]
    assert not check_program(program, CHIP)


def test_order_in_ddr() -> None:
    """A load follows the last store of its bytes; another core's store those that read them."""
    program, cores = started()
    x, y = (aligned(CHIP, place * LANE, SHAPE, DType.F16) for place in range(2))
    a, b = (contiguous(address(value), SHAPE, DType.F16) for value in range(2))
    bounds: list[int] = []
    for number, work in enumerate(((a, b), (b, a))):
        emitter = cores[number]
        with emitter.layer(f"step{number}", "job"):
            emitter.load(x, work[0])
            emitter.store(work[1], x)
            emitter.load(y, work[1])
        bounds.append(len(program.layers))
    for emitter in cores:
        emitter.finish()
    first, second = ddr_order(program, bounds, CHIP)
    assert first[:3] == [
        Placed((), 0, False),
        Placed((), 0, True),
        Placed((After(0, 2),), 0, False),
    ]
    assert [one.after for one in second[:3]] == [
        *((After(0, 2),), (After(0, 1),), (After(1, 2),)),
    ]
    assert not program.queue(Engine.TIU)[:-1]
