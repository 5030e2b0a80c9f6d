"""Decoder architectures as data: where a checkpoint keeps what, and in what they differ.

A decoder layer is, for all of them,

    x = x + residual_scale * post(attention(pre(x)));  x = x + residual_scale * post(mlp(pre(x)))

or, where both read the same x (`parallel`),

    x = x + residual_scale * post(attention(pre(x))) + residual_scale * post(mlp(pre(x)))

in which the MLP without a `pre` of its own reads what attention does. Norms are RMS norms or
LayerNorms, of which some do without the `pre` or the `post` ones; embeddings are rotary; an MLP is

    mlp(x) = down(activation(gate(x)) * up(x))    or, without `gate`,    down(activation(up(x)))

Models that also see or hear keep such a decoder as a part of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Source:
    """Tensors of a checkpoint: a name without `.weight` or `.bias`, or a part of the rows there.

    `of` names the roles that lie below each other in one tensor; `by_group`, where they do so for
    each head of keys anew: its queries, itself, its values.
    """

    name: str
    of: tuple[str, ...] = ()
    by_group: bool = False


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

UNGATED = {role: one for role, one in PLAIN.items() if role != "gate"}
"""An MLP of two matrices."""

ONE_NORM = {"attention_in": "input_layernorm"}
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

LAYER_NORMS = {"q_norm": "self_attn.q_layernorm", "k_norm": "self_attn.k_layernorm"}

PREFIXES = ("model.", "model.language_model.", "language_model.model.", "model.text_model.")
"""What names of tensors begin with; of models with a text model as a part, in several spellings."""

WHOLE_PROMPT = ("paligemma",)
"""Models whose decoder, though of a kind that is known, sees all of a prompt from each token."""

HEAD_PREFIXES = ("", "language_model.")
"""What the name of the output matrix begins with."""

_EXPERTS = "mixtures of experts are not supported"

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


@dataclass(frozen=True)
class Names:
    """What tensors outside the layers are called, and layers themselves, behind a prefix."""

    prefixes: tuple[str, ...] = PREFIXES
    embedding: str = "embed_tokens"
    layers: str = "layers"
    norm: str = "norm"
    head: str = "lm_head"


@dataclass(frozen=True)
class Variant:
    """Fields of an Architecture that are others where an entry of config.json has a value."""

    entry: str
    value: object
    fields: Mapping[str, object]


@dataclass(frozen=True)
class Refusal:
    """An entry of config.json for which nothing is compiled when it has one of `values`, or,
    without these, when it has any that counts as more than `most`."""

    entry: str
    why: str
    values: tuple[object, ...] = ()
    most: int = 0

    def applies(self, found: Mapping[str, Any]) -> bool:
        """Whether config.json has such an entry."""
        if self.values:
            return self.entry in found and found[self.entry] in self.values
        return int(found.get(self.entry) or 0) > self.most


REFUSED = (
    Refusal("alibi", "biases of scores by distance are not supported"),
    Refusal("use_alibi", "biases of scores by distance are not supported"),
    Refusal("num_experts", _EXPERTS, most=1),
    Refusal("num_local_experts", _EXPERTS, most=1),
    Refusal("n_routed_experts", _EXPERTS, most=1),
)
"""What no model may have."""


class HeadNorms(Enum):
    """What norms of queries and keys are of: each head, each head with weights of its own, all
    heads together, or each head behind its rotary embedding."""

    OF_EACH = auto()
    OWN = auto()
    OF_ALL = auto()
    BEHIND_ROTARY = auto()


@dataclass(frozen=True)
class Architecture:
    """One family of models.

    `biases` names roles whose bias is always there, "head" for the output matrix; `bias_flags` says
    which config flag gives which roles one. `norm_offset` is added to the weights of norms.
    `defaults` are the config entries that files may leave out, `renamed` those that have another
    name than in most families.
    """

    name: str
    others: tuple[str, ...] = ()
    """More values of `model_type` for the same decoder."""
    projections: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType(PLAIN))
    norms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(TWO_NORMS))
    more_norms: Mapping[str, str] = field(default_factory=dict[str, str])
    """Norms besides `norms`, which variants may have."""
    biases: tuple[str, ...] = ()
    bias_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    names: Names = field(default_factory=Names)
    layer_norms: bool = False
    """Norms subtract the mean."""
    norm_parameters: tuple[str, ...] = ("weight",)
    """What norms have of `weight` and `bias`; those of heads with weights of their own, no bias."""
    norm_offset: float = 0.0
    parallel: bool = False
    """Attention and MLP read the same."""
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
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    variants: tuple[Variant, ...] = ()
    refused: tuple[Refusal, ...] = ()

    @property
    def all_norms(self) -> Mapping[str, str]:
        """Names of all norms of a layer by role; where each head has a tensor of its own, `{head}`
        is its number."""
        return {**self.norms, **self.more_norms}

    def parameters(self, norm: str) -> tuple[str, ...]:
        """What the norm of a role has of `weight` and `bias`."""
        own = norm in ("q_norm", "k_norm") and self.head_norms is HeadNorms.OWN
        return ("weight",) if own else self.norm_parameters


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
_NEOX = Source("attention.query_key_value", ("q", "k", "v"), by_group=True)

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
