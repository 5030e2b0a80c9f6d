"""The three stages from an ONNX file to final IR."""

import numpy as np
import pytest
from tests.passes.real_networks import cosine, example, facts, real_module, real_text
from tests.passes.test_swin_stages import BLOCKS, between
from tests.tools.small_models import cnn
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import module_text, parse_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pipelines import REQUIRED, STAGES, Settings, lower, run_stage

REAL = {"top": "", "tpu": "_bm1684x_f16_tpu", "final": "_bm1684x_f16_final"}

_MERGED = "/bn1/act/Clip_output_0_Clip"
_DEPTHWISE = "/blocks/blocks.0/blocks.0.0/bn1/act/Clip_output_0_Clip"
FIRST_LAYERS = {
    "mobilenetv2_100": {
        *(_MERGED, f"{_MERGED}_filter_reorderd"),
        *(_DEPTHWISE, f"{_DEPTHWISE}_filter_reorderd", f"{_DEPTHWISE}_reordered"),
        *("onnx::Conv_539_3", "onnx::Conv_541_f16"),
    }
}
"""Where the vendor's choices, `merge_columns` of `weight-reorder` and `merge_depthwise` of
`processor-tpu-optimize`, are not ours: the first two layers."""


def body(text: str) -> list[str]:
    """Everything but the attributes of the module and a blank line at the end."""
    return [line for line in text.rstrip().splitlines() if not line.startswith("module ")]


@pytest.mark.parametrize("name", ["mobilenetv2_100", "resnet50"])
def test_every_stage_from_onnx_equals_the_real_files(name: str) -> None:
    """`tpu.mlir` line by line; the others op by op, as orders and addresses differ there."""
    module = example(name)
    texts: dict[str, str] = {}

    def keep(stage: str, current: ModuleOp) -> None:
        texts[stage] = module_text(current)

    # Groups, recomputed in tests/layer_group, bands, classifiers that are convolutions, casts in
    # front of moves and pools by lines are our own.
    own = ("layer-group", "cut-bands", "RowToPixel", "CastBeforeMove", "PoolByLines")
    lower(module, "F16", "bm1684x", disable=own, on_stage=keep)
    assert list(texts) == ["top", "tpu", "final"]
    assert body(texts["tpu"]) == body(real_text(f"{name}_bm1684x_f16_tpu"))
    for stage, suffix in REAL.items():
        real = facts(parse_module(real_text(name + suffix)), with_operands=False)
        ours = facts(parse_module(texts[stage]), with_operands=False)
        different = {key for key in ours | real if ours.get(key) != real.get(key)}
        assert different == (FIRST_LAYERS.get(name, set()) if stage == "final" else set())


@pytest.mark.parametrize(
    ("name", "most", "fused"), [("swin_t", 21, {0}), ("vit_small_patch16_224", 1, {0, 1})]
)
def test_transformers_keep_their_values_and_lose_their_permutes(
    name: str, most: int, fused: set[int]
) -> None:
    """No Permute, executed or absorbed, is between the first product and the projection.

    Windows of tokens are two products, attention over all of them is those or one op, which takes
    about as long there. Products that are turned where rows leave lanes empty bring some back, of
    which this does not speak.
    """
    module = example(name)
    x = np.random.default_rng(3).standard_normal((1, 3, 224, 224)).astype(np.float32)
    (expected,) = run_module(module, [x]).values()
    times = lower(module, "F16", "bm1684x", disable=("turn-products",))
    (actual,) = run_module(module, [x]).values()
    assert cosine(actual, expected) >= 0.99999
    blocks = between(module)
    assert len(blocks) == BLOCKS
    for block in blocks:
        assert not any(isinstance(op, tpu.PermuteOp) for op in block)
        ones = sum(isinstance(op, tpu.FAttentionOp) for op in block)
        assert ones in fused
        assert sum(isinstance(op, tpu.MatMulOp) for op in block) == 2 * (1 - ones)
    assert sum(isinstance(op, tpu.PermuteOp) for op in module.walk()) <= most
    assert [one.pass_name for one in times] == [
        name for passes in STAGES.values() for name in passes if name != "turn-products"
    ]
    assert all(one.seconds > 0 for one in times)


def test_all_passes_exist() -> None:
    assert {name for passes in STAGES.values() for name in passes} <= set(PASSES)


def test_weights_are_exactly_those_the_final_ir_names() -> None:
    module = import_onnx(cnn())
    lower(module, "F16", "bm1684x")
    named = {name_of(op) for op in module.walk() if isinstance(op, top.WeightOp)}
    assert set(weights_of(module)) == named
    for op in module.walk():
        if isinstance(op, top.WeightOp):
            array = weights_of(module)[name_of(op) or ""]
            assert f"tensor<{'x'.join(map(str, array.shape))}x" in str(op.output.type)
            assert array.dtype == (np.float16 if "xf16" in str(op.output.type) else np.float32)


def test_optional_passes_can_be_left_out() -> None:
    module = import_onnx(cnn())
    times = lower(module, "F16", "bm1684x", disable=("layer-group", "verify-addresses"))
    ran = {one.pass_name for one in times}
    assert "layer-group" not in ran
    assert "tpu.Group" not in module_text(module)


def test_one_pattern_can_be_left_out() -> None:
    """By the name of its class, whichever pass has it; the others still run."""
    module = example("mobilenetv2_100")
    times = lower(module, "F16", "bm1684x", disable=("MergePointwiseConv",))
    assert [one.pass_name for one in times] == [n for names in STAGES.values() for n in names]
    assert "_merge_bias_weight" not in module_text(module)


def test_a_misspelt_pattern_is_not_silently_ignored() -> None:
    with pytest.raises(TpuError, match="unknown; did you mean 'MatMulHdimBatchPattern'"):
        lower(ModuleOp([]), "F16", "bm1684x", disable=("MatmulHdimBatchPattern",))


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_indispensable_passes_cannot(name: str) -> None:
    with pytest.raises(TpuError, match=f"cannot disable pass '{name}': later passes need"):
        lower(ModuleOp([]), "F16", "bm1684x", disable=(name,))


def test_a_misspelt_pass_is_not_silently_ignored() -> None:
    with pytest.raises(TpuError, match="unknown; did you mean 'canonicalize'"):
        lower(ModuleOp([]), "F16", "bm1684x", disable=("canonicalise",))


@pytest.mark.parametrize(
    ("mode", "chip", "message"),
    [("INT8", "bm1684x", "INT8 needs a calibrated network"), ("F16", "bm9999", "bm9999")],
)
def test_unknown_mode_or_chip(mode: str, chip: str, message: str) -> None:
    module = real_module("resnet50", with_weights=False)
    with pytest.raises(TpuError, match=message):
        run_stage(module, "tpu", Settings(mode, chip))
