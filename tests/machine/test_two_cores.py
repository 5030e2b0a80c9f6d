"""Programs for two cores: messages, what is found when they are missing, and the timeline."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.machine.test_programs_bm1688 import recorded

from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.checks.finding import Fault
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import DmaMessages
from xdsl_tpu.backend.isa.messages import Hub, Message, message_of
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import simulate, simulate_cores, simulate_program
from xdsl_tpu.dialects.errors import TpuError

CHIP = load_chip("bm1688")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return recorded("two_cores_f16", tmp_path)[0]


def without(program: Program, unwanted: Callable[[Message], bool]) -> None:
    """Make messages no-operations, so that all commands keep their places."""
    for core in program.cores:
        core.gdma[:] = [
            Command(c.form, {c.form.function_field: DmaMessages.NOP})
            if (message := message_of(c)) is not None and unwanted(message)
            else c
            for c in core.gdma
        ]


def test_both_cores_compute_and_meet(program: Program) -> None:
    assert len(program.cores) == 2
    sent = [[m for c in core.gdma if (m := message_of(c))] for core in program.cores]
    assert sent[0] == sent[1]
    assert [m.number for m in sent[0] if m.sends] == [30, 31, 30]
    assert all(m.count == 2 for m in sent[0])
    macs = [line.busy[Engine.TIU] for line in simulate_program(program, CHIP)]
    assert max(macs) < 1.1 * min(macs)


def test_a_missing_barrier_is_found(program: Program) -> None:
    assert not check_program(program, CHIP)
    without(program, lambda message: message.number == 30)
    found = check_program(program, CHIP)
    assert Fault.CROSSING in {one.fault for one in found}
    assert any("with no message between them" in one.message for one in found)


def test_a_wait_without_messages_blocks(program: Program, tmp_path: Path) -> None:
    without(program, lambda message: message.sends and message.number == 31)
    inputs = recorded("two_cores_f16", tmp_path)[1]
    with pytest.raises(TpuError, match="2 cores wait for each other"):
        run_program(program, CHIP, inputs)
    with pytest.raises(TpuError, match=r"GDMA command \d+ of core 1 \(wait\)"):
        simulate_program(program, CHIP)
    assert Fault.DEADLOCK in {one.fault for one in check_program(program, CHIP)}


def test_cores_that_share_bandwidth_take_longer(program: Program) -> None:
    each, shared = (simulate_program(program, CHIP, ddr) for ddr in ("each", "shared"))
    assert each[0].total == each[1].total < shared[0].total
    moving = [line.busy[Engine.GDMA] for line in each]
    assert shared[0].total <= each[0].total + max(moving)
    assert [line.bytes_moved for line in each] == [line.bytes_moved for line in shared]


@pytest.mark.parametrize("name", ["cnn_f16", "attention_f16", "mobile_f32"])
def test_one_core_alone_is_as_without_others(name: str, tmp_path: Path) -> None:
    program = recorded(name, tmp_path)[0]
    wanted = simulate(program.tiu, program.gdma, CHIP)
    for ddr in ("each", "shared"):
        (found,) = simulate_cores([(program.tiu, program.gdma)], CHIP, ddr)
        assert (found.total, found.busy, found.events) == (
            wanted.total,
            wanted.busy,
            wanted.events,
        )


def test_a_number_begins_anew_when_all_have_waited() -> None:
    hub = Hub()
    send, wait = Message(True, 5, 2), Message(False, 5, 2)
    assert hub.passes(send)
    assert not hub.passes(wait)
    assert hub.passes(send)
    assert hub.passes(wait)
    assert hub.passes(wait)
    assert not hub.passes(wait)


def test_a_chip_with_fewer_cores_is_refused(program: Program, tmp_path: Path) -> None:
    text = (Path("backend/chip") / "bm1688.toml").read_text(encoding="utf-8")
    path = tmp_path / "single.toml"
    path.write_text(text.replace("cores = 2", "cores = 1"), encoding="utf-8")
    with pytest.raises(TpuError, match="for 2 cores, BM1688 has 1"):
        run_program(program, load_chip(str(path)), {})
