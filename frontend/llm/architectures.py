"""Decoder architectures as data: where a checkpoint keeps what, and in what they differ.

A decoder layer is, for all of them,

    x = x + residual_scale * post(attention(pre(x)));  x = x + residual_scale * post(mlp(pre(x)))

with RMS norms, of which some do without the `post` ones, rotary embeddings, and a gated MLP.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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

TWO_NORMS = {"attention_in": "input_layernorm", "mlp_in": "post_attention_layernorm"}
FOUR_NORMS = {
    "attention_in": "input_layernorm",
    "attention_out": "post_attention_layernorm",
    "mlp_in": "pre_feedforward_layernorm",
    "mlp_out": "post_feedforward_layernorm",
}
HEAD_NORMS = {"q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}

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
class Architecture:
    """One family of models.

    `biases` names roles whose bias is always there; `bias_flags` says which config flag gives
    which roles one. `norm_offset` is added to the weights of norms. `defaults` are the config
    entries that files may leave out.
    """

    name: str
    projections: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType(PLAIN))
    norms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(TWO_NORMS))
    biases: tuple[str, ...] = ()
    bias_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    norm_offset: float = 0.0
    scaled_embedding: bool = False
    """Embeddings are multiplied by the square root of the hidden size."""
    prefixes: tuple[str, ...] = ("model.",)
    """What names of tensors may begin with."""
    config_key: str = ""
    """Where in config.json the text model's part is, when it has one of its own."""
    defaults: Mapping[str, object] = field(default_factory=dict[str, object])


_ATTENTION = {"attention_bias": ("q", "k", "v", "o")}
_GEMMA = {"tie_word_embeddings": True, "hidden_activation": "gelu_pytorch_tanh"}
_GEMMA_3 = {**_GEMMA, "rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window_pattern": 6}

ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one
    for one in (
        Architecture(
            "llama", bias_flags={**_ATTENTION, "mlp_bias": ("gate", "up", "down")}
        ),
        Architecture("mistral"),
        Architecture("minicpm", bias_flags=_ATTENTION, defaults={"tie_word_embeddings": True}),
        Architecture("qwen2", biases=("q", "k", "v")),
        Architecture("qwen3", norms={**TWO_NORMS, **HEAD_NORMS}, bias_flags=_ATTENTION),
        Architecture("phi3", projections=FUSED),
        Architecture("gemma", norm_offset=1.0, scaled_embedding=True, bias_flags=_ATTENTION,
                     defaults=_GEMMA),
        Architecture("gemma2", norms=FOUR_NORMS, norm_offset=1.0, scaled_embedding=True,
                     bias_flags=_ATTENTION, defaults={**_GEMMA, "sliding_window_pattern": 2}),
        Architecture("gemma3_text", norms={**FOUR_NORMS, **HEAD_NORMS}, norm_offset=1.0,
                     scaled_embedding=True, bias_flags=_ATTENTION, defaults=_GEMMA_3),
        Architecture("gemma3", norms={**FOUR_NORMS, **HEAD_NORMS}, norm_offset=1.0,
                     scaled_embedding=True, bias_flags=_ATTENTION, config_key="text_config",
                     prefixes=("language_model.model.", "model.language_model."),
                     defaults=_GEMMA_3),
    )
}  # fmt: skip
"""By `model_type` in config.json."""


def architecture(model_type: object) -> Architecture:
    """The architecture of a `model_type`. Raises TpuError, which lists those known."""
    found = ARCHITECTURES.get(str(model_type))
    if found is None:
        raise TpuError(
            f"model_type '{model_type}' is not supported; "
            f"language models may be of {', '.join(sorted(ARCHITECTURES))}"
        )
    return found
