"""Decoder architectures: where a checkpoint keeps what, and in what they differ.

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

PREFIXES = ("model.", "model.language_model.", "language_model.model.", "model.text_model.",
            "llm.model.", "thinker.model.")  # fmt: skip
"""What names of tensors begin with; of models with a text model as a part, in several spellings."""

PARTS = (("text_config",), ("llm_config",), ("thinker_config", "text_config"))
"""Where a model that is not only a decoder may keep the entries of it."""

DECODERS: Mapping[str, Mapping[str, str]] = {
    "minicpmv": {"2.6": "qwen2", "4.5": "qwen3"},
    "minicpmo": {"2.6": "qwen2", "4.5": "qwen3"},
}
"""The `model_type` of the decoder by `version`, where it stands among the entries of the whole."""

WHOLE_PROMPT = ("paligemma",)
"""Models whose decoder, though of a kind that is known, sees all of a prompt from each token."""

HEAD_PREFIXES = ("", "language_model.", "llm.", "thinker.")
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
    unit_head: bool = False
    """Rows of the output matrix are divided by their lengths."""
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
