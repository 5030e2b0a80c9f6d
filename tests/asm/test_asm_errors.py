"""Every mistake in assembly is one message that says where and what to write instead."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.backend.asm import AsmError, assemble
from xdsl_tpu.dialects.errors import TpuError

ADD = "sAR.add id=1 dep=0 res0=[1,4,1,8]@0x40:f16 opd0=@0x0:f16 opd1=const 1.5:f16"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("sAD.add id=1", 1, "unknown instruction 'sAD'; did you mean 'sAR"),
        ("sAR.ad id=1", 1, "sAR has no function 'ad'; did you mean 'and' or 'add'?"),
        ("sSFU.cosine", 1, "sSFU has no function 'cosine'; it has taylor_4x, taylor, normalize"),
        ("sAR.99", 1, "sAR has no function '99'"),
        ("LAR.31", 1, "LAR has no function '31'; it has mul, not, add"),
        ("DMA_gather.8", 1, "DMA_gather has no function '8'; it has 0"),
        ("sSEG", 1, "the opcode of sSEG is not known"),
        ("sAR.add rez0=@0", 9, "sAR has no 'rez0'; did you mean 'res0"),
        ("sAR.add opd0_sing=1", 9, "did you mean 'opd0_sign"),
        ("sTRANS_BC.lane_copy pad=[1,1,1,1]", 21, "sTRANS_BC has no 'pad'"),
        ("sAR.add tsk_typ=3", 9, "tsk_typ follows from the instruction's name"),
        ("sAR.add tsk_eu_typ=3", 9, "tsk_eu_typ follows from the instruction's name"),
        ("sAR.add id=1 id=2", 14, "'id' is given twice"),
        ("sAR.add id", 11, "expected '=', found the end of the line"),
        ("sAR.add id=", 12, "expected a whole number, 0 or above, found the end of the line"),
        ("sAR.add id=-1", 12, "expected a whole number, 0 or above, found '-1'"),
        ("sAR.add id=1.5", 12, "expected a whole number"),
        ("sAR.add id=1048576", 9, "cmd_id = 0x100000 does not fit in 20 bits"),
        ("sAR.add id=1 ]", 14, "expected a field or an operand, found ']'"),
        (
            "sAR.add res0=[1,2,3]@0",
            14,
            "4 sizes expected (res0_n, res0_c, res0_h, res0_w), 3 given",
        ),
        ("sAR.add res0=[1,2,3,70000]@0", 9, "res0_w = 0x11170 does not fit in 16 bits"),
        ("sAR.add res0=[1 2]", 17, "expected ',' or ']', found '2'"),
        ("sAR.add res0=[1,", 17, "expected a whole number"),
        ("sAR.add res0=@0{1,2}", 16, "4 strides expected"),
        ("sMM2.mm2_nn res0=@0{1,2}", 20, "0 strides expected (none), 2 given"),
        ("sAR.add res0=@0{compakt}", 17, "res0 has no layout 'compakt'; did you mean 'compact"),
        ("DMA_tensor.copy dst=@0{compact}", 24, "dst has no layout 'compact'"),
        ("sAR.add res0=@0:f61", 17, "res0 cannot be of type 'f61'; did you mean 'f16"),
        ("sAR.add opd0=@0:i8", 17, "opd0 cannot be of type 'i8'; did you mean"),
        ("sMM2.mm2_nn opd1=@0:f16", 21, "opd1 has no type of its own here"),
        ("sAR.add opd1=const", 19, "expected a number after 'const', found the end of the line"),
        ("sAR.add opd1=const 1.5", 20, "1.5 needs a float type, such as :f32"),
        ("sAR.add opd1=const -2:si8", 20, "a negative constant needs a float type"),
        ("sAR.add opd1=const 1e9:f16", 20, "1e9 is beyond f16"),
        ("sAR.add opd1=const 1e99:f32", 20, "1e99 is beyond f32"),
        ("sAR.add res0=const 1", 14, "res0 takes [sizes], @address"),
        ("sAR.add res0=", 14, "res0 takes [sizes], @address, const value"),
        ("DMA_tensor.copy src=@0x10000000000", 17, "src_start_addr_h8 = 0x100 does not fit"),
        ("sPorD.max_pool pad=[1,1]", 20, "pad takes 4 numbers, 2 given"),
        ("sAR.add id=1 $", 14, "unexpected character '$'"),
        ('"sAR"', 1, "expected an instruction such as sAR.add, found '\"sAR\"'"),
        (".chop", 1, "unknown directive '.chop'; did you mean '.chip"),
        (".chip bm1684x", 7, "expected the chip's name in quotes, found 'bm1684x'"),
        ('.chip "\\q"', 1, "has an escape that is not known"),
        ('.chip "A" "B"', 11, "unexpected '\"B\"'"),
        (".arena 5", 8, "expected '@', found '5'"),
        (".arena @5 bytes=3", 11, "expected size=, found 'bytes'"),
        (".coefficients @0 size=99999999999999", 23, "more than a program can have"),
        ('.input "x" [1]@0:f17', 18, "unknown type 'f17'; did you mean"),
        (".layer", 7, "expected a whole number"),
        (".layer 0 tpu.Add", 17, "expected the layer's name in quotes"),
        ('.layer 0 tpu.Add "a" ones=1', 22, "expected zeros=, found 'ones'"),
        ('.layer 0 tpu.Add "a" zeros=2', 28, "expected a number from 0 to 1, found '2'"),
        ('.layer 0 tpu.Add "a" zeros=0x0', 28, "expected a number from 0 to 1, found '0x0'"),
    ],
)
def test_message_and_place(line: str, column: int, message: str) -> None:
    text = f"{ADD}\n\n  // a comment\n{line}\n"
    with pytest.raises(AsmError) as caught:
        assemble(text, "prog.asm")
    found = re.fullmatch(r"prog\.asm:4:(\d+): (.*)", str(caught.value))
    assert found, caught.value
    assert message in found[2]
    assert int(found[1]) == column or message.startswith("has an escape")


def test_directives_are_given_once() -> None:
    with pytest.raises(AsmError, match=r"prog:2:1: '.chip' is given twice"):
        assemble('.chip "A"\n.chip "A"', "prog")


def test_a_layer_keeps_its_name() -> None:
    text = '.layer 0 tpu.Add "a"\n.layer none\n.layer 0 tpu.Add "b"'
    with pytest.raises(AsmError, match=r"prog:3:8: layer 0 is tpu.Add 'a' further up"):
        assemble(text, "prog")


def test_no_layer_is_left_out() -> None:
    text = '.layer 0 tpu.Add "a"\n.layer 7 tpu.Add "b"'
    with pytest.raises(TpuError, match="layer 1 is not declared, but layer 7 is"):
        assemble(text, "prog")


PIECES = st.sampled_from(
    [*'[]{}@:=,."\\ -\n\r\t\x00é/', "//", "const", "0x", "1e", "f16", "opd9", "id", '.layer 9 x ""']
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_text_gives_one_error(data: st.DataObject) -> None:
    """Whatever a line becomes, it is read or refused with a message."""
    text = f'.layer 0 tpu.Add "a"\n{ADD}\n.input "x" [1,2]@0x40:f16\n'
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 6)))
        text = text[:start] + data.draw(PIECES) + text[end:]
    problem = ""
    try:
        assemble(text, "prog")
    except TpuError as error:
        problem = str(error)
    assert not problem or problem.startswith("prog:")
