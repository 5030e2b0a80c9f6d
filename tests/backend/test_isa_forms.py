"""All forms of the reference are there, with its sizes and opcodes."""

from collections import Counter

import pytest
from tests.bm1684x import FORMS, decode

from xdsl_tpu.backend.isa import Command, EncodingError, Engine, Form, encode

# docs/reference/instructions.md: family, opcode, bytes of the full and of the short form.
TIU_FAMILIES = """
AR 3 128 64 | CMP 13 128 48 | CONV 0 128 64 | LIN 10 128 32 | MM 2 128 48 | MM2 2 128 32
PorD 1 128 64 | RQ_DQ 4 128 32 | SEG - 128 16 | SFU 9 128 32 | SG 6 128 48 | SGL 6 128 48
TRANS_BC 5 128 32 | VC 14 128 48 | LAR 7 16 - | SYSID 15 16 -
"""
GDMA_FAMILIES = """
DMA_tensor 0 96 - | DMA_matrix 1 96 64 | DMA_masked_select 2 96 64 | DMA_general 3 96 48
DMA_cw_transpose 4 96 - | DMA_nonzero 5 96 48 | DMA_sys 6 - 16 | DMA_gather 7 96 -
DMA_scatter 8 96 -
"""


def rows() -> list[tuple[str, Engine, int | None, int, int | None]]:
    """(name, engine, opcode, bytes, short flag) of every form."""
    found: list[tuple[str, Engine, int | None, int, int | None]] = []
    for engine, text in ((Engine.TIU, TIU_FAMILIES), (Engine.GDMA, GDMA_FAMILIES)):
        for entry in text.replace("\n", "|").split("|"):
            if not entry.strip():
                continue
            family, opcode, full, short = entry.split()
            code = None if opcode == "-" else int(opcode)
            flag = None if family in ("LAR", "SYSID") else 0
            if full != "-":
                found.append((family, engine, code, int(full), flag))
            if short != "-":
                found.append((f"s{family}", engine, code, int(short), 1))
    return found


def test_there_are_no_other_forms() -> None:
    assert sorted(FORMS) == sorted(name for name, *_ in rows())
    assert len(FORMS) == 43


@pytest.mark.parametrize(("name", "engine", "opcode", "size", "short"), rows())
def test_form(name: str, engine: Engine, opcode: int | None, size: int, short: int | None) -> None:
    form = FORMS[name]
    assert (form.engine, form.opcode, form.size, form.short) == (engine, opcode, size, short)
    assert form.family == name.removeprefix("s")
    assert sum(field.width for field in form.fields) == form.bits
    assert set(Counter(field.name for field in form.fields).values()) == {1}
    for field in form.fields:  # the reference: no field crosses a 64-bit word
        assert field.offset // 64 == (field.offset + field.width - 1) // 64, field.name


@pytest.mark.parametrize("form", [f for f in FORMS.values() if f.functions], ids=lambda f: f.name)
def test_every_function_comes_back(form: Form) -> None:
    for function, name in form.functions.items():
        back = decode(encode(Command(form, {form.function_field: function})), form.engine)
        assert (back.form, back.function, back.function_name) == (form, function, name)


def test_shared_opcodes_are_told_apart_by_function() -> None:
    for one, other, functions in (("MM", "MM2", (3, 4)), ("SG", "SGL", (16, 17))):
        for prefix in ("", "s"):
            for name, function in zip((one, other), functions, strict=True):
                form = FORMS[prefix + name]
                data = encode(Command(form, {"tsk_eu_typ": function}))
                assert decode(data, Engine.TIU).form is form


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("sMM", {"tsk_eu_typ": 4}, "sMM has no function 4; it has 1 mm_normal, 2 mm_wrq"),
        ("sCMP", {}, "sCMP has no function 0"),
        ("DMA_scatter", {"cmd_special_function": 1}, "DMA_scatter has no function 1; it has 0"),
        ("LAR", {"tsk_eu_typ": 31}, "LAR has no function 31; it has 0 mul, 1 not, 2 add"),
        ("sAR", {"tsk_typ": 5}, "sAR: tsk_typ is 3, not 5"),
        ("AR", {"cmd_short": 1}, "AR: cmd_short is 0, not 1"),
        ("DMA_matrix", {"cmd_special_function": 2}, "DMA_matrix has no function 2"),
    ],
)
def test_commands_that_would_be_of_another_form(
    name: str, fields: dict[str, int], message: str
) -> None:
    with pytest.raises(EncodingError, match=message):
        encode(Command(FORMS[name], fields))
