"""What a model is, from its config.json."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.architectures import STANDARD_FIELDS, Architecture, HeadNorms
from xdsl_tpu.frontend.llm.entries import decoder_entries
from xdsl_tpu.frontend.llm.rotary import Rotary, rotary_of

SLIDING, FULL = "sliding_attention", "full_attention"
ACTIVATIONS = ("silu", "gelu", "gelu_pytorch_tanh", "gelu_new", "relu", "relu2")


@dataclass(frozen=True)
class ModelConfig:
    """A decoder: sizes in elements, layers in order.

    `windows` has for each layer how many of the last positions it sees, itself included, None
    for all. `scale` is that of scores; a cap c makes c * tanh(x / c) of scores or logits; `clip`
    is the largest magnitude of queries, keys and values. `tied` is None where nothing says whether
    the output matrix is that of the embeddings.
    """

    architecture: Architecture
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    positions: int
    eps: float
    activation: str
    scale: float
    tied: bool | None
    biased: frozenset[str]
    rotary: tuple[Rotary, ...]
    windows: tuple[int | None, ...]
    embedding_scale: float = 1.0
    residual_scale: float = 1.0
    logit_scale: float = 1.0
    score_cap: float | None = None
    logit_cap: float | None = None
    clip: float | None = None

    def rows(self, role: str) -> int:
        """Rows of the matrix of a role: what it makes."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        sizes = {"q": queries, "k": keys, "v": keys, "gate": self.intermediate}
        return {**sizes, "up": self.intermediate}.get(role, self.hidden)

    def normed(self, name: str) -> tuple[int, ...]:
        """What elements a norm of a layer has weights for."""
        if name not in ("q_norm", "k_norm"):
            return (self.hidden,)
        kind, rows = self.architecture.head_norms, self.rows(name[0])
        if kind is HeadNorms.OWN:
            return (rows // self.head_dim, self.head_dim)
        return (rows,) if kind is HeadNorms.OF_ALL else (self.head_dim,)

    def columns(self, role: str) -> int:
        """Columns of the matrix of a role: what it reads."""
        return {"o": self.heads * self.head_dim, "down": self.intermediate}.get(role, self.hidden)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises TpuError naming the file."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TpuError(
            f"{path}: cannot be read ({error.strerror}); give the folder of a Hugging Face model, "
            "with config.json and .safetensors files"
        ) from error
    except ValueError as error:
        raise TpuError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(found, dict):
        raise TpuError(f"{path}: holds no JSON object")
    return cast(dict[str, Any], found)


def read_config(folder: Path) -> ModelConfig:
    """The configuration of a model in a folder.

    Raises TpuError for a missing or unreadable file, an unknown architecture, rotary scaling or
    activation, and sizes that do not fit.
    """
    path = folder / "config.json"
    entries = read_json(path)
    try:
        return model_config(entries)
    except TpuError as error:
        raise TpuError(f"{path}: {error}") from error
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise TpuError(f"{path}: an entry is not what it should be ({error})") from error


_COUNTS = ("hidden", "intermediate", "layers", "heads", "vocabulary", "positions")


