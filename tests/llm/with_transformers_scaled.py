"""Makes `tests/data/llm/scaled.json` and `.npz` anew: every family with every rotary scaling that
it may have, and what transformers says behind the last tokens of a text.

Needs torch and transformers: run it as `python -m tests.llm.with_transformers_scaled`.
"""

# pyright: basic, reportMissingImports=false

import json
from copy import deepcopy
from typing import Any

import numpy as np
import torch
import transformers as t
from tests.llm.tiny import DATA, IDS, values
from tests.llm.with_transformers import CASES, COMMON, scaled

KEPT = 3
"""Last tokens whose logits are kept."""

FAMILIES = ("llama", "mistral", "qwen2", "qwen2_window", "qwen3", "gemma", "gemma2", "gemma3",
            "minicpm")  # fmt: skip
LONG_FAMILIES = ("phi3", "phi3_partial")
"""Phi-3 has no other scaling, and says beside it for how many positions it was made at first; that
counts more."""


def factors(pairs: int, first: float, step: float) -> list[float]:
    return [round(first + step * pair, 3) for pair in range(pairs)]


def scalings(pairs: int) -> dict[str, tuple[dict[str, Any], int]]:
    """Parameters of every scaling of so many pairs, and the positions that the model is for: the
    text of 24 tokens is beyond some of them."""
    long = {"rope_type": "longrope", "short_factor": factors(pairs, 1, 0.1),
            "long_factor": factors(pairs, 1.5, 0.7)}  # fmt: skip
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    llama3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    return {
        "linear": ({"rope_type": "linear", "factor": 4.0}, 64),
        "dynamic": ({"rope_type": "dynamic", "factor": 2.0}, 16),
        "dynamic_near": ({"rope_type": "dynamic", "factor": 2.0}, 64),
        "yarn": (yarn, 64),
        "yarn_whole": ({"rope_type": "yarn", "factor": 3.0}, 16),
        "yarn_scales": ({**yarn, "mscale": 0.7, "mscale_all_dim": 1.3, "beta_fast": 16,
                         "beta_slow": 2, "truncate": False}, 64),
        "yarn_amplitude": ({**yarn, "attention_factor": 0.8}, 64),
        "llama3": ({**llama3, "factor": 8.0, "original_max_position_embeddings": 32}, 64),
        "llama3_whole": ({**llama3, "factor": 2.0}, 64),
        "longrope": ({**long, "original_max_position_embeddings": 16}, 64),
        "longrope_near": ({**long, "original_max_position_embeddings": 32}, 64),
        "longrope_factor": ({**long, "original_max_position_embeddings": 16, "factor": 9.0}, 64),
        "longrope_amplitude": (
            {**long, "original_max_position_embeddings": 16, "attention_factor": 1.3}, 64
        ),
    }  # fmt: skip


def main() -> None:
    found: dict[str, Any] = {}
    logits: dict[str, Any] = {}
    for base in (*FAMILIES, *LONG_FAMILIES):
        kind, extra = CASES[base]
        plain = kind(**{**COMMON, **extra})
        size = getattr(plain, "head_dim", None) or plain.hidden_size // plain.num_attention_heads
        share = extra.get("partial_rotary_factor", 1.0)
        for name, (scaling, positions) in scalings(int(size * share) // 2).items():
            if base in LONG_FAMILIES and not name.startswith("longrope"):
                continue
            rope: dict[str, Any] = {"rope_scaling": dict(scaling)}
            rope["max_position_embeddings"] = positions
            if base in LONG_FAMILIES:
                first = scaling["original_max_position_embeddings"]
                rope["original_max_position_embeddings"] = first
                if name == "longrope_factor":
                    rope["rope_scaling"]["original_max_position_embeddings"] = 64
            as_it_was = deepcopy(rope["rope_scaling"])
            model = t.AutoModelForCausalLM.from_config(
                kind(**{**COMMON, **extra, **rope}), attn_implementation="eager"
            )
            model = model.float().eval()
            with torch.no_grad():
                for key, parameter in model.named_parameters():
                    array = values(key, tuple(parameter.shape), base.startswith("gemma"))
                    factor = scaled(key) if base == "minicpm" else 1.0
                    parameter.copy_(torch.tensor(array * np.float32(factor)))
                said = model(torch.tensor([IDS])).logits[0, -KEPT:]
            logits[f"{base}-{name}"] = said.numpy().astype(np.float32)
            config = model.config.to_dict()
            changed = ("rope_parameters", "max_position_embeddings",
                       "original_max_position_embeddings")  # fmt: skip
            found[f"{base}-{name}"] = {
                "base": base,
                "scaling": as_it_was,
                "config": {key: config[key] for key in changed if key in config},
            }
    text = json.dumps(found, sort_keys=True)
    (DATA / "scaled.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(DATA / "scaled.npz", **logits)


if __name__ == "__main__":
    main()
