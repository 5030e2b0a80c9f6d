"""Makes `tests/data/llm` anew: configurations of tiny models, and what transformers says of them.

Needs torch and transformers, which the tests do not: run it as
`python -m tests.llm.with_transformers` in an environment that has both.
"""

# pyright: basic, reportMissingImports=false

import json
from typing import Any

import numpy as np
import torch
import transformers as t
from tests.llm.tiny import DATA, IDS, values, zero_centred

COMMON: dict[str, Any] = {
    "vocab_size": 96, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
LLAMA_3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 32}  # fmt: skip
LONG = {
    "type": "longrope",
    "short_factor": [1 + 0.1 * i for i in range(8)],
    "long_factor": [1.5 + 0.7 * i for i in range(8)],
}
EPS = {"layer_norm_eps": 1e-3}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "llama": (t.LlamaConfig, {}),
    "llama_bias": (
        t.LlamaConfig,
        {"attention_bias": True, "mlp_bias": True, "num_key_value_heads": 4},
    ),
    "llama_3": (
        t.LlamaConfig,
        {"tie_word_embeddings": True, "rope_theta": 5e5, "rope_scaling": LLAMA_3},
    ),
    "linear": (t.LlamaConfig, {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "dynamic": (
        t.LlamaConfig,
        {"max_position_embeddings": 16, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
    ),
    "yarn": (
        t.Qwen2Config,
        {"rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                          "original_max_position_embeddings": 16}},
    ),
    "mistral": (t.MistralConfig, {"sliding_window": 8, "head_dim": 32}),
    "qwen2": (t.Qwen2Config, {"tie_word_embeddings": True}),
    "qwen2_window": (
        t.Qwen2Config,
        {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1},
    ),
    "qwen3": (t.Qwen3Config, {"head_dim": 32, "tie_word_embeddings": True}),
    "gemma": (t.GemmaConfig, {"head_dim": 32}),
    "gemma2": (t.Gemma2Config, {"head_dim": 32, "sliding_window": 8, "query_pre_attn_scalar": 24}),
    "gemma3": (
        t.Gemma3TextConfig,
        {"head_dim": 32, "sliding_window": 8, "query_pre_attn_scalar": 24,
         "layer_types": ["sliding_attention", "full_attention"],
         "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    ),
    "phi3": (t.Phi3Config, {"sliding_window": None}),
    "phi3_partial": (t.Phi3Config, {"partial_rotary_factor": 0.75, "hidden_size": 128}),
    "phi3_long": (
        t.Phi3Config,
        {"max_position_embeddings": 64, "original_max_position_embeddings": 16,
         "rope_scaling": LONG},
    ),
    "minicpm": (t.LlamaConfig, {}),
    "granite": (
        t.GraniteConfig,
        {"embedding_multiplier": 12.0, "residual_multiplier": 0.22, "attention_multiplier": 0.1,
         "logits_scaling": 8.0, "attention_bias": True, "mlp_bias": True},
    ),
    "ministral": (
        t.MinistralConfig,
        {"head_dim": 16, "sliding_window": 8,
         "layer_types": ["sliding_attention", "full_attention"]},
    ),
    "smollm3": (t.SmolLM3Config, {"no_rope_layers": [1, 0]}),
    "internlm3": (t.InternLM3Config, {"head_dim": 16, "attention_bias": True, "mlp_bias": True}),
    "seed_oss": (t.SeedOssConfig, {"head_dim": 32}),
    "olmo2": (t.Olmo2Config, {}),
    "olmo3": (
        t.Olmo3Config,
        {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"],
         "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                          "original_max_position_embeddings": 16}},
    ),
    "exaone4": (
        t.Exaone4Config,
        {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]},
    ),
    "exaone4_whole": (
        t.Exaone4Config,
        {"sliding_window": None, "layer_types": ["full_attention"] * 2},
    ),
    "hunyuan": (
        t.HunYuanDenseV1Config,
        {"head_dim": 32, "rope_theta": 1e4,
         "rope_scaling": {"rope_type": "dynamic", "factor": 1.0, "alpha": 50.0}},
    ),
    "helium": (t.HeliumConfig, {"head_dim": 16, "attention_bias": True}),
    "ernie4_5": (t.Ernie4_5Config, {"head_dim": 32, "use_bias": True}),
    "glm": (t.GlmConfig, {"head_dim": 32}),
    "glm4": (t.Glm4Config, {"head_dim": 32}),
    "starcoder2": (t.Starcoder2Config, {"norm_epsilon": 1e-3, "sliding_window": 8}),
    "starcoder2_plain": (
        t.Starcoder2Config, {"use_bias": False, "hidden_act": "gelu", "sliding_window": None}
    ),
    "stablelm": (t.StableLmConfig, {**EPS, "use_qkv_bias": True}),
    "stablelm_parallel": (
        t.StableLmConfig, {**EPS, "use_parallel_residual": True, "qk_layernorm": True}
    ),
    "phi": (t.PhiConfig, EPS),
    "phi_norms": (t.PhiConfig, {**EPS, "qk_layernorm": True, "hidden_act": "relu"}),
    "cohere": (t.CohereConfig, {**EPS, "attention_bias": True}),
    "cohere_norms": (t.CohereConfig, {**EPS, "use_qk_norm": True, "tie_word_embeddings": False}),
    "cohere2": (
        t.Cohere2Config,
        {**EPS, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]},
    ),
    "nemotron": (t.NemotronConfig, {"norm_eps": 1e-3, "head_dim": 32}),
    "nemotron_bias": (t.NemotronConfig, {"attention_bias": True, "mlp_bias": True}),
    "arcee": (t.ArceeConfig, {"attention_bias": True, "mlp_bias": True}),
    "gpt_neox": (t.GPTNeoXConfig, {**EPS, "num_key_value_heads": 4}),
    "gpt_neox_in_turn": (
        t.GPTNeoXConfig,
        {"num_key_value_heads": 4, "use_parallel_residual": False, "attention_bias": False},
    ),
    "ministral3": (
        t.Ministral3Config,
        {"head_dim": 32,
         "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 2.0,
                             "original_max_position_embeddings": 32, "beta_fast": 32.0,
                             "beta_slow": 1.0, "llama_4_scaling_beta": 0.1}},
    ),
    "vaultgemma": (
        t.VaultGemmaConfig, {"head_dim": 32, "sliding_window": 8, "query_pre_attn_scalar": 24}
    ),
    "olmo": (t.OlmoConfig, {}),
    "olmo_clip": (t.OlmoConfig, {"clip_qkv": 0.8}),
}  # fmt: skip
VISION = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "depth": 1,
          "num_attention_heads": 2, "num_heads": 2, "image_size": 28, "patch_size": 14,
          "out_hidden_size": 64}  # fmt: skip
SECTIONS = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e4}
PARTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "qwen2_5_vl": (t.Qwen2_5_VLConfig, {"rope_parameters": SECTIONS}),
    "qwen3_vl": (t.Qwen3VLConfig, {"head_dim": 16, "rope_parameters": SECTIONS}),
    "internvl": (t.InternVLConfig, {"model_type": "qwen3", "head_dim": 16}),
    "mistral3": (t.Mistral3Config, {"model_type": "mistral", "head_dim": 16}),
}
"""Models of which the decoder is a part, with entries of its own configuration."""
MINICPM = {"model_type": "minicpm", "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 32}


def scaled(name: str) -> float:
    """MiniCPM is a Llama with factors, which here go into the weights of one."""
    parts = {
        "embed_tokens": MINICPM["scale_emb"],
        "o_proj": MINICPM["scale_depth"] / np.sqrt(COMMON["num_hidden_layers"]),
        "down_proj": MINICPM["scale_depth"] / np.sqrt(COMMON["num_hidden_layers"]),
        "lm_head": MINICPM["dim_model_base"] / COMMON["hidden_size"],
    }
    return next((factor for part, factor in parts.items() if part in name), 1.0)


def published(name: str, key: str) -> str:
    """The name of a tensor in a file, where it is not that in memory."""
    return key.replace("lm_head", "embed_out") if name.startswith("gpt_neox") else key


def made(name: str) -> Any:
    """A model, its weights whatever they are at first."""
    eager = {"attn_implementation": "eager"}
    if name in CASES:
        kind, extra = CASES[name]
        return t.AutoModelForCausalLM.from_config(kind(**{**COMMON, **extra}), **eager)
    kind, extra = PARTS[name]
    config = kind(text_config={**COMMON, **extra}, vision_config=VISION)
    return t.AutoModelForImageTextToText.from_config(config, **eager)


def main() -> None:
    found: dict[str, Any] = {}
    logits: dict[str, Any] = {}
    for name in (*CASES, *PARTS):
        model = made(name).float().eval()
        shapes: dict[str, list[int]] = {}
        with torch.no_grad():
            for own, parameter in model.named_parameters():
                key = published(name, own)
                if "vis" in key or "projector" in key:
                    continue
                shapes[key] = list(parameter.shape)
                array = values(key, tuple(parameter.shape), zero_centred(name))
                factor = scaled(key) if name == "minicpm" else 1.0
                parameter.copy_(torch.tensor(array * np.float32(factor)))
            logits[name] = model(input_ids=torch.tensor([IDS])).logits[0].numpy().astype(np.float32)
        config = model.config.to_dict()
        if name == "minicpm":
            config = {**config, **MINICPM, "tie_word_embeddings": False}
        config = {key: one for key, one in config.items() if not key.startswith(("_", "vision"))}
        found[name] = {"config": config, "tensors": shapes}
    DATA.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, sort_keys=True)
    (DATA / "models.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(DATA / "logits.npz", **logits)


if __name__ == "__main__":
    main()
