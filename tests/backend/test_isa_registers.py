"""Fields that lie in registers: written in front of the commands that read them, and read back."""

from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter, Rounding, Scale, Window
from xdsl_tpu.backend.isa import Command, Engine, encode
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, aligned, compact

CHIP = load_chip("bm1688")
WRITES = "SYS_TR_ACC"
WINDOW = Window((1, 1))


def emitted(*factors: tuple[int, int, int]) -> Program:
    """A product of matrices for each factor."""
    program = Program("test", CHIP.name, "INT8")
    emitter = Emitter(CHIP, program)
    left, right, out = (aligned(CHIP, place, (1, 4, 1, 4), DType.I8) for place in (0, 64, 128))
    for tensor in (left, right):
        emitter.copy(tensor, 1)
    for factor in factors:
        emitter.mm2(out, left, right, scale=Scale(factor, Rounding.HALF_UP))
    emitter.finish()
    return program


def registers(command: Command) -> dict[int, int]:
    values = command["imm0"], command["imm1"] & 0xFFFFFFFF, command["imm1"] >> 32
    places = (command[f"reg_idx{index}"] for index in range(3))
    return {number: value for number, value in zip(places, values, strict=True) if number != 127}


def test_what_registers_hold_is_not_written_again() -> None:
    program = emitted((5, 3, 0), (5, 3, 0), (7, 3, -1))
    written = [registers(one) for one in program.tiu if one.form.name == WRITES]
    assert written == [{5: 0, 6: 5, 32: 256 - 3}, {33: 0}, {6: 7, 33: 0xFFFF}]
    assert not check_program(program, CHIP)


def test_a_queue_is_read_with_what_its_registers_hold() -> None:
    queue = emitted((5, 3, 0), (-7, 0, 0)).tiu
    data = b"".join(map(encode, queue))
    back = list(CHIP.instructions.decode_stream(data, Engine.TIU, len(queue)))
    products = [one for one in back if one.form.name == "sMM2"]
    assert [(one["opd5_addr"], one["opd5_shift"]) for one in products] == [
        (5, 256 - 3),
        (2**32 - 7, 0),
    ]
    assert [encode(one) for one in back] == [encode(one) for one in queue]


def test_fields_of_registers_take_no_bits_of_the_command() -> None:
    form = CHIP.instructions.forms["sMM2"]
    plain = encode(Command(form, {"tsk_eu_typ": 4, "rq": 1}))
    assert plain == encode(Command(form, {"tsk_eu_typ": 4, "rq": 1, "opd5_addr": 2**32 - 1}))
    assert len(plain) == form.size


def test_a_table_is_an_operand_only_where_there_is_a_new_scale() -> None:
    program = Program("test", CHIP.name, "INT8")
    emitter = Emitter(CHIP, program)
    table = compact(CHIP, 0x400, (1, 4, 1, 2), DType.I32)
    x, total = aligned(CHIP, 0, (1, 4, 1, 4), DType.I8), aligned(CHIP, 256, (1, 4, 1, 4), DType.I32)
    filters = compact(CHIP, 0x200, (1, 4, 1, 32), DType.I8)
    emitter.conv(x, x, filters, WINDOW, scale=Scale(table, Rounding.HALF_UP))
    emitter.conv(total, x, filters, WINDOW)
    scaled, exact = (one for one in program.tiu if one.form.name == "sCONV")
    assert "opd5" in {access.operand for access in accesses(scaled, CHIP)}
    assert "opd5" not in {access.operand for access in accesses(exact, CHIP)}
