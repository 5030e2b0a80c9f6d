"""Whole networks: the same ops as the vendor's compiler finds, and the same numbers as before."""

import re

import numpy as np
import pytest
from tests.passes.real_networks import Fact, apply, facts, real_module, real_text, seeded_weights
from tests.passes.semantics import assert_same_numbers, kinds

from xdsl_tpu.dialects.text import module_text, parse_module
from xdsl_tpu.dialects.weights import attach, weights_of

TO_TOP = (("shape-infer", ""), ("canonicalize", ""), ("extra-optimize", ""))
_WEIGHT_FILE = re.compile(r'module.weight_file = "[^"]*"')


def without_weight_file(text: str) -> str:
    return _WEIGHT_FILE.sub("", text).strip()


@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2_100"])
def test_imported_network_becomes_the_vendors_text(name: str) -> None:
    """Ops, attributes, shapes, names, order and even module.FLOPs."""
    ours = module_text(apply(real_module(f"{name}_origin"), *TO_TOP))
    assert without_weight_file(ours) == without_weight_file(real_text(name))


EXPLAINED = re.compile(
    r"""/attn/(Transpose_output|Split_|Squeeze)      # the split of Q, K and V, for later patterns
      | /downsample/                               # patch merging, likewise
      | /attn/(Add(_1)?|Constant_13)_output_0|onnx::Add_  # mask and bias, which stay two weights
      | /Reshape_9_output_0_Reshape                # named after a copy that was merged
      | /layers[.]3/.*(Reshape_[2467]|Transpose_[12])_output  # one window: no data move
    """,
    re.VERBOSE,
)


def test_swin_becomes_the_vendors_up_to_its_own_patterns() -> None:
    """The attention split and patch merging have patterns of their own, which are not here.

    Where the image is a single window the vendor keeps a Permute of dimensions of size 1, which
    is a Reshape here.
    """
    module = real_module("swin_t_origin")
    weights = weights_of(module)
    for key, array in weights.items():
        if key.endswith("bias") or "norm" in key:
            weights[key] = np.zeros_like(array)  # as in the exported graph
        elif array.shape == (1,):
            weights[key] = np.full(1, 0.25, np.float32)
    ours = facts(apply(module, *TO_TOP), with_operands=False)
    theirs = facts(parse_module(real_text("swin_t")), with_operands=False)
    different = {
        name
        for name in ours.keys() | theirs.keys()
        if name not in ours or name not in theirs or not _same(ours[name], theirs[name])
    }
    assert {name for name in different if not EXPLAINED.search(name)} == set()
    assert len(ours.keys() & theirs.keys()) > 440


def _same(ours: Fact, theirs: Fact) -> bool:
    """Equal but for the number in a MulConst, which is in the weights we made up."""
    mine, yours = ({**fact.attributes, "const_val": None} for fact in (ours, theirs))
    return (ours.op, ours.types, mine) == (theirs.op, theirs.types, yours)


def test_numbers_of_a_whole_network_stay() -> None:
    """All 53 convolutions of ResNet-50 on a smaller image."""
    module = parse_module(real_text("resnet50_origin").replace("1x3x224x224", "1x3x64x64"))
    attach(module, seeded_weights(module))
    after = assert_same_numbers(module, "shape-infer,canonicalize,extra-optimize")
    assert "Relu" not in kinds(after)


@pytest.mark.parametrize("name", ["mobilenetv2_100", "swin_t"])
def test_a_second_run_finds_nothing_to_do(name: str) -> None:
    module = apply(real_module(f"{name}_origin"), *TO_TOP)
    once = module_text(module)
    assert module_text(apply(module, ("canonicalize", ""), ("extra-optimize", ""))) == once
