"""Real programs are clean, and loosening their dependencies is noticed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.checks.check_samples import CHIP, change, traced

from xdsl_tpu.backend.checks import Fault, check_program
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.tools.compile_model import compile_model

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["swin_t_f16", "vit_small_f32"])
def test_recorded_streams_are_clean(name: str) -> None:
    assert check_program(traced(name), CHIP) == []


def test_compiled_programs_are_clean(tmp_path: Path) -> None:
    """It would not be compiled otherwise, see `tests/conftest.py`; and a race would be found.

    Programs of other networks are checked in `tests/tools/test_real_networks.py`.
    """
    model = EXAMPLES / "mobilenetv2_100.onnx"
    program = compile_model(model, tmp_path / "out", "F32", "bm1684x").program
    change(program, Engine.GDMA, _last_store(program), cmd_id_dep=0)
    assert {finding.fault for finding in check_program(program, CHIP)} == {Fault.RACE}


def _last_store(program: Program) -> int:
    """The last transfer that waits for the TIU."""
    return max(i + 1 for i, command in enumerate(program.gdma) if command["cmd_id_dep"])


def test_waiting_less_is_a_race() -> None:
    """Tight dependencies of a recorded stream, each lowered by one: most make a race."""
    rng = np.random.default_rng(0)
    whole = traced("vit_small_f32")
    tight: list[tuple[Engine, int]] = [
        (engine, i) for engine in Engine for i in _tight(whole.queue(engine))
    ]
    picked: list[int] = rng.choice(len(tight), 6, replace=False).tolist()
    found = 0
    for index in picked:
        engine, identity = tight[index]
        program = replace(whole, tiu=[*whole.tiu], gdma=[*whole.gdma])
        needed = program.queue(engine)[identity - 1]["cmd_id_dep"]
        change(program, engine, identity, cmd_id_dep=needed - 1)
        findings = check_program(program, CHIP)
        assert {finding.fault for finding in findings} <= {Fault.RACE, Fault.UNWRITTEN}
        found += bool(findings)
    assert found >= 4


def _tight(queue: list[Command]) -> list[int]:
    """Commands that wait for more than all before them."""
    waits: list[int] = []
    most = 0
    for position, command in enumerate(queue):
        if command["cmd_id_dep"] > most:
            waits.append(position + 1)
            most = command["cmd_id_dep"]
    return waits
