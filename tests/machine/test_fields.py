"""Every field of every function changes something, is known not to, or is refused."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from golden_vectors import Vector, prepare, vectors
from tests.bm1684x import EXECUTORS, FORMS

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.table import state_of
from xdsl_tpu.dialects.errors import TpuError

_FOLDER = Path(__file__).parents[1] / "data" / "golden" / "unit"
_REFUSALS = (TpuError, ArithmeticError, LookupError, TypeError, ValueError)
_DECLARED = {
    (form.name, function): one
    for form in FORMS.values()
    for function, one in form.instructions.items()
    if one.described is not None
}
_QUEUES = set(
    ["cmd_short", "cmd_id", "cmd_id_dep", "cmd_id_en", "tsk_typ", "tsk_eu_typ", "cmd_type"]
) | {"cmd_special_function"}


class _Watched(dict[str, int]):
    """Field values that remember which of them were asked for."""

    def __init__(self, fields: Mapping[str, int]) -> None:
        super().__init__(fields)
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: int = 0) -> int:  # type: ignore[override]  # ints only
        self.seen.add(name)
        return super().get(name, default)


def _first_of_each() -> dict[tuple[str, int, str], Vector]:
    """One vector for each operand type of a TIU function; all of the GDMA's."""
    found: dict[tuple[str, int, str], Vector] = {}
    for vector in vectors(_FOLDER):
        tiu = vector.command.engine is Engine.TIU
        kind = str(vector.command["opd0_prec"]) if tiu else vector.name
        found.setdefault((vector.form, vector.function, kind), vector)
    return found


def test_every_simulated_function_says_what_it_reads() -> None:
    assert set(_DECLARED) == set(EXECUTORS)
    for (form, _), one in _DECLARED.items():
        known = one.reads | one.without_effect
        assert not one.reads & one.without_effect
        assert not known & one.unknown
        assert set(FORMS[form].by_name) <= known | one.unknown | _QUEUES


@pytest.mark.parametrize("form", sorted({form for form, _ in EXECUTORS}))
def test_what_is_not_known_is_refused(form: str) -> None:
    """Each field by itself, with the smallest and the largest value, in a recorded command."""
    samples = {key[:2]: vector.command for key, vector in _first_of_each().items()}
    machine = Machine(load_chip("bm1684x"))
    for key in (key for key in EXECUTORS if key[0] == form):
        plain = Command(FORMS[form], {FORMS[form].function_field: key[1]})
        command = samples.get(key, plain)
        assert not command.not_understood()
        for name in _DECLARED[key].unknown:
            for value in {1, FORMS[form].by_name[name].mask}:
                changed = Command(command.form, {**command.fields, name: value})
                with pytest.raises(TpuError, match=rf"{form} .*: {name} = {value}: what this"):
                    machine.execute(changed)


def _tried(vector: Vector) -> list[Command]:
    """A recorded command, and the same with each field set to something else.

    Strides and shifts count only together with what makes them count.
    """
    command = vector.command
    found = [command]
    if command.form.name == "sCONV":
        found.append(Command(command.form, {**command.fields, "opd0_str": 3}))
    if command.form.name == "sAR":
        for together in (
            {"tsk_opd_num": 2, "opd0_const": 0, "opd0_str": 3},
            {"tsk_opd_num": 2, "opd1_const": 0, "opd1_str": 3},
            {"tsk_opd_num": 3, "opd2_const": 1},
        ):
            found.append(Command(command.form, {**command.fields, **together}))
    for field in command.form.fields:
        if field.name not in _QUEUES:
            values = range(4) if field.width in (2, 3) else (0, 1)
            found += [Command(command.form, {**command.fields, field.name: v}) for v in values]
    return found


def test_what_is_said_to_be_read_is_read() -> None:
    """And nothing else: the lists are what the executors ask for."""
    chip = load_chip("bm1684x")
    machine = Machine(chip)
    state = state_of(chip, machine.memory)  # executors without the check before them
    asked: dict[tuple[str, int], set[str]] = {}
    for (form, function, _), vector in _first_of_each().items():
        prepare(machine, vector)
        seen = asked.setdefault((form, function), set())
        for command in _tried(vector):
            watched = _Watched(command.fields)
            with suppress(*_REFUSALS), np.errstate(all="ignore"):
                EXECUTORS[form, function](state, Command(command.form, watched))
            seen |= watched.seen
    assert {key: seen - _QUEUES for key, seen in asked.items()} == {
        key: _DECLARED[key].reads for key in asked
    }


def test_what_is_without_effect_may_be_set() -> None:
    machine = Machine(load_chip("bm1684x"))
    for (form, function, _), vector in _first_of_each().items():
        for name in _DECLARED[form, function].without_effect & set(FORMS[form].by_name):
            prepare(machine, vector)
            machine.execute(Command(vector.command.form, {**vector.command.fields, name: 1}))
