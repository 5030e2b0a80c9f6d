"""Real files come back byte for byte."""

import gzip
from io import StringIO
from pathlib import Path

import pytest

from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, module_text, parse_module, print_module

IR = Path(__file__).parents[1] / "data" / "ir"
FILES = sorted(IR.glob("*.mlir.gz"))


def stem(file: Path) -> str:
    return file.name.removesuffix(".mlir.gz")


def read(file: Path) -> str:
    return gzip.decompress(file.read_bytes()).decode()


def test_there_are_files_of_every_stage() -> None:
    names = [file.name for file in FILES]
    for stage in ("_origin.", "t.", "f16_tpu.", "f16_tpu_opt.", "f16_final.", "int8_sym_tpu."):
        assert any(stage in name for name in names), stage


@pytest.mark.parametrize("file", FILES, ids=stem)
def test_real_file_round_trips_byte_for_byte(file: Path) -> None:
    text = read(file)
    ctx = make_context()
    assert not ctx.allow_unregistered
    module = parse_module(text, file.name, ctx)
    module.verify()
    assert module_text(module).encode() == text.encode()


def test_without_locations_only_the_locations_are_gone() -> None:
    text = read(IR / "swin_t_bm1684x_f16_final.mlir.gz")
    module = parse_module(text)
    bare = module_text(module, locations=False)
    assert "loc(" not in bare
    again = parse_module(bare)
    assert module_text(again) == bare
    ops, bare_ops = list(module.walk()), list(again.walk())
    assert [op.name for op in ops] == [op.name for op in bare_ops]
    assert any(name_of(op) for op in ops)
    assert not any(name_of(op) for op in bare_ops)


def test_generic_form_reads_back_as_the_same_module() -> None:
    text = read(IR / "mobilenetv2_100_bm1684x_f16_tpu.mlir.gz")
    stream = StringIO()
    print_module(parse_module(text), stream, generic=True)
    assert '"func.return"' in stream.getvalue()
    assert module_text(parse_module(stream.getvalue())) == text
