"""`tpu-generate`: text from a language model on the machine model, and how fast it comes."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from rich.console import Console

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm import open_model
from xdsl_tpu.frontend.llm.reference import Reference
from xdsl_tpu.frontend.llm.sampling import MOST
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.files import check_writable, write_text
from xdsl_tpu.tools.llm.choice import Chances, Choose, chip_sampler, sampler
from xdsl_tpu.tools.llm.compile_llm import TOKENIZER
from xdsl_tpu.tools.llm.generate import Made, generate
from xdsl_tpu.tools.llm.session import Nets, Session
from xdsl_tpu.tools.llm.times import print_times, times
from xdsl_tpu.tools.tpu_generate_arguments import arguments

Floats = npt.NDArray[np.float32]


def _chooser(args: argparse.Namespace, nets: Nets) -> Choose:
    """Raises TpuError for options that do not go together."""
    given: dict[str, float | None] = {
        "temperature": args.temperature,
        "top_k": args.top_k,
        "top_p": args.top_p,
        "repetition_penalty": args.repetition_penalty,
    }
    if not args.sample:
        if args.repetition_penalty is not None:
            raise TpuError("--repetition-penalty is of --sample; give that as well")
        return sampler(args.temperature or 0.0, args.top_k or 0, _or(args.top_p, 1.0), args.seed)
    known = {**nets.manifest.sampling, **{k: v for k, v in given.items() if v is not None}}
    chances = Chances(
        known.get("temperature", 1.0),
        int(known.get("top_k", MOST)),
        known.get("top_p", 1.0),
        known.get("repetition_penalty", 1.0),
    )
    return chip_sampler(nets, chances, args.seed)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 and one message on a problem."""
    run(arguments(argv))


def run(args: argparse.Namespace) -> NoReturn:
    """Carry out a command line that has been read, and exit as `main` does."""
    sys.exit(guarded(lambda: _run(args), show_traceback=args.debug))


def _run(args: argparse.Namespace) -> None:
    if args.report is not None:
        check_writable(args.report)
    nets = Nets(args.model, args.chip)
    report: dict[str, Any] = times(nets)
    if args.no_values:
        if args.against is not None:
            raise TpuError("--against compares values; leave --no-values out")
    else:
        report |= _generate(args, nets)
    if args.report is not None:
        write_text(args.report, json.dumps(report, indent=1) + "\n")
    if not args.quiet:
        print_times(nets, report)
        _print_text(nets, report)


def _print_text(nets: Nets, report: dict[str, Any]) -> None:
    """What the text took, and how far its logits are from the reference's."""
    console = Console()
    if "tokens" in report:
        spent = sum(report["spent_cycles"].values())
        console.print(
            f"this text: {len(report['tokens'])} tokens behind {len(report['prompt'])}, "
            f"{report['token_steps']} steps of decoding, {nets.chip.milliseconds(spent):.3f} ms",
            highlight=False,
        )
    if (found := report.get("against")) is not None:
        console.print(
            f"against the float reference: cosine of logits >= {found['cosine']:.6f}, "
            f"{found['same_choice']} of {found['of']} tokens the same",
            highlight=False,
        )


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
    choose = _chooser(args, nets)
    session = Session(nets)
    if args.lookup > session.most:
        raise TpuError(
            f"--lookup {args.lookup}: a step takes at most {session.most} tokens; compile the "
            f"model with --steps {args.lookup}"
        )
    made, show = Made(), _shower(args, text, ids)
    for made in generate(session, ids, args.tokens, choose, nets.manifest.ends, args.lookup):
        show(made.tokens)
    if not args.quiet:
        print(flush=True)
    tokens = made.tokens
    found: dict[str, Any] = {"prompt": ids, "tokens": tokens, "text": text.decode(tokens)}
    found |= {"token_steps": made.steps, "spent_cycles": dict(nets.spent)}
    if args.against is not None:
        seen = [*ids, *tokens[:-1]]
        found["against"] = _compared(args.against, nets, seen, len(ids), made.logits)
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
