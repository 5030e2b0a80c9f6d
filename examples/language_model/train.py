"""Trains the language model of this folder on the project's own documentation.

A Llama of about 0.9 million weights that writes in the manner of these pages. Needs torch,
safetensors and tokenizers; from the root of the project:

    python examples/language_model/train.py --steps 600

The same versions of the packages, seed and texts give the same files; those beside this script
were made when there were fewer pages. Everything is written at the end: `config.json`,
`model.safetensors` (F16), `tokenizer.json` and `generation_config.json`.
"""

# pyright: basic, reportMissingImports=false

import argparse
import json
import math
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn import functional

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
END = "<|end|>"
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 768,
    "hidden_size": 128,
    "intermediate_size": 384,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "eos_token_id": 0,
    "dtype": "float16",
}
CONTEXT, BATCH, SEED, RATE = 128, 12, 1, 4e-3


def texts() -> list[str]:
    """The pages, without tables and code, which are no language to learn from."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found: list[str] = []
    for page in pages:
        kept: list[str] = []
        code = False
        for line in page.read_text(encoding="utf-8").splitlines():
            code ^= line.startswith("```")
            if not code and not line.startswith(("|", "```", "    ", "<")):
                kept.append(line)
        found.append("\n".join(kept).strip())
    return found


def make_tokenizer(pages: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=CONFIG["vocab_size"],
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(pages, trainer)
    return tokenizer


class Layer(nn.Module):
    """One decoder layer, its modules called as transformers calls them."""

    def __init__(self) -> None:
        super().__init__()
        hidden, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
        keys = CONFIG["num_key_value_heads"] * CONFIG["head_dim"]
        self.input_layernorm = nn.RMSNorm(hidden, CONFIG["rms_norm_eps"])
        self.post_attention_layernorm = nn.RMSNorm(hidden, CONFIG["rms_norm_eps"])
        sizes = {"q": (hidden, hidden), "k": (hidden, keys), "v": (hidden, keys)}
        sizes["o"] = (hidden, hidden)
        self.self_attn = nn.ModuleDict(
            {f"{role}_proj": nn.Linear(a, b, bias=False) for role, (a, b) in sizes.items()}
        )
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": nn.Linear(hidden, inner, bias=False),
                "up_proj": nn.Linear(hidden, inner, bias=False),
                "down_proj": nn.Linear(inner, hidden, bias=False),
            }
        )

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        y = self.input_layernorm(x)
        heads = {
            role: self.self_attn[f"{role}_proj"](y)
            .view(*y.shape[:2], -1, CONFIG["head_dim"])
            .transpose(1, 2)
            for role in "qkv"
        }
        for role in "qk":
            first, second = heads[role].chunk(2, -1)
            turned = (first * cosine - second * sine, second * cosine + first * sine)
            heads[role] = torch.cat(turned, -1)
        shared = CONFIG["num_attention_heads"] // CONFIG["num_key_value_heads"]
        k, v = (heads[role].repeat_interleave(shared, 1) for role in "kv")
        mixed = functional.scaled_dot_product_attention(heads["q"], k, v, is_causal=True)
        x = x + self.self_attn["o_proj"](mixed.transpose(1, 2).flatten(2))
        y = self.post_attention_layernorm(x)
        gate = functional.silu(self.mlp["gate_proj"](y))
        return x + self.mlp["down_proj"](gate * self.mlp["up_proj"](y))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(CONFIG["vocab_size"], CONFIG["hidden_size"])
        self.layers = nn.ModuleList([Layer() for _ in range(CONFIG["num_hidden_layers"])])
        self.norm = nn.RMSNorm(CONFIG["hidden_size"], CONFIG["rms_norm_eps"])
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                last = "o_proj" in name or "down_proj" in name
                depth = math.sqrt(2 * CONFIG["num_hidden_layers"]) if last else 1.0
                nn.init.normal_(parameter, std=0.05 / depth)

    def forward(self, ids: Tensor) -> Tensor:
        half = CONFIG["head_dim"] // 2
        speeds = CONFIG["rope_theta"] ** (-torch.arange(half) / half)
        angles = torch.arange(ids.shape[1])[:, None] * speeds
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin())
        return self.norm(x) @ self.embed_tokens.weight.T


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=600)
    steps = parser.parse_args().steps
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    pages = texts()
    tokenizer = make_tokenizer(pages)
    ids: list[int] = []
    for page in pages:
        ids += [*tokenizer.encode(page).ids, 0]
    data = torch.tensor(ids)
    model = Model()
    weights = sum(one.numel() for one in model.parameters())
    print(f"{len(pages)} pages, {len(data):,} tokens, {weights:,} weights", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.05)
    start = time.perf_counter()
    for step in range(steps):
        share = step / steps
        rate = (
            RATE * min(1, (step + 1) / 30) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        places = torch.randint(len(data) - CONTEXT - 1, (BATCH,))
        batch = torch.stack([data[at : at + CONTEXT + 1] for at in places])
        logits = model(batch[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0 or step == steps - 1:
            seconds = time.perf_counter() - start
            print(f"step {step}: loss {loss.item():.3f}, {seconds:.0f} s", flush=True)
    tensors = {
        f"model.{name}": one.detach().to(torch.float16).contiguous()
        for name, one in model.named_parameters()
    }
    save_file(tensors, HERE / "model.safetensors", {"format": "pt"})
    (HERE / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n", encoding="utf-8")
    ends = {"eos_token_id": CONFIG["eos_token_id"]}
    (HERE / "generation_config.json").write_text(json.dumps(ends) + "\n", encoding="utf-8")
    tokenizer.save(str(HERE / "tokenizer.json"))


if __name__ == "__main__":
    main()
