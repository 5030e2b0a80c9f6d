"""Text and commands are inverse: for any command, recorded streams and whole programs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bm1684x import FORMS, INSTRUCTIONS, decode

from xdsl_tpu.backend.asm import assemble, command_text, disassemble, parse_command
from xdsl_tpu.backend.asm.lexer import Line
from xdsl_tpu.backend.isa import Command, Engine, encode
from xdsl_tpu.backend.program import IoTensor, Layer, Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import TpuError

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
FORMS_IN_USE = [form for form in FORMS.values() if form.opcode is not None]


@st.composite
def commands(draw: st.DrawFn) -> Command:
    """Any form, with every field zero, as large as possible or anything between."""
    form = draw(st.sampled_from(FORMS_IN_USE))
    values = {
        f.name: st.sampled_from((0, 0, 1, f.mask)) | st.integers(0, f.mask) for f in form.fields
    }
    fields = draw(st.fixed_dictionaries(values)) | form.fixed
    if form.functions:
        fields[form.function_field] = draw(st.sampled_from(sorted(form.functions)))
    return Command(form, fields)


def back(text: str) -> Command:
    return parse_command(Line(text), INSTRUCTIONS)


@settings(max_examples=300, deadline=None)
@given(commands())
def test_any_command(command: Command) -> None:
    text = command_text(command)
    assert "\n" not in text
    again = back(text)
    assert again.form is command.form
    assert encode(again) == encode(command), text
    assert command_text(again) == text


def test_every_recorded_command() -> None:
    entries = json.loads((GOLDEN / "unit" / "index.json").read_text())
    for entry in entries:
        raw = bytes.fromhex(entry["raw"])
        text = command_text(decode(raw, Engine(entry["engine"])))
        assert encode(back(text)) == raw, text


def recorded_program(name: str) -> Program:
    """The queues of a recorded stream, each command tagged with a layer of its own kind."""
    with np.load(GOLDEN / "traces" / f"{name}.npz") as trace:
        raw = memoryview(trace["raw"].tobytes())
        engines: list[int] = trace["engine"].tolist()
    program = Program(name, "BM1684X", "F16")
    for position, is_gdma in enumerate(engines):
        engine = Engine.GDMA if is_gdma else Engine.TIU
        command = decode(raw, engine)
        raw = raw[command.form.size :]
        program.queue(engine).append(command)
        program.layer_indices(engine).append(position // 1000 - 1)
    program.layers = [Layer(f"layer {i}", "tpu.Add") for i in range(len(engines) // 1000 + 1)]
    return program


@pytest.mark.parametrize("name", ["swin_t_f16", "vit_small_f32"])
def test_recorded_streams(name: str) -> None:
    program = recorded_program(name)
    text = disassemble(program)
    again = assemble(text)
    for engine in Engine:
        assert list(map(encode, again.queue(engine))) == list(map(encode, program.queue(engine)))
        assert again.layer_indices(engine) == program.layer_indices(engine)
    assert again.layers == program.layers
    assert disassemble(again) == text


def small_program() -> Program:
    """A load, an addition and a store, with everything that a program can say besides."""
    text = """
        .layer 1 tpu.Add "sum"
        DMA_tensor.copy id=1 dep=0 dst=@0x8000000{8,8,8,1} src=[1,4,1,8]@0x100001000:f16{32,8,8,1}
        sAR.add id=1 dep=1 res0=[1,4,1,8]@0x40:f16 opd0=@0x0:f16 opd1=const 1.5:f16
        .layer 0 tpu.Reshape "shape"
        .layer none
        SYSID.end id=2
        sDMA_sys.end_of_stream id=2
    """
    program = assemble(text)
    program.name, program.quantize = 'a "name"\nof two lines \u2028 and more', "F16"
    program.coefficients = np.arange(64, dtype=np.uint8)
    program.coefficient_address, program.arena_address = 0x1_0000_0000, 0x1_0000_1000
    program.arena_bytes = 8192
    program.inputs = [IoTensor("x\t", 0x1_0000_1000, (1, 4, 8), DType.F16)]
    program.outputs = [IoTensor("y", 0x1_0000_2000, (), DType.BF16)]
    program.layers[1] = Layer('odd // "layer"', "an op with spaces", 0.4375)
    return program


def test_all_directives() -> None:
    program = small_program()
    text = disassemble(program)
    again = assemble(text, coefficients=program.coefficients)
    for name in ("name", "chip", "quantize", "layers", "inputs", "outputs"):
        assert getattr(again, name) == getattr(program, name)
    for name in ("coefficient_address", "arena_address", "arena_bytes", "tiu_layers"):
        assert getattr(again, name) == getattr(program, name)
    assert again.gdma_layers == [1, -1]
    assert disassemble(again) == text


def test_coefficients_are_referenced_by_size_and_hash() -> None:
    program = small_program()
    text = disassemble(program)
    assert "size=64 sha256=" in text
    assert not assemble(text).coefficients.any()
    assert assemble(text).coefficients.size == 64
    with pytest.raises(TpuError, match=r"SHA-256 differs"):
        assemble(text, coefficients=program.coefficients[::-1])
    with pytest.raises(TpuError, match=r"64 bytes of coefficients, 63 are given"):
        assemble(text, coefficients=program.coefficients[1:])
    assert "sha256" not in disassemble(replace(program, coefficients=np.zeros(64, np.uint8)))


def test_a_program_that_blocks_is_printed_to_its_end() -> None:
    program = small_program()
    text = disassemble(program).replace("id=1 dep=0 dst", "id=1 dep=2 dst")
    blocked = assemble(text)
    assert disassemble(assemble(disassemble(blocked))) == disassemble(blocked)
    assert [len(blocked.queue(engine)) for engine in Engine] == [2, 2]


@pytest.mark.parametrize(
    "text",
    [
        "sAR.copy id=3 dep=2 res0=[1,64,1,8]@0x40:f16{512,8,8,1} opd0=@0x0:f16{0,0,0,0}",
        "sAR.max id=3 dep=2 res0=[1,64,1,8]@0x40:f32 opd0=@0x0:f32 opd1=const -0.1:f32",
        "sAR.data_convert id=1 dep=1 res0=[1,3,2,2]@0x0:i8 opd0=@0x40:bf16 opd2_n_str=1",
        "sMM2.mm2_nt id=4 dep=0 res0=[49,64]@0x0:f32 opd0=@0x40:f16 opd1=[64,49]@0x80 res_add=1",
        "sPorD.avg_pool id=4 dep=0 res0=[1,8,2,2]@0x0:i8 opd0=[4,4]@0x40:ui8 opd1=[2,2]const 0x5 "
        "opd2=@0xa opd3=const 0x0 pad=[0,1,0,1] step=[2,2]",
        "sSG.pe_s_gather_hzd id=1 dep=0 res0=[1,4,1,9]@0x0:i8 opd0=[1,256]@0x40:i8{lanes} "
        "opd1=[4,9]@0x80:i8",
        "DMA_gather id=1 dep=0 dst=[4,9,16]@0x8000000{9,16} src=[4,64,16]@0x100000000:f32{64,16} "
        "index=[1,9]@0x100004000{9,1} stride_enable=1",
        "AR.add id=1 dep=0 res0=[1,4,2,2]@0x0:f16 opd0=@0x40:f16{compact} opd1=@0x80:f16{offset} "
        "cmd_id_en=3 relu=1",
        "LAR.add res0=[3,4]@0x0:i8 opd0=@0x0:ui8 opd1=@0x0:ui8 opd2=const 0x0",
    ],
    ids=lambda text: text.split(" ")[0],
)
def test_how_commands_read(text: str) -> None:
    """The notation that docs/isa.md explains; a change here is a change of the language."""
    assert command_text(back(text)) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sAR.add opd0=@64:f16 opd1=const 1:f16", "sAR.2 opd1=const 0x3C00:f16 opd0=@0x40:f16"),
        ("sAR.mul opd1=const 5:si16", "sAR.mul  opd1 = const 0x5 : si16 // five"),
        ("sAR.mul id=7 dep=0x10", "sAR.mul cmd_id=7 cmd_id_dep=16"),
        ("sAR.add opd0=@0 opd1=@0", "sAR.add tsk_opd_num=2"),
        ("sCONV.conv_normal step=[1,2]", "sCONV.conv_normal res_op_y_str=1 res_op_x_str=2"),
    ],
)
def test_other_ways_to_write_it(one: str, other: str) -> None:
    """What the assembler takes though the disassembler writes it otherwise."""
    assert encode(back(one)) == encode(back(other))