def model_config(entries: Mapping[str, Any]) -> ModelConfig:
    """The configuration from the entries of config.json. Raises TpuError as `read_config`."""
    kind, found = decoder_entries(entries)
    sizes = {name: _entry(found, keys) for name, keys in STANDARD_FIELDS.items()}
    for name in _COUNTS:
        if int(sizes[name]) < 1:
            raise TpuError(f"'{STANDARD_FIELDS[name][0]}' is {sizes[name]}; it must be above 0")
    layers, heads = int(sizes["layers"]), int(sizes["heads"])
    head_dim = int(found.get("head_dim") or int(sizes["hidden"]) // heads)
    activation = str(sizes["activation"])
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise TpuError(f"activation '{activation}' is not supported; {known} are")
    windows = _windows(found, layers)
    kv_heads = int(found.get("num_key_value_heads", heads))
    if kv_heads < 1 or heads % kv_heads:
        raise TpuError(f"{heads} query heads are not a multiple of {kv_heads} key heads")
    rotary = {
        kind_of_layer: rotary_of(
            found, head_dim, int(sizes["positions"]), kind_of_layer, kind.neighbours
        )
        for kind_of_layer in (SLIDING, FULL)
    }
    hidden = int(sizes["hidden"])
    return ModelConfig(
        architecture=kind,
        hidden=hidden,
        intermediate=int(sizes["intermediate"]),
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocabulary=int(sizes["vocabulary"]),
        positions=int(sizes["positions"]),
        eps=float(sizes["eps"]),
        activation=activation,
        scale=float(found["attention_multiplier"]) if "attention_multiplier" in found
        else float(found.get("query_pre_attn_scalar", head_dim)) ** -0.5,
        tied=found.get("tie_word_embeddings"),
        biased=_biased(kind, found),
        rotary=tuple(
            rotary[SLIDING if window else FULL] if turns else rotary[FULL].still()
            for window, turns in zip(windows, _turning(kind, found, windows), strict=True)
        ),
        windows=windows,
        embedding_scale=math.sqrt(hidden) if kind.scaled_embedding
        else float(found.get("scale_emb", found.get("embedding_multiplier", 1.0))),
        residual_scale=float(found["scale_depth"]) / math.sqrt(layers)
        if "scale_depth" in found else float(found.get("residual_multiplier", 1.0)),
        logit_scale=_logit_scale(found, hidden),
        score_cap=found.get("attn_logit_softcapping"),
        logit_cap=found.get("final_logit_softcapping"),
        clip=found.get("clip_qkv"),
    )  # fmt: skip


def _logit_scale(found: Mapping[str, Any], hidden: int) -> float:
    """What logits are times, by the entries that families have for it."""
    if "dim_model_base" in found:
        return float(found["dim_model_base"]) / hidden
    return float(found.get("logit_scale", 1.0)) / float(found.get("logits_scaling", 1.0))


def _turning(
    kind: Architecture, found: Mapping[str, Any], windows: tuple[int | None, ...]
) -> Sequence[bool]:
    """Which layers have a rotary embedding: 1 in `no_rope_layers`, or all but every one of
    `no_rope_layer_interval`, or those with a window."""
    listed, interval = found.get("no_rope_layers"), found.get("no_rope_layer_interval")
    if listed is not None and len(listed) != len(windows):
        raise TpuError(f"no_rope_layers must say 0 or 1 for each of {len(windows)} layers")
    if listed is not None:
        return [bool(one) for one in listed]
    if interval is not None:
        return [bool((index + 1) % int(interval)) for index in range(len(windows))]
    mixed = kind.still_without_window and any(windows)
    return [window is not None or not mixed for window in windows]


def _entry(found: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    value = next((found[key] for key in keys if key in found), None)
    if value is None:
        raise TpuError(f"'{keys[0]}' is missing")
    return value


def _biased(kind: Architecture, found: Mapping[str, Any]) -> frozenset[str]:
    by_flag = (roles for flag, roles in kind.bias_flags.items() if found.get(flag))
    return frozenset(kind.biases).union(*by_flag)


def _windows(found: Mapping[str, Any], layers: int) -> tuple[int | None, ...]:
    """The window of each layer: by `layer_types`, a pattern, or the same for all.

    A window of a model that says that it uses none (`use_sliding_window`) does not count; one that
    does uses it from layer `max_window_layers` on.
    """
    window = found.get("sliding_window")
    if not window or not found.get("use_sliding_window", True):
        return (None,) * layers
    kinds = found.get("layer_types")
    if kinds is None:
        pattern = found.get("sliding_window_pattern")
        first = int(found.get("max_window_layers", 0)) if "use_sliding_window" in found else 0
        slides = [
            bool((index + 1) % int(pattern)) if pattern else index >= first
            for index in range(layers)
        ]
        kinds = [SLIDING if one else FULL for one in slides]
    if len(kinds) != layers or set(kinds) - {SLIDING, FULL}:
        raise TpuError(f"layer_types must name {SLIDING} or {FULL} for each of {layers} layers")
    return tuple(int(window) if kind == SLIDING else None for kind in kinds)
