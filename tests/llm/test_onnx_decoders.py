"""Decoders from ONNX files with packed matrices: the same ops as from Hugging Face folders."""

import json
from pathlib import Path

import pytest
from tests.integers.on_chip import CHIP, cosine
from tests.llm.onnx_decoder import LAYERS, Decoder
from tests.passes.semantics import ops_of

from xdsl_tpu.api.building import Request, build
from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.tools import tpu_compile
from xdsl_tpu.tools.compile_model import read_top

PRODUCTS = 7 * LAYERS + 1
W4, W8 = ("W4F16", 0.9), ("W8F16", 0.999)
CACHES = [(1, 70, 40, *W4), (1, 70, 40, *W8), (3, 64, 64, *W4), (130, 0, 0, *W8)]


@pytest.mark.parametrize(("rows", "past", "seen", "quantize", "least"), CACHES)
def test_a_decoder(
    tmp_path: Path, rows: int, past: int, seen: int, quantize: str, least: float
) -> None:
    """One token and three behind a history, and a prompt: every matrix is packed, rotary positions
    and attention are ops, and the chip's numbers are those of the packed network."""
    decoder = Decoder(rows, past)
    file, out = tmp_path / "decoder.onnx", tmp_path / "out"
    decoder.save(file)
    made, _ = build(Request(file, quantize), out)
    packed, final = read_top(out / "top.mlir", None), tmp_path / "out/final.mlir"
    assert len(ops_of(packed, top.A16MatMulOp)) == PRODUCTS
    assert len(ops_of(packed, top.RMSNormOp)) == 2 * LAYERS + 1
    assert len(ops_of(packed, top.RopeOp)) == 2 * LAYERS
    assert final.read_text().count(f'"{tpu.FAttentionOp.name}"') == LAYERS
    assert final.read_text().count(f'"{tpu.MlpOp.name}"') == (LAYERS if rows > 64 else 0)
    feeds = decoder.feeds(seen)
    meant = list(run_module(packed, feeds).values())
    exact = list(run_module(import_onnx(file), feeds).values())
    assert not check_program(made.program, CHIP)
    found = list(run_program(made.program, CHIP, feeds).values())
    assert len(found) == 1 + (2 * LAYERS if past else 0)
    for got, wanted, floats in zip(found, meant, exact, strict=True):
        assert cosine(got, wanted) > 0.99999
        assert cosine(got, floats) > least


def test_fewer_bits_need_fewer_cycles(tmp_path: Path) -> None:
    """What must move at least is counted in the bytes that the matrices have."""
    decoder = Decoder(1, 64)
    decoder.save(tmp_path / "decoder.onnx")
    floors: list[int] = []
    for quantize in ("F16", "W8F16", "W4F16"):
        made, _ = build(Request(tmp_path / "decoder.onnx", quantize), tmp_path / quantize)
        assert made.floor is not None
        floors.append(made.floor)
        needs = json.loads((tmp_path / quantize / "compile.json").read_text())["floor"]
        assert bool(needs["packed"]) == (quantize != "F16")
    assert floors[0] > 1.5 * floors[1] > 1.5 * 1.3 * floors[2]


def test_a_table_says_what_single_matrices_are(tmp_path: Path) -> None:
    """The output matrix in 8 bits, one in floats, and the rest in 4."""
    Decoder(1, 64).save(tmp_path / "decoder.onnx")
    table = tmp_path / "table"
    table.write_text("logits_MatMul W8F16\nl0_up_MatMul F16\n")
    request = Request(
        tmp_path / "decoder.onnx", "W4F16", quantize_table=table, group=32, symmetric=True
    )
    build(request, tmp_path / "out")
    module = read_top(tmp_path / "out/top.mlir", None)
    bits = [op.weight_bits.value.data for op in ops_of(module, top.A16MatMulOp)]
    assert bits == [4] * (PRODUCTS - 2) + [8]
    assert {op.q_group_size.value.data for op in ops_of(module, top.A16MatMulOp)} == {32}


def test_a_table_cannot_pack_what_is_computed(tmp_path: Path) -> None:
    Decoder(1, 64).save(tmp_path / "decoder.onnx")
    table = tmp_path / "table"
    table.write_text("l0_scores_MatMul W4F16\n")
    request = Request(tmp_path / "decoder.onnx", "F16", quantize_table=table)
    with pytest.raises(
        TpuError, match=r"W4F16 for 'l0_scores_MatMul', whose matrix is no constant"
    ):
        build(request, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_all_ops_of_a_packed_decoder_are_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Decoder(1, 64).save(tmp_path / "decoder.onnx")
    with pytest.raises(SystemExit) as stopped:
        tpu_compile.main([str(tmp_path / "decoder.onnx"), "--check", "--quantize", "w4f16"])
    assert not stopped.value.code
    assert "can be compiled (W4F16, BM1684X)" in capsys.readouterr().out
