"""`tpu-generate`: text from a language model on the machine model, and how fast it comes."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm import open_model
from xdsl_tpu.frontend.llm.reference import Reference
from xdsl_tpu.tools.arguments import add_common, help_format
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.files import check_writable, write_text
from xdsl_tpu.tools.llm.compile_llm import TOKENIZER
from xdsl_tpu.tools.llm.session import Nets, Session, sampler

Floats = npt.NDArray[np.float32]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tpu-generate",
        description="Generate text with a language model on the machine model of a BM1684X.",
        allow_abbrev=False,
        formatter_class=help_format,
    )
    parser.add_argument("model", type=Path, metavar="DIR", help="what tpu-compile made of a model")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--prompt", metavar="TEXT", help="how the text begins")
    start.add_argument(
        "--ids", type=int, nargs="+", metavar="ID", help="the same in tokens, without a tokenizer"
    )
    parser.add_argument("--tokens", type=_count, default=32, metavar="N", help="at most (32)")
    parser.add_argument(
        "--temperature", type=_share, default=0.0, metavar="T", help="0 is greedy (0)"
    )
    parser.add_argument(
        "--top-k", type=int, default=0, metavar="K", help="draw from the K best (0: all)"
    )
    parser.add_argument(
        "--top-p", type=_share, default=1.0, metavar="P", help="draw from the best with share P (1)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of drawing (0)")
    parser.add_argument("--no-values", action="store_true", help="times only, at once")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="compare logits with a float reference of the model in this folder, its weights "
        "quantised as the program's",
    )
    parser.add_argument("--report", type=Path, metavar="X.json", help="write the figures")
    parser.add_argument("--chip", help="chip name or .toml description (default: the model's)")
    add_common(parser)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not 0 or a positive number")
    return value


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 and one message on a problem."""
    args = _parser().parse_args(argv)
    sys.exit(guarded(lambda: _run(args), show_traceback=args.debug))


def _run(args: argparse.Namespace) -> None:
    if args.report is not None:
        check_writable(args.report)
    nets = Nets(args.model, args.chip)
    report: dict[str, Any] = _times(nets)
    if args.no_values:
        if args.against is not None:
            raise TpuError("--against compares values; leave --no-values out")
    else:
        report |= _generate(args, nets)
    if args.report is not None:
        write_text(args.report, json.dumps(report, indent=1) + "\n")
    if not args.quiet:
        _print_times(nets, report)


def _generate(args: argparse.Namespace, nets: Nets) -> dict[str, Any]:
    """Tokens as they come; the report's part on them."""
    text = _Text(args.model)
    ids = args.ids or text.encode(args.prompt)
    length = nets.manifest.length
    if len(ids) + args.tokens - 1 > length:
        raise TpuError(
            f"{len(ids)} tokens of prompt and {args.tokens} new ones do not fit into the {length} "
            "that the model was compiled for; ask for fewer, or compile with a larger --seq"
        )
    choose = sampler(args.temperature, args.top_k, args.top_p, args.seed)
    session = Session(nets)
    seen: list[Floats] = [session.prompt(ids)]
    made: list[int] = [choose(seen[-1])]
    show = _shower(args, text, ids)
    show(made)
    while len(made) < args.tokens and made[-1] not in nets.manifest.ends:
        seen.append(session.step(made[-1]))
        made.append(choose(seen[-1]))
        show(made)
    if not args.quiet:
        print(flush=True)
    found: dict[str, Any] = {"prompt": ids, "tokens": made, "text": text.decode(made)}
    if args.against is not None:
        found["against"] = _compared(args.against, nets, [*ids, *made[:-1]], len(ids), seen)
    return found


def _shower(args: argparse.Namespace, text: "_Text", ids: list[int]) -> Callable[[list[int]], None]:
    """Prints what has come since the last time; the prompt first."""
    said = 0

    def show(made: list[int]) -> None:
        nonlocal said
        whole = text.decode([*ids, *made])
        if not args.quiet and not whole.endswith("\N{REPLACEMENT CHARACTER}"):
            print(whole[said:], end="", flush=True)
            said = len(whole)

    return show


