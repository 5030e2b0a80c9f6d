"""How long the nets of a compiled language model take, and what that makes of texts."""

from typing import Any

from rich.console import Console
from rich.table import Table

from xdsl_tpu.backend.estimate import Kind, in_words, milliseconds
from xdsl_tpu.backend.estimate.families import DECODE, PREFILL
from xdsl_tpu.tools.llm.session import Nets, Shapes, tokens_and_history


def times(nets: Nets) -> dict[str, Any]:
    """Cycles of every net in its first stage, of a prompt and of a token; of decoding steps in all
    stages, and of a whole prompt in chunks, where there are such."""
    manifest = nets.manifest
    cycles = {name: nets.cycles(name) for name in manifest.alike}
    first = _prompt(nets, nets.stages("block_0")[0]["input_states"][1])
    steps = [_step(nets, stage) for stage in range(len(nets.stages("block_cache_0")))]
    token = steps[0]["cycles"]
    return {
        "model": manifest.name,
        "chip": nets.chip.name,
        "weights": dict(manifest.weights),
        "length": manifest.length,
        "first_token_cycles": first,
        "token_cycles": token,
        "first_token_ms": nets.chip.milliseconds(first),
        "tokens_per_second": 1e3 / nets.chip.milliseconds(token),
        "on_silicon": {
            "first_token": milliseconds(_kind(nets, PREFILL), nets.chip, first),
            "token": milliseconds(_kind(nets, DECODE), nets.chip, token),
        },
        "nets": cycles,
        "steps": steps,
        "prompts": [
            {"tokens": tokens, "cycles": _prompt(nets, tokens)} for tokens in _prompts(nets)
        ],
    }


def _kind(nets: Nets, family: str) -> Kind:
    """Published times tell models by the bits of their matrices, packed or not."""
    chosen = nets.manifest.format
    return Kind(f"W{chosen.bits}" if chosen.bits else chosen.floats, family)


def _layers(nets: Nets, kind: str, stage: int) -> int:
    return sum(nets.cycles(f"{kind}_{index}", stage) for index in range(nets.manifest.layers))


def _stage(nets: Nets, name: str, tokens: int) -> int:
    """Which stage of embeddings or the head is for so many tokens."""
    found = [next(iter(shapes.values())) for shapes in nets.stages(name)]
    sizes = [shape[1] if name == "embedding_cache" else shape[0] for shape in found]
    return sizes.index(tokens)


def _step(nets: Nets, stage: int) -> dict[str, Any]:
    """A decoding step in one of its stages."""
    tokens, history = tokens_and_history(nets.stages("block_cache_0")[stage])
    cycles = _layers(nets, "block_cache", stage)
    for name in ("embedding_cache", "lm_head"):
        cycles += nets.cycles(name, _stage(nets, name, tokens))
    return {"tokens": tokens, "history": history, "cycles": cycles}


def _prompts(nets: Nets) -> list[int]:
    """Lengths of prompts of 1, 2, 4 .. chunks, and the longest of whole chunks."""
    chunk = nets.stages("block_0")[0]["input_states"][1]
    longest = nets.manifest.length // chunk * chunk
    found: list[int] = []
    while chunk < longest:
        found.append(chunk)
        chunk *= 2
    return [*found, longest]


def _prompt(nets: Nets, tokens: int) -> int:
    """A prompt of whole chunks and the token behind it."""
    chunk = nets.stages("block_0")[0]["input_states"][1]
    cycles = _layers(nets, "block", 0) + nets.cycles("lm_head")
    cycles += tokens // chunk * nets.cycles("embedding")
    forms: list[Shapes] = nets.stages("block_kv_0")
    histories = [tokens_and_history(one)[1] for one in forms]
    for before in range(chunk, tokens, chunk):
        history = min(one for one in histories if one >= before)
        cycles += _layers(nets, "block_kv", histories.index(history))
    return cycles


def print_times(nets: Nets, report: dict[str, Any]) -> None:
    """For people: each kind of net once, then what it makes of a prompt and a token."""
    manifest = nets.manifest
    chosen = manifest.format
    title = f"{manifest.name} {chosen.name}, lm_head {chosen.head}, {manifest.length} tokens"
    table = _table("net", "times", "cycles", title=title)
    kinds: dict[str, int] = {}
    for kind in manifest.alike.values():
        kinds[kind] = kinds.get(kind, 0) + 1
    for kind, count in kinds.items():
        table.add_row(kind, str(count), f"{report['nets'][kind]:,}")
    console = Console()
    console.print(table)
    if len(report["prompts"]) > 1:
        _print_prompts(nets, report, console)
    if len(report["steps"]) > 1:
        _print_steps(nets, report, console)
    console.print(
        f"first token after {report['first_token_ms']:.3f} ms ({report['first_token_cycles']:,} "
        f"cycles), then {report['tokens_per_second']:.2f} tokens/s ({report['token_cycles']:,} "
        "cycles each); without the host's part",
        highlight=False,
    )
    for what, family, cycles in (
        ("first token", PREFILL, report["first_token_cycles"]),
        ("a token", DECODE, report["token_cycles"]),
    ):
        if silicon := in_words(_kind(nets, family), nets.chip, cycles):
            console.print(f"{what} on silicon: {silicon}", highlight=False)


def _print_prompts(nets: Nets, report: dict[str, Any], console: Console) -> None:
    table = _table("prompt", "cycles", "first token")
    for one in report["prompts"]:
        after = f"{nets.chip.milliseconds(one['cycles']):.3f} ms"
        table.add_row(f"{one['tokens']} tokens", f"{one['cycles']:,}", after)
    console.print(table)


def _print_steps(nets: Nets, report: dict[str, Any], console: Console) -> None:
    table = _table("tokens a step", "history", "cycles", "tokens/s")
    for one in report["steps"]:
        rate = one["tokens"] * 1e3 / nets.chip.milliseconds(one["cycles"])
        row = str(one["tokens"]), str(one["history"]), f"{one['cycles']:,}", f"{rate:.2f}"
        table.add_row(*row)
    console.print(table)


def _table(*columns: str, title: str = "") -> Table:
    table = Table(*columns, title=title or None)
    for column in table.columns[1:]:
        column.justify = "right"
    return table
