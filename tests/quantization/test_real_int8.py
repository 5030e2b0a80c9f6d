"""INT8 lowering of real networks gives what the vendor's compiler printed for them."""

from collections import Counter
from pathlib import Path

import pytest
from tests.passes.real_networks import apply, example, facts, real_text
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.lowering.op_modes import op_modes
from xdsl_tpu.passes.lowering.quantize_table import quantize_table_text
from xdsl_tpu.passes.tensors import functions

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "tests" / "data" / "calibration"
TOP = (("shape-infer", ""), ("canonicalize", ""), ("extra-optimize", ""))
AFTER = (("canonicalize", ""), ("weight-fold", ""))


def our_top(name: str) -> ModuleOp:
    return apply(example(name), *TOP)


@pytest.fixture(scope="module")
def swin_weights() -> Weights:
    """The weights that our importer refills; their names in the vendor's top IR are the same.

    It has the mask of a shifted window and the bias of attention as one weight.
    """
    module = our_top("swin_t")
    weights = weights_of(module)
    for op in module.walk():
        if isinstance(op, top.AddOp) and name_of(op) in MASKED_ADDS:
            inner, mask = op.inputs
            assert isinstance(inner.owner, top.AddOp)
            bias = inner.owner.inputs[1]
            merged = weights[name_of(mask) or ""] + weights[name_of(bias) or ""]
            weights[f"{name_of(op)}_merged"] = merged
    return weights


def lowered(
    module: ModuleOp,
    name: str,
    disable: str = "",
    qtable: Path | None = None,
    table: Path | None = None,
) -> ModuleOp:
    return apply(
        module,
        ("processor-assign", "mode=INT8 chip=bm1684x"),
        ("import-calibration-table", f"file={table or _table_of(name)} asymmetric=false"),
        ("processor-top-optimize", f"disable={disable}" if disable else ""),
        ("convert-top-to-tpu", "by_tables=true" + (f" qtable={qtable}" if qtable else "")),
        *AFTER,
    )


def _table_of(name: str) -> Path:
    return TABLES / f"{name}.cali"


@pytest.mark.parametrize("name", ["mobilenetv2_100", "resnet50"])
def test_cnns_equal_the_real_files_op_by_op(name: str) -> None:
    """Names, operands, attributes (multipliers and shifts among them) and types (thresholds).

    Without means of lines in floats, which the vendor does not have.
    """
    ours = facts(lowered(our_top(name), name, "PoolByLines"))
    real = facts(parse_module(real_text(f"{name}_bm1684x_int8_sym_tpu")))
    assert ours == real


MASKED_ADDS = tuple(
    f"/layers/layers.{stage}/blocks/blocks.{block}/attn/Add_1_output_0_Add"
    for stage, block in ((0, 1), (1, 1), (2, 1), (2, 3), (2, 5))
)
BLOCKS = ((0, 2), (1, 2), (2, 6), (3, 2))
"""Stages of Swin-T, and how many blocks they have."""

SUMS = {
    *MASKED_ADDS,
    *(
        f"/layers/layers.{stage}/blocks/blocks.{block}/attn/Add_output_0_Add"
        for stage, count in BLOCKS
        for block in range(count)
        if not any(f"layers.{stage}/blocks/blocks.{block}/" in name for name in MASKED_ADDS)
    ),
}
"""The sums in front of a Softmax; where there is a mask, it is in one weight with the bias."""

OURS_ONLY = "MulConstBeforePermute,MergeMulConst,TopMultiSwapDimMergeToOne"


def test_swin_equals_the_real_file_where_it_means_to(tmp_path: Path, swin_weights: Weights) -> None:
    """Without our own rewrites, with the sums in front of a Softmax in 8 bits as there, and with
    shares that reach up to 1 whatever was seen.

    What is left are the windows of the last stage: they are the whole image, and our
    canonicalisation sees that cutting it into one window moves nothing.
    """
    modes, table = tmp_path / "modes", tmp_path / "table"
    modes.write_text(quantize_table_text(dict.fromkeys(SUMS, "INT8")))
    lines = _table_of("swin_t").read_text().splitlines()
    shares = {line: f"{line.split()[0]} 1 0 1" for line in lines if "Softmax" in line}
    assert len(shares) == sum(count for _, count in BLOCKS)
    table.write_text("\n".join(shares.get(line, line) for line in lines))
    module = parse_module(real_text("swin_t"), "swin_t")
    attach(module, Weights())
    weights_of(module).update(swin_weights)
    ours = facts(lowered(module, "swin_t", OURS_ONLY, modes, table), with_operands=False)
    real = facts(parse_module(real_text("swin_t_bm1684x_int8_sym_tpu")), with_operands=False)
    assert len(real) == 623
    assert all(ours[name].op == "tpu.Cast" for name in ours.keys() - real.keys())
    different = {name for name in real if ours.get(name) != real[name]}
    assert all(name.startswith("/layers/layers.3/blocks/") for name in different)
    kinds = Counter((ours[name].op if name in ours else None, real[name].op) for name in different)
    assert kinds == {
        (None, "tpu.Reshape"): 6,
        (None, "tpu.Permute"): 4,
        (None, "tpu.Cast"): 2,
        ("tpu.Reshape", "tpu.Reshape"): 2,
        ("tpu.MatMul", "tpu.MatMul"): 6,
    }
    for name in different & ours.keys():  # they read a cast from f16: i8:f16 instead of i8:f32
        assert ours[name].attributes.get("multipliers") == real[name].attributes.get("multipliers")
        assert ours[name].attributes.get("rshifts") == real[name].attributes.get("rshifts")


def test_sums_in_front_of_a_softmax_run_in_f16_by_themselves(swin_weights: Weights) -> None:
    """A mask of -100 beside attention below 1: the vendor's file has the latter times 73 / 2^15,
    which rounds all of it to 0 or 1."""
    module = parse_module(real_text("swin_t"))
    attach(module, swin_weights)
    apply(module, ("import-calibration-table", f"file={TABLES / 'swin_t.cali'} asymmetric=false"))
    (func,) = functions(module)
    modes = op_modes(func, "INT8", {}, swin_weights)
    sums = {name_of(op) for op, mode in modes.items() if mode == "F16"}
    residuals = {f"/layers/layers.0/blocks/blocks.{n}/Reshape_8_output_0_Reshape" for n in (0, 1)}
    moved = sums - SUMS - residuals
    assert sums >= SUMS | residuals
    assert all("attn/Reshape" in (name or "") for name in moved)