class _Text:
    """Text to tokens and back; without a tokenizer tokens are written as numbers."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TOKENIZER
        self._tokenizer: Any = None
        if self._path.is_file():
            try:
                kind: Any = import_module("tokenizers").Tokenizer
            except ImportError as error:
                raise TpuError(
                    "texts need the package tokenizers: install xdsl-tpu[llm]"
                ) from error
            try:
                self._tokenizer = kind.from_file(str(self._path))
            except Exception as error:  # the package raises no other class
                raise TpuError(f"{self._path}: no tokenizer ({error})") from error

    def encode(self, text: str | None) -> list[int]:
        if text is None:
            raise TpuError("give --prompt TEXT or --ids ID ..")
        if self._tokenizer is None:
            raise TpuError(f"{self._path}: there is none, so a text has no tokens; give --ids")
        ids: list[int] = self._tokenizer.encode(text).ids
        if not ids:
            raise TpuError("the prompt has no tokens; give a text")
        return ids

    def decode(self, ids: list[int]) -> str:
        if self._tokenizer is None:
            return "".join(f"{one} " for one in ids)
        return str(self._tokenizer.decode(ids))


def _compared(
    folder: Path, nets: Nets, ids: list[int], prompt: int, seen: list[Floats]
) -> dict[str, Any]:
    """How close logits are to the float reference's for the same tokens."""
    model = open_model(folder, nets.manifest.format)
    expected = Reference(model).logits(ids, nets.manifest.length)[prompt - 1 :]
    cosines = [_cosine(a, b) for a, b in zip(seen, expected, strict=True)]
    same = sum(int(np.argmax(a) == np.argmax(b)) for a, b in zip(seen, expected, strict=True))
    return {"cosine": min(cosines), "same_choice": same, "of": len(seen)}


def _cosine(a: Floats, b: npt.NDArray[Any]) -> float:
    x, y = a.astype(np.float64), b.astype(np.float64)
    return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))


def _times(nets: Nets) -> dict[str, Any]:
    """Cycles of a prompt and of a token, net by net."""
    manifest = nets.manifest
    cycles = {name: nets.cycles(name) for name in manifest.alike}
    prefill = [name for name in cycles if name == "embedding" or _is_block(name, "block_")]
    decode = [
        name for name in cycles if name == "embedding_cache" or _is_block(name, "block_cache_")
    ]
    first = sum(cycles[name] for name in (*prefill, "lm_head"))
    token = sum(cycles[name] for name in (*decode, "lm_head"))
    return {
        "model": manifest.name,
        "chip": nets.chip.name,
        "weights": dict(manifest.weights),
        "length": manifest.length,
        "first_token_cycles": first,
        "token_cycles": token,
        "first_token_ms": nets.chip.milliseconds(first),
        "tokens_per_second": 1e3 / nets.chip.milliseconds(token),
        "nets": cycles,
    }


def _is_block(name: str, kind: str) -> bool:
    return name.startswith(kind) and name[len(kind) :].isdecimal()


def _print_times(nets: Nets, report: dict[str, Any]) -> None:
    manifest = nets.manifest
    chosen = manifest.format
    title = f"{manifest.name} {chosen.name}, lm_head {chosen.head}, {manifest.length} tokens"
    table = Table("net", "times", "cycles", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    kinds: dict[str, int] = {}
    for kind in manifest.alike.values():
        kinds[kind] = kinds.get(kind, 0) + 1
    for kind, count in kinds.items():
        table.add_row(kind, str(count), f"{report['nets'][kind]:,}")
    console = Console()
    console.print(table)
    console.print(
        f"first token after {report['first_token_ms']:.3f} ms ({report['first_token_cycles']:,} "
        f"cycles), then {report['tokens_per_second']:.2f} tokens/s ({report['token_cycles']:,} "
        "cycles each); without the host's part",
        highlight=False,
    )
    if (found := report.get("against")) is not None:
        console.print(
            f"against the float reference: cosine of logits >= {found['cosine']:.6f}, "
            f"{found['same_choice']} of {found['of']} tokens the same",
            highlight=False,
        )
