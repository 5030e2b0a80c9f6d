"""Models in spellings that transformers does not have, against the same in one that it has."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.llm.interpreted import logits
from tests.llm.tiny import IDS, Floats, models, save, values, weights

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm import open_model
from xdsl_tpu.frontend.llm.config import model_config
from xdsl_tpu.frontend.llm.model import LanguageModel
from xdsl_tpu.frontend.llm.reference import Reference

Entries = dict[str, Any]
Tensors = dict[str, Floats]
Model = tuple[Entries, Tensors]


def tiny(name: str, **entries: Any) -> Model:
    """A model of `models.json` with some entries changed."""
    model = models()[name]
    return {**model["config"], **entries}, weights(model)


def opened(folder: Path, model: Model) -> LanguageModel:
    folder.mkdir()
    entries, tensors = model
    (folder / "config.json").write_text(json.dumps(entries), encoding="utf-8")
    save(tensors, folder / "model.safetensors")
    return open_model(folder)


def renamed(tensors: Mapping[str, Floats], *pairs: tuple[str, str]) -> Tensors:
    found: Tensors = {}
    for name, one in tensors.items():
        for old, new in pairs:
            name = name.replace(old, new)
        found[name] = one
    return found


def joined(tensors: Tensors, parts: tuple[str, ...], whole: str, groups: int = 1) -> Tensors:
    """Tensors of projections below each other, or so for each of several groups."""
    found = {name: one for name, one in tensors.items() if not any(part in name for part in parts)}
    for name in [name for name in tensors if parts[0] in name]:
        split = [
            tensors[name.replace(parts[0], part)].reshape(groups, -1, *tensors[name].shape[1:])
            for part in parts
        ]
        rows = np.concatenate(split, axis=1)
        found[name.replace(parts[0], whole)] = rows.reshape(-1, *rows.shape[2:])
    return found


THREE = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
CHATGLM = {
    "model_type": "chatglm", "num_layers": 2, "padded_vocab_size": 96, "hidden_size": 64,
    "ffn_hidden_size": 96, "kv_channels": 32, "num_attention_heads": 4, "seq_length": 64,
    "multi_query_attention": True, "multi_query_group_num": 2, "layernorm_epsilon": 1e-5,
    "add_qkv_bias": True, "add_bias_linear": False, "rmsnorm": True, "post_layer_norm": True,
    "rope_ratio": 50, "tie_word_embeddings": False,
}  # fmt: skip


def glm() -> Model:
    """With biases of queries, keys and values."""
    entries, tensors = tiny("glm", attention_bias=True, rope_parameters=None, rope_theta=5e5,
                            partial_rotary_factor=0.5)  # fmt: skip
    for name in [one for one in tensors if any(part in one for part in THREE)]:
        bias = name.replace("weight", "bias")
        tensors[bias] = values(bias, (len(tensors[name]),), False)
    return entries, tensors


def chatglm(model: Model) -> Model:
    found = renamed(
        joined(model[1], THREE, "self_attention.query_key_value"),
        ("model.layers", "transformer.encoder.layers"),
        ("self_attn.o_proj", "self_attention.dense"),
        ("gate_up_proj", "dense_h_to_4h"),
        ("down_proj", "dense_4h_to_h"),
        ("model.embed_tokens", "transformer.embedding.word_embeddings"),
        ("model.norm", "transformer.encoder.final_layernorm"),
        ("lm_head", "transformer.output_layer"),
    )
    return CHATGLM, found


def internlm2(model: Model) -> Model:
    found = renamed(
        joined(model[1], THREE, "attention.wqkv", groups=2),
        ("self_attn.o_proj", "attention.wo"),
        ("mlp.gate_proj", "feed_forward.w1"),
        ("mlp.up_proj", "feed_forward.w3"),
        ("mlp.down_proj", "feed_forward.w2"),
        ("input_layernorm", "attention_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("embed_tokens", "tok_embeddings"),
        ("lm_head", "output"),
    )
    return {**model[0], "model_type": "internlm2", "bias": False}, found


def whole_heads() -> Model:
    """A Llama with as many heads of keys as of queries, without biases."""
    entries, tensors = tiny("llama_bias", attention_bias=False, mlp_bias=False)
    return entries, {name: one for name, one in tensors.items() if not name.endswith("bias")}


def baichuan(model: Model) -> Model:
    found = joined(model[1], THREE, "self_attn.W_pack")
    return {**model[0], "model_type": "baichuan"}, found


def internvl(model: Model) -> Model:
    """As OpenGVLab publishes it; what the whole says of its output matrix does not count."""
    found = {f"language_model.{name}": one for name, one in model[1].items()}
    entries = {"model_type": "internvl_chat", "llm_config": model[0], "tie_word_embeddings": True}
    return entries, found


def minicpmv(model: Model) -> Model:
    found = {f"llm.{name}": one for name, one in model[1].items()}
    return {**model[0], "model_type": "minicpmv", "version": 2.6, "vision_config": {}}, found


def omni(model: Model) -> Model:
    found = {f"thinker.{name}": one for name, one in model[1].items()}
    part = {**model[0], "model_type": "qwen2_5_omni_text"}
    thinker = {"model_type": "qwen2_5_omni_thinker", "text_config": part}
    return {"model_type": "qwen2_5_omni", "thinker_config": thinker}, found


CASES: dict[str, tuple[Callable[[], Model], Callable[[Model], Model]]] = {
    "ChatGLM": (glm, chatglm),
    "InternLM2": (lambda: tiny("llama"), internlm2),
    "Baichuan": (whole_heads, baichuan),
    "InternVL": (lambda: tiny("qwen2_window"), internvl),
    "InternVL with InternLM2": (lambda: tiny("llama"), lambda model: internvl(internlm2(model))),
    "MiniCPM-V": (lambda: tiny("yarn"), minicpmv),
    "Qwen2.5-Omni": (lambda: tiny("yarn"), omni),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_model_in_another_spelling(tmp_path: Path, case: str) -> None:
    make, spell = CASES[case]
    model = make()
    expected = Reference(opened(tmp_path / "one", model)).logits(IDS)
    other = opened(tmp_path / "other", spell(model))
    np.testing.assert_array_equal(Reference(other).logits(IDS), expected)


def test_nets_of_chatglm(tmp_path: Path) -> None:
    model = opened(tmp_path / "model", chatglm(glm()))
    found = logits(model, IDS[:12], prompt=10, length=16)
    np.testing.assert_allclose(found, Reference(model).logits(IDS[:12])[-3:], atol=3e-5)


def test_baichuan_2_has_rows_of_length_1(tmp_path: Path) -> None:
    entries, tensors = whole_heads()
    entries["vocab_size"] = 125696
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        tensors[name] = np.resize(tensors[name], (125696, 64))
    found = Reference(opened(tmp_path / "one", baichuan((entries, tensors)))).logits(IDS)
    head = tensors["lm_head.weight"]
    tensors["lm_head.weight"] = head / np.linalg.norm(head, axis=1, keepdims=True)
    expected = Reference(opened(tmp_path / "other", (entries, tensors))).logits(IDS)
    np.testing.assert_allclose(found, expected, atol=1e-5)


REFUSED: dict[str, tuple[Entries, str]] = {
    "first": ({**CHATGLM, "position_encoding_2d": True}, "the first ChatGLM"),
    "norms": ({**CHATGLM, "rmsnorm": False}, "other norms than RMS norms"),
    "32k": ({**CHATGLM, "rope_ratio": 16}, "divides positions"),
    "heads": ({**CHATGLM, "multi_query_attention": False}, "keys for each head"),
    "13B": ({"model_type": "baichuan", "hidden_size": 5120}, "biases of scores by distance"),
    "version": ({"model_type": "minicpmv", "version": "2.0"}, "version 2.0 of 'minicpmv'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_variations_that_are_refused(case: str) -> None:
    entries, message = REFUSED[case]
    with pytest.raises(TpuError, match=message):
        model_config(entries)
