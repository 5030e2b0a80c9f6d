"""Language models of which speeds on silicon were published, by their sizes.

Those of families that are not read from files stand here as one that is, with the same matrices:
Qwen as Qwen2 and ChatGLM as a Qwen2 half of whose heads turn, Baichuan as Llama.
"""

from typing import Any

_QWEN2 = {"model_type": "qwen2", "hidden_act": "silu", "rms_norm_eps": 1e-6}
_LLAMA = {"model_type": "llama", "hidden_act": "silu", "rms_norm_eps": 1e-6}


def _sizes(
    family: dict[str, Any],
    layers: int,
    states: tuple[int, int],
    heads: tuple[int, int],
    words: tuple[int, int],
) -> dict[str, Any]:
    """Entries of config.json: (hidden, intermediate), (query, key) heads, (vocabulary, positions);
    embeddings and output matrix are two."""
    return {
        **family,
        "num_hidden_layers": layers,
        "hidden_size": states[0],
        "intermediate_size": states[1],
        "num_attention_heads": heads[0],
        "num_key_value_heads": heads[1],
        "vocab_size": words[0],
        "max_position_embeddings": words[1],
        "tie_word_embeddings": False,
    }


_CHATGLM = {**_QWEN2, "partial_rotary_factor": 0.5}

MODELS: dict[str, dict[str, Any]] = {
    "R1-Distill-Qwen-1.5B": _sizes(_QWEN2, 28, (1536, 8960), (12, 2), (151936, 131072)),
    "R1-Distill-Qwen-7B": _sizes(_QWEN2, 28, (3584, 18944), (28, 4), (152064, 131072)),
    "R1-Distill-Qwen-14B": _sizes(_QWEN2, 48, (5120, 13824), (40, 8), (152064, 131072)),
    "Qwen-7B": _sizes(_QWEN2, 32, (4096, 11008), (32, 32), (151936, 8192)),
    "Baichuan2-7B": _sizes(_LLAMA, 32, (4096, 11008), (32, 32), (125696, 4096)),
    "ChatGLM2-6B": _sizes(_CHATGLM, 28, (4096, 13696), (32, 2), (65024, 32768)),
    "GLM4-9B": _sizes(_CHATGLM, 40, (4096, 13696), (32, 2), (151552, 131072)),
    "MiniCPM-2B": _sizes(_LLAMA, 40, (2304, 5760), (36, 36), (122753, 4096)),
}
"""By the name in `data/published_speeds.csv`."""
