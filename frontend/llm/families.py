"""All families of language models that are read, as data."""

from collections.abc import Mapping

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.architectures import (
    FOUR_NORMS,
    FUSED,
    FUSED_GATE,
    HEAD_NORMS,
    LAYER_NORMS,
    ONE_NORM,
    PLAIN,
    PROJECTIONS,
    TWO_NORMS,
    TWO_NORMS_BEHIND,
    UNGATED,
    Architecture,
    HeadNorms,
    Names,
    Refusal,
    Source,
    Variant,
)

_ATTENTION = {"attention_bias": ("q", "k", "v", "o")}
_LLAMA = {**_ATTENTION, "mlp_bias": ("gate", "up", "down")}
_GLM = {"attention_bias": True, "partial_rotary_factor": 0.5}
_QKV = {"attention_bias": ("q", "k", "v")}
_GEMMA = {"tie_word_embeddings": True, "hidden_activation": "gelu_pytorch_tanh"}
_GEMMA_3 = {
    **_GEMMA, "rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window_pattern": 6,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208,
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "query_pre_attn_scalar": 256,
}  # fmt: skip
"""As published with vision models, its entries are those that differ from these."""

_EPS = {"layer_norm_eps": "rms_norm_eps"}
_BOTH = ("weight", "bias")
_COHERE = {"tie_word_embeddings": True, "logit_scale": 0.0625}
_COHERE_ONLY = (
    Refusal("use_parallel_block", "blocks one behind the other are not read", (False,)),
    Refusal("use_gated_activation", "an MLP without gate is not read", (False,)),
)
_THREE, _GATED, _IN_ONE = ("q", "k", "v"), ("gate", "up"), "self_attention.query_key_value"
_CHATGLM = {
    "ffn_hidden_size": "intermediate_size",
    "kv_channels": "head_dim",
    "layernorm_epsilon": "rms_norm_eps",
    "multi_query_group_num": "num_key_value_heads",
    "num_layers": "num_hidden_layers",
    "padded_vocab_size": "vocab_size",
    "seq_length": "max_position_embeddings",
}
_CHATGLM_NOT = (
    Refusal("position_encoding_2d", "the first ChatGLM is not read"),
    Refusal("rmsnorm", "other norms than RMS norms are not read", (False,)),
    Refusal("post_layer_norm", "models without a last norm are not read", (False,)),
    Refusal("apply_residual_connection_post_layernorm", "norms before residuals are not read"),
    Refusal("multi_query_attention", "keys for each head of queries are not read", (False,)),
    Refusal("interleaved_qkv", "projections with their rows interleaved are not read"),
    Refusal("rope_ratio", "ChatGLM2-6B-32k divides positions by it, which is not supported", (16,)),
)
_NEOX = Source("attention.query_key_value", ("q", "k", "v"), by_group=True)

ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one
    for one in (
        Architecture("llama", bias_flags=_LLAMA),
        Architecture("mistral", others=("ministral",)),
        Architecture("minicpm", bias_flags=_ATTENTION, defaults={"tie_word_embeddings": True}),
        Architecture("qwen2", biases=("q", "k", "v"),
                     others=("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text",
                             "qwen2_5_omni_text")),
        Architecture("qwen3", norms={**TWO_NORMS, **HEAD_NORMS}, bias_flags=_ATTENTION,
                     others=("qwen3_vl_text",)),
        Architecture("phi3", projections=FUSED),
        Architecture("granite", bias_flags=_LLAMA),
        Architecture("smollm3", bias_flags=_LLAMA,
                     defaults={"tie_word_embeddings": True, "rope_theta": 2e6,
                               "no_rope_layer_interval": 4}),
        Architecture("internlm3", bias_flags={**_LLAMA, "qkv_bias": ("q", "k", "v", "o"),
                                              "bias": ("gate", "up", "down")}),
        Architecture("seed_oss", bias_flags={**_LLAMA, **_QKV, "attention_out_bias": ("o",)},
                     defaults={"attention_bias": True}),
        Architecture("olmo2", norms={**TWO_NORMS_BEHIND, **HEAD_NORMS}, head_norms=HeadNorms.OF_ALL,
                     bias_flags=_ATTENTION),
        Architecture("olmo3", norms={**TWO_NORMS_BEHIND, **HEAD_NORMS}, head_norms=HeadNorms.OF_ALL,
                     bias_flags=_ATTENTION,
                     scaled_with_window=False,
                     defaults={"rope_theta": 5e5, "sliding_window_pattern": 4}),
        Architecture("exaone4", norms={**TWO_NORMS_BEHIND, **HEAD_NORMS},
                     still_without_window=True),
        Architecture("hunyuan_v1_dense",
                     norms={**TWO_NORMS, "q_norm": "self_attn.query_layernorm",
                            "k_norm": "self_attn.key_layernorm"},
                     head_norms=HeadNorms.BEHIND_ROTARY, bias_flags=_ATTENTION),
        Architecture("helium", neighbours=True,
                     bias_flags={**_LLAMA, **_QKV}, defaults={"rope_theta": 1e5}),
        Architecture("ernie4_5", neighbours=True, bias_flags={"use_bias": PROJECTIONS},
                     defaults={"tie_word_embeddings": True, "rope_theta": 5e5}),
        Architecture("glm", projections=FUSED_GATE, neighbours=True, bias_flags=_QKV,
                     defaults=_GLM),
        Architecture("glm4", projections=FUSED_GATE, neighbours=True, bias_flags=_QKV,
                     norms={"attention_in": "input_layernorm",
                            "attention_out": "post_self_attn_layernorm",
                            "mlp_in": "post_attention_layernorm",
                            "mlp_out": "post_mlp_layernorm"},
                     defaults=_GLM),
        Architecture("gemma", norm_offset=1.0, scaled_embedding=True, bias_flags=_ATTENTION,
                     defaults=_GEMMA),
        Architecture("gemma2", norms=FOUR_NORMS, norm_offset=1.0, scaled_embedding=True,
                     bias_flags=_ATTENTION, defaults={**_GEMMA, "sliding_window_pattern": 2}),
        Architecture("gemma3_text", norms={**FOUR_NORMS, **HEAD_NORMS}, norm_offset=1.0,
                     scaled_embedding=True, bias_flags=_ATTENTION, defaults=_GEMMA_3,
                     others=("gemma3",)),
        Architecture("vaultgemma", norm_offset=1.0, scaled_embedding=True,
                     norms={"attention_in": "input_layernorm",
                            "mlp_in": "pre_feedforward_layernorm"},
                     bias_flags=_ATTENTION, defaults={**_GEMMA, "sliding_window_pattern": 2}),
        Architecture("ministral3"),
        Architecture("arcee", projections=UNGATED, bias_flags=_LLAMA),
        Architecture("nemotron", projections=UNGATED, layer_norms=True, norm_parameters=_BOTH,
                     norm_offset=1.0, bias_flags=_LLAMA, renamed={"norm_eps": "rms_norm_eps"},
                     defaults={"partial_rotary_factor": 0.5}),
        Architecture("olmo", layer_norms=True, norm_parameters=(), bias_flags=_ATTENTION,
                     defaults={"rms_norm_eps": 1e-5}),
        Architecture("starcoder2", layer_norms=True, norm_parameters=_BOTH,
                     projections={**UNGATED, "up": Source("mlp.c_fc"),
                                  "down": Source("mlp.c_proj")},
                     bias_flags={"use_bias": PROJECTIONS}, renamed={"norm_epsilon": "rms_norm_eps"},
                     defaults={"use_bias": True, "tie_word_embeddings": True},
                     refused=(Refusal("norm_type", "norms are LayerNorms", ("rms_norm",)),
                              Refusal("mlp_type", "an MLP has no gate", ("gated",)))),
        Architecture("stablelm", layer_norms=True, norm_parameters=_BOTH,
                     bias_flags={"use_qkv_bias": ("q", "k", "v")}, renamed=_EPS,
                     defaults={"partial_rotary_factor": 0.25},
                     variants=(
                         Variant("use_parallel_residual", True,
                                 {"parallel": True, "norms": ONE_NORM}),
                         Variant("qk_layernorm", True,
                                 {"head_norms": HeadNorms.OWN,
                                  "more_norms": {"q_norm": "self_attn.q_layernorm.norms.{head}",
                                                 "k_norm": "self_attn.k_layernorm.norms.{head}"}}),
                     )),
        Architecture("phi", norms=ONE_NORM, layer_norms=True, norm_parameters=_BOTH, parallel=True,
                     projections={**UNGATED, "o": Source("self_attn.dense"),
                                  "up": Source("mlp.fc1"), "down": Source("mlp.fc2")},
                     biases=(*PROJECTIONS, "head"), names=Names(norm="final_layernorm"),
                     renamed=_EPS, defaults={"partial_rotary_factor": 0.5},
                     variants=(Variant("qk_layernorm", True, {"more_norms": LAYER_NORMS}),)),
        Architecture("cohere", norms=ONE_NORM, layer_norms=True, parallel=True, neighbours=True,
                     bias_flags=_ATTENTION, renamed=_EPS, refused=_COHERE_ONLY,
                     defaults={**_COHERE, "rope_theta": 5e5},
                     variants=(Variant("use_qk_norm", True, {"head_norms": HeadNorms.OWN,
                                                             "more_norms": HEAD_NORMS}),)),
        Architecture("cohere2", norms=ONE_NORM, layer_norms=True, parallel=True, neighbours=True,
                     bias_flags=_ATTENTION, renamed=_EPS, still_without_window=True,
                     defaults={**_COHERE, "sliding_window": 4096, "sliding_window_pattern": 4},
                     refused=(
                         *_COHERE_ONLY,
                         Refusal("use_qk_norm", "norms of queries and keys are not read"),
                         Refusal("sliding_window", "layers must have a window", (None, 0)),
                     )),
        Architecture("gpt_neox", layer_norms=True, norm_parameters=_BOTH,
                     projections={**dict.fromkeys(("q", "k", "v"), _NEOX),
                                  "o": Source("attention.dense"),
                                  "up": Source("mlp.dense_h_to_4h"),
                                  "down": Source("mlp.dense_4h_to_h")},
                     biases=("up", "down"), bias_flags=_ATTENTION,
                     names=Names(("gpt_neox.",), "embed_in", norm="final_layer_norm",
                                 head="embed_out"),
                     renamed={**_EPS, "rotary_pct": "partial_rotary_factor",
                              "rotary_emb_base": "rope_theta"},
                     defaults={"attention_bias": True, "use_parallel_residual": True,
                               "partial_rotary_factor": 0.25},
                     variants=(Variant("use_parallel_residual", True, {"parallel": True}),)),
        Architecture("chatglm", neighbours=True,
                     projections={**dict.fromkeys(_THREE, Source(_IN_ONE, _THREE)),
                                  "o": Source("self_attention.dense"),
                                  **dict.fromkeys(_GATED, Source("mlp.dense_h_to_4h", _GATED)),
                                  "down": Source("mlp.dense_4h_to_h")},
                     bias_flags={"add_qkv_bias": _THREE, "add_bias_linear": PROJECTIONS},
                     names=Names(("transformer.",), "embedding.word_embeddings", "encoder.layers",
                                 "encoder.final_layernorm", "transformer.output_layer"),
                     renamed=_CHATGLM,
                     defaults={"hidden_act": "silu", "partial_rotary_factor": 0.5},
                     refused=_CHATGLM_NOT),
        Architecture("internlm2", norms={"attention_in": "attention_norm", "mlp_in": "ffn_norm"},
                     projections={
                         **dict.fromkeys(_THREE, Source("attention.wqkv", _THREE, by_group=True)),
                         "o": Source("attention.wo"), "gate": Source("feed_forward.w1"),
                         "up": Source("feed_forward.w3"), "down": Source("feed_forward.w2")},
                     bias_flags={"bias": ("q", "k", "v", "o")},
                     names=Names(embedding="tok_embeddings", head="output")),
        Architecture("baichuan",
                     projections={**PLAIN, **dict.fromkeys(
                         _THREE, Source("self_attn.W_pack", _THREE))},
                     variants=(Variant("vocab_size", 125696, {"unit_head": True}),),
                     refused=(Refusal("hidden_size", "that of 13 billion parameters has biases of "
                                      "scores by distance, which are not supported", (5120,)),)),
    )
}  # fmt: skip
"""By `model_type` in config.json."""


def architecture(model_type: object) -> Architecture:
    """The architecture of a `model_type`. Raises TpuError, which lists those known."""
    of = (one for one in ARCHITECTURES.values() if model_type in (one.name, *one.others))
    found = next(of, None)
    if found is None:
        raise TpuError(
            f"model_type '{model_type}' is not supported; "
            f"language models may be of {', '.join(sorted(ARCHITECTURES))}"
        )
    return found
