"""Decoder architectures as data: where a checkpoint keeps what, and in what they differ.

A decoder layer is, for all of them,

    x = x + residual_scale * post(attention(pre(x)));  x = x + residual_scale * post(mlp(pre(x)))

with RMS norms, of which some do without the `pre` or the `post` ones, rotary embeddings, and a
gated MLP. Models that also see or hear keep such a decoder as their `text_config`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType

from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Source:
    """Tensors of a checkpoint: a name without `.weight` or `.bias`, or a part of the rows there.

    `part` of `of` roles that lie below each other in one tensor.
    """

    name: str
    of: tuple[str, ...] = ()


PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
"""The matrices of a layer, by role."""

PLAIN = {
    **{role: Source(f"self_attn.{role}_proj") for role in ("q", "k", "v", "o")},
    **{role: Source(f"mlp.{role}_proj") for role in ("gate", "up", "down")},
}
FUSED = {
    **PLAIN,
    **dict.fromkeys(("q", "k", "v"), Source("self_attn.qkv_proj", ("q", "k", "v"))),
    **dict.fromkeys(("gate", "up"), Source("mlp.gate_up_proj", ("gate", "up"))),
}
"""One tensor each for the projections that read the same."""

FUSED_GATE = {**FUSED, **{role: PLAIN[role] for role in ("q", "k", "v")}}
"""The same for the MLP alone."""

TWO_NORMS = {"attention_in": "input_layernorm", "mlp_in": "post_attention_layernorm"}
TWO_NORMS_BEHIND = {
    "attention_out": "post_attention_layernorm",
    "mlp_out": "post_feedforward_layernorm",
}
FOUR_NORMS = {
    "attention_in": "input_layernorm",
    "attention_out": "post_attention_layernorm",
    "mlp_in": "pre_feedforward_layernorm",
    "mlp_out": "post_feedforward_layernorm",
}
HEAD_NORMS = {"q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}

PREFIXES = ("model.", "model.language_model.", "language_model.model.", "model.text_model.")
"""What names of tensors begin with; of models with a text model as a part, in several spellings."""

WHOLE_PROMPT = ("paligemma",)
"""Models whose decoder, though of a kind that is known, sees all of a prompt from each token."""

HEADS = ("lm_head.weight", "language_model.lm_head.weight")
"""Names of the output matrix."""

STANDARD_FIELDS: Mapping[str, tuple[str, ...]] = {
    "hidden": ("hidden_size",),
    "intermediate": ("intermediate_size",),
    "layers": ("num_hidden_layers",),
    "heads": ("num_attention_heads",),
    "vocabulary": ("vocab_size",),
    "positions": ("max_position_embeddings",),
    "eps": ("rms_norm_eps",),
    "activation": ("hidden_activation", "hidden_act"),
}
"""What must be in config.json, and the keys it may have there, the first one counting."""


class HeadNorms(Enum):
    """What norms of queries and keys are of: each head, all heads together, or each head behind
    its rotary embedding."""

    OF_EACH = auto()
    OF_ALL = auto()
    BEHIND_ROTARY = auto()


@dataclass(frozen=True)
class Architecture:
    """One family of models.

    `biases` names roles whose bias is always there; `bias_flags` says which config flag gives
    which roles one. `norm_offset` is added to the weights of norms. `defaults` are the config
    entries that files may leave out.
    """

    name: str
    others: tuple[str, ...] = ()
    """More values of `model_type` for the same decoder."""
    projections: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType(PLAIN))
    norms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(TWO_NORMS))
    biases: tuple[str, ...] = ()
    bias_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    norm_offset: float = 0.0
    scaled_embedding: bool = False
    """Embeddings are multiplied by the square root of the hidden size."""
    head_norms: HeadNorms = HeadNorms.OF_EACH
    """What those of queries and keys are of, where there are such norms."""
    neighbours: bool = False
    """Elements that turn together are neighbours, not half of them apart."""
    scaled_with_window: bool = True
    """Scalings of rotary embeddings are those of layers with a window, too."""
    still_without_window: bool = False
    """Where some layers have a window, those without one have no rotary embedding."""
    defaults: Mapping[str, object] = field(default_factory=dict[str, object])


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

ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one
    for one in (
        Architecture("llama", bias_flags=_LLAMA),
        Architecture("mistral", others=("ministral",)),
        Architecture("minicpm", bias_flags=_ATTENTION, defaults={"tie_word_embeddings": True}),
        Architecture("qwen2", biases=("q", "k", "v"),
                     others=("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text")),
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
