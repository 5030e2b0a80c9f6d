"""Two instruction sets side by side: each decodes with its own forms; a chip has one of them."""

from dataclasses import replace

import pytest
from tests.bm1684x import FORMS, INSTRUCTIONS

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.isa import Command, Engine, Field, InstructionSet, encode
from xdsl_tpu.backend.isa.codes import AR
from xdsl_tpu.backend.isa.instruction_set import load_instruction_set
from xdsl_tpu.backend.machine.table import executors_of
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, aligned
from xdsl_tpu.dialects.errors import TpuError


def wider_dependencies() -> InstructionSet:
    """The same commands with dependencies of 24 bits and ids of 16, as a set of its own."""
    widths = {"cmd_id": 16, "cmd_id_dep": 24}

    def moved(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        found: list[Field] = []
        offset = 0
        for field in fields:
            found.append(Field(field.name, offset, widths.get(field.name, field.width)))
            offset += found[-1].width
        return tuple(found)

    forms = {name: replace(form, fields=moved(form.fields)) for name, form in FORMS.items()}
    return InstructionSet("wider", forms)


def test_each_set_decodes_its_own_commands() -> None:
    other = wider_dependencies()
    fields = {"tsk_eu_typ": int(AR.MAX), "cmd_id": 7, "cmd_id_dep": 1 << 18, "res0_w": 9}
    one, two = (Command(forms["sAR"], fields) for forms in (FORMS, other.forms))
    assert encode(one) != encode(two)
    for instructions, command in ((INSTRUCTIONS, one), (other, two)):
        back = instructions.decode(encode(command), Engine.TIU)
        assert back.form is instructions.forms["sAR"]
        assert {name: back[name] for name in fields} == fields
    assert two.form.largest("cmd_id_dep") == (1 << 24) - 1


def test_the_emitter_takes_the_forms_of_its_chip() -> None:
    chip = load_chip("bm1684x")
    other = replace(chip, name="OTHER")
    other.__dict__["instructions"] = wider_dependencies()
    for where in (chip, other):
        program = Program("test", where.name, "F32")
        emitter = Emitter(where, program)
        tensor = aligned(where, 0, (1, 4, 1, 8), DType.F32)
        emitter.arith(Arith.ADD, tensor, tensor, 1.0)
        (command,) = program.tiu
        assert command.form is where.instructions.forms["sAR"]
        assert [access.operand for access in accesses(command, where)] == ["opd0", "res0"]


def test_sets_that_are_not_there() -> None:
    with pytest.raises(TpuError, match=r"no instruction set 'bm1690': there are bm1684x"):
        load_instruction_set("bm1690")
    with pytest.raises(TpuError, match="of the instruction set 'wider' are not simulated"):
        executors_of("wider")
