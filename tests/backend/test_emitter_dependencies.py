"""`cmd_id_dep` follows from the local memory that commands touch: no kernel sets it."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bm1684x import decode

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import GRANULE, Arith, CommandQueues, Emitter
from xdsl_tpu.backend.isa import Engine, encode
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, GlobalTensor, LocalTensor, aligned, contiguous, strided
from xdsl_tpu.backend.timing import simulate

CHIP = load_chip()
SHAPE = (1, 8, 4, 4)
BYTES = 64  # per lane: 16 f32 elements
Span = tuple[int, int]


@pytest.fixture
def program() -> Program:
    return Program("test", CHIP.name, "F32")


@pytest.fixture
def emitter(program: Program) -> Emitter:
    return Emitter(CHIP, program)


def local(slot: int) -> LocalTensor:
    return aligned(CHIP, slot * BYTES, SHAPE, DType.F32)


def ddr(slot: int) -> GlobalTensor:
    return contiguous(CHIP.ddr_base + slot * 4096, SHAPE, DType.F32)


def dependencies(program: Program, engine: Engine) -> list[int]:
    return [command["cmd_id_dep"] for command in program.queue(engine)]


def test_read_after_write(program: Program, emitter: Emitter) -> None:
    emitter.load(local(0), ddr(0))
    emitter.load(local(1), ddr(1))
    emitter.arith(Arith.ADD, local(2), local(0), 1.0)
    emitter.arith(Arith.ADD, local(3), local(0), local(1))
    emitter.store(ddr(2), local(2))
    emitter.store(ddr(3), local(3))
    assert dependencies(program, Engine.TIU) == [1, 2]
    assert dependencies(program, Engine.GDMA) == [0, 0, 1, 2]


def test_write_after_read(program: Program, emitter: Emitter) -> None:
    """A buffer is loaded anew only when the TIU has read it."""
    emitter.load(local(0), ddr(0))
    emitter.copy(local(1), local(0))
    emitter.load(local(0), ddr(1))
    emitter.load(local(2), ddr(2))
    assert dependencies(program, Engine.GDMA) == [0, 1, 0]


def test_write_after_write_and_store_before_overwriting(program: Program, emitter: Emitter) -> None:
    emitter.load(local(0), ddr(0))
    emitter.copy(local(0), 1.0)  # writes what the load wrote
    emitter.store(ddr(1), local(0))
    emitter.copy(local(0), 2.0)  # must not overtake the store
    emitter.load(local(0), ddr(2))  # writes what the TIU wrote
    assert dependencies(program, Engine.TIU) == [1, 2]
    assert dependencies(program, Engine.GDMA) == [0, 1, 2]


def test_commands_of_one_engine_need_no_dependency(program: Program, emitter: Emitter) -> None:
    for slot in range(3):
        emitter.copy(local(slot + 1), local(slot))
        emitter.move(ddr(slot + 1), ddr(slot))
    assert dependencies(program, Engine.TIU) == [0, 0, 0]
    assert dependencies(program, Engine.GDMA) == [0, 0, 0]


def test_constants_touch_nothing(program: Program, emitter: Emitter) -> None:
    emitter.load(local(0), ddr(0))
    emitter.arith(Arith.MUL, local(1), 2.0, local(2))
    emitter.fill(ddr(1), 0.0)
    assert dependencies(program, Engine.TIU) == [0]
    assert dependencies(program, Engine.GDMA) == [0, 0]


def test_tensors_on_other_lanes_but_the_same_bytes_do_wait(
    program: Program, emitter: Emitter
) -> None:
    """Hazards are tracked per byte within a lane, the same for all lanes."""
    emitter.load(local(0), ddr(0))
    other = aligned(CHIP, 32 << CHIP.lane_shift, SHAPE, DType.F32)
    emitter.copy(other, 0.0)
    assert dependencies(program, Engine.TIU) == [1]


def test_ids_layers_and_end_markers(program: Program, emitter: Emitter) -> None:
    emitter.load(local(0), ddr(0))
    with emitter.layer("a", "tpu.Relu"):
        emitter.copy(local(1), local(0))
        with emitter.layer("b", "tpu.Add"):
            emitter.copy(local(2), local(0))
        emitter.store(ddr(1), local(1))
    emitter.finish()
    assert [(layer.name, layer.op) for layer in program.layers] == [
        ("a", "tpu.Relu"),
        ("b", "tpu.Add"),
    ]
    assert program.tiu_layers == [0, 1, -1]
    assert program.gdma_layers == [-1, 0, -1]
    for engine, end in ((Engine.TIU, "SYSID"), (Engine.GDMA, "sDMA_sys")):
        queue = program.queue(engine)
        assert [c["cmd_id"] for c in queue] == [1, 2, 3]
        assert [c.form.name for c in queue].index(end) == 2


spans = st.tuples(st.integers(0, 12), st.integers(1, 4)).map(
    lambda pair: (pair[0] * GRANULE, (pair[0] + pair[1]) * GRANULE)
)
issues = st.lists(
    st.tuples(st.sampled_from(Engine), st.lists(spans, max_size=2), st.lists(spans, max_size=2)),
    min_size=1,
    max_size=40,
)
Issue = tuple[Engine, Sequence[Span], Sequence[Span]]


def overlap(a: Sequence[Span], b: Sequence[Span]) -> bool:
    return any(x[0] < y[1] and y[0] < x[1] for x in a for y in b)


def conflict(a: Issue, b: Issue) -> bool:
    return overlap(a[2], b[2]) or overlap(a[1], b[2]) or overlap(a[2], b[1])


def happens_before(program: Program, issued: list[Issue]) -> Callable[[int, int], bool]:
    """Whether issue i certainly ends before issue j starts, from queues and dependencies."""
    counts = dict.fromkeys(Engine, 0)
    identity: list[int] = []
    places: dict[tuple[Engine, int], int] = {}
    for index, (engine, _, _) in enumerate(issued):
        counts[engine] += 1
        identity.append(counts[engine])
        places[engine, counts[engine]] = index
    order = np.zeros((len(issued), len(issued)), bool)
    for j, (engine, _, _) in enumerate(issued):
        other = Engine.GDMA if engine is Engine.TIU else Engine.TIU
        needed = program.queue(engine)[identity[j] - 1]["cmd_id_dep"]
        for place in ((engine, identity[j] - 1), (other, needed)):
            if place in places:
                before = places[place]
                order[before, j] = True
                order[:, j] |= order[:, before]
    return lambda i, j: bool(order[i, j])


@settings(max_examples=200, deadline=None)
@given(issues)
def test_conflicting_commands_never_run_together(issued: list[Issue]) -> None:
    """For any sequence: conflicts are ordered as issued, and the queues do not block."""
    program = Program("test", CHIP.name, "F32")
    queues = CommandQueues(CHIP, program)
    for engine, reads, writes in issued:
        queues.issue("sTRANS_BC" if engine is Engine.TIU else "sDMA_sys", {}, reads, writes)
    before = happens_before(program, issued)
    for j, second in enumerate(issued):
        for i, first in enumerate(issued[:j]):
            if conflict(first, second):
                assert before(i, j), (i, j)
    last = {Engine.TIU: 0, Engine.GDMA: 0}
    for engine, _, _ in issued:  # a command waits only for commands that were issued before it
        command = program.queue(engine)[last[engine]]
        last[engine] += 1
        other = Engine.GDMA if engine is Engine.TIU else Engine.TIU
        assert command["cmd_id_dep"] <= last[other]


def test_double_buffers_overlap(program: Program, emitter: Emitter) -> None:
    """With two buffers the next load does not wait for the current computation."""
    big = (1, 64, 64, 64)
    x, y = (aligned(CHIP, i * 16384, big, DType.F32) for i in range(2))
    for step in range(4):
        buffer = (x, y)[step % 2]
        emitter.load(buffer, contiguous(CHIP.ddr_base + step * (1 << 20), big, DType.F32))
        for _ in range(20):
            emitter.arith(Arith.ADD, buffer, buffer, 1.0)
    timeline = simulate(program.tiu, program.gdma, CHIP)
    serial = timeline.busy[Engine.TIU] + timeline.busy[Engine.GDMA]
    assert timeline.total < 0.8 * serial


def test_a_stride_that_reaches_no_element_fits_its_field(
    program: Program, emitter: Emitter
) -> None:
    """One batch whose stride is beyond 16 bits: every field holds, and the values are the same."""
    wide = strided(0, (1, 2, 3, 5), (72192, 15, 5, 1), DType.F16)
    emitter.copy(aligned(CHIP, 1024, wide.shape, DType.F16), wide)
    (command,) = program.tiu
    assert decode(encode(command), Engine.TIU)["opd0_n_str"] == 15
    assert [command[f"opd0_{axis}_str"] for axis in "chw"] == [15, 5, 1]


def test_a_filled_tensor_takes_the_time_of_its_bytes(program: Program, emitter: Emitter) -> None:
    """Its sizes are said once, of the source that it does not have."""
    emitter.fill(contiguous(CHIP.ddr_base, (1, 64, 32, 32), DType.F32), 0.0)
    emitter.finish()
    size = 64 * 32 * 32 * 4
    assert simulate(program.tiu, program.gdma, CHIP).total >= size / 64
