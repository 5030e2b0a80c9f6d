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
from tests.llm.tiny import DATA, IDS, values

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
}  # fmt: skip
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


def main() -> None:
    found: dict[str, Any] = {}
    logits: dict[str, Any] = {}
    for name, (kind, extra) in CASES.items():
        model = t.AutoModelForCausalLM.from_config(
            kind(**{**COMMON, **extra}), attn_implementation="eager"
        )
        model = model.float().eval()
        shapes: dict[str, list[int]] = {}
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                shapes[key] = list(parameter.shape)
                array = values(key, tuple(parameter.shape), name.startswith("gemma"))
                factor = scaled(key) if name == "minicpm" else 1.0
                parameter.copy_(torch.tensor(array * np.float32(factor)))
            logits[name] = model(torch.tensor([IDS])).logits[0].numpy().astype(np.float32)
        config = model.config.to_dict()
        if name == "minicpm":
            config = {**config, **MINICPM, "tie_word_embeddings": False}
        config = {key: value for key, value in config.items() if not key.startswith("_")}
        found[name] = {"config": config, "tensors": shapes}
    DATA.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, sort_keys=True)
    (DATA / "models.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(DATA / "logits.npz", **logits)


if __name__ == "__main__":
    main()
