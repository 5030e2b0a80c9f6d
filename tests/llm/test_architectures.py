"""Every architecture against transformers, and its nets against the reference."""

from pathlib import Path

import numpy as np
import pytest
from tests.llm.interpreted import checked, logits
from tests.llm.tiny import DATA, IDS, models, write

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.frontend.llm import WeightFormat, open_model
from xdsl_tpu.frontend.llm.nets import block_cache_net, block_net, prefill_mask
from xdsl_tpu.frontend.llm.reference import Reference

LENGTH = {"dynamic": 16}
"""Of the sequences; 32 otherwise."""

CACHES = ("k_cache", "v_cache")


@pytest.mark.parametrize("name", sorted(models()))
def test_the_reference_is_what_transformers_computes(tmp_path: Path, name: str) -> None:
    reference = Reference(open_model(write(tmp_path, name)))
    expected = np.load(DATA / "logits.npz")[name]
    np.testing.assert_allclose(reference.logits(IDS), expected, atol=3e-5)


@pytest.mark.parametrize("name", sorted(models()))
def test_the_nets_compute_what_the_reference_does(tmp_path: Path, name: str) -> None:
    model = open_model(write(tmp_path, name))
    length = LENGTH.get(name, 32)
    ids = IDS[: length - 8]
    found = logits(model, ids, prompt=len(ids) - 4, length=length)
    expected = Reference(model).logits(ids, length)[-5:]
    np.testing.assert_allclose(found, expected, atol=3e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_element_types(tmp_path: Path, dtype: str) -> None:
    """float16 does not hold all the bits of these weights, but nearly."""
    reference = Reference(open_model(write(tmp_path, "qwen2", dtype)))
    tolerance = {"float32": 3e-5, "float16": 2e-2}[dtype]
    expected = np.load(DATA / "logits.npz")["qwen2"]
    np.testing.assert_allclose(reference.logits(IDS), expected, atol=tolerance)


@pytest.mark.parametrize("quantize", ["W8F16", "W4F16", "W8BF16"])
@pytest.mark.parametrize("head", ["F16", "W8", "W4"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_packed_weights(tmp_path: Path, quantize: str, head: str, symmetric: bool) -> None:
    """The reference restores what the nets hold packed."""
    chosen = WeightFormat(quantize, group=32, symmetric=symmetric, head=head)
    model = open_model(write(tmp_path, "phi3_partial"), chosen)
    found = logits(model, IDS[:12], prompt=10, length=16)
    expected = Reference(model).logits(IDS[:12])[-3:]
    np.testing.assert_allclose(found, expected, atol=3e-5)
    plain = Reference(open_model(tmp_path)).logits(IDS[:12])[-3:]
    assert np.abs(expected - plain).max() > 1e-3


def test_a_packed_output_matrix_with_a_bias(tmp_path: Path) -> None:
    chosen = WeightFormat("W8F16", group=32, head="W8")
    model = open_model(write(tmp_path, "phi"), chosen)
    found = logits(model, IDS[:12], prompt=10, length=16)
    np.testing.assert_allclose(found, Reference(model).logits(IDS[:12])[-3:], atol=3e-5)


def test_float64_agrees(tmp_path: Path) -> None:
    model = open_model(write(tmp_path, "gemma3"))
    double = Reference(model, np.float64).logits(IDS)
    np.testing.assert_allclose(Reference(model).logits(IDS), double, atol=3e-5)


def test_several_tokens_in_one_step(tmp_path: Path) -> None:
    """Three tokens behind a history of four are what a prompt of seven ends with."""
    model = open_model(write(tmp_path, "qwen2"))
    prompt, length, rows = 7, 16, 3
    x = np.random.default_rng(0).standard_normal((1, prompt, model.config.hidden), np.float32)
    places = np.arange(prompt, dtype=np.int32)[None]
    mask = prefill_mask(prompt, None)
    expected = run_module(checked(block_net(model, 0, prompt)), [x, places, mask])
    history = [np.full((1, length, *expected[name].shape[2:]), 7, np.float32) for name in CACHES]
    for one, name in zip(history, CACHES, strict=True):
        one[:, : prompt - rows] = expected[name][:, : prompt - rows]
    seen = np.full((1, 1, rows, length + rows), -10000, np.float32)
    seen[..., : prompt - rows] = 0
    seen[..., length:] = prefill_mask(rows, None)
    step = checked(block_cache_net(model, 0, length, rows=rows))
    found = run_module(step, [x[:, -rows:], places[:, -rows:], seen, *history])
    for name in ("output_states", *CACHES):
        np.testing.assert_allclose(found[name], expected[name][:, -rows:], atol=3e-5)
