"""Published speeds of language models on silicon, beside what our programs of the same sizes take.

    python benchmarks/llm_silicon.py [--only REGEX] [--json FILE]

Every usable row of `data/published_speeds.csv` whose sizes are known (`llm_published.py`): what the
vendor's program of it was measured at, our estimate for a prompt as long as the program takes and
for a token behind as many, with the output matrix in the format that the published program has it
in, and what times of such programs lead to expect of ours on silicon. A prompt ends with the output
matrix, as a step does.
"""

import argparse
import re
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from figures import json_file, write_json
from hardware import rows_of, usable_speeds
from llm import Phase, phases
from llm_models import SeededModel
from llm_published import MODELS

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.estimate import Kind, milliseconds
from xdsl_tpu.backend.estimate.families import DECODE, PREFILL
from xdsl_tpu.frontend.llm.formats import WeightFormat

FORMATS = {"F16": "F16", "W8": "W8F16", "W4": "W4F16"}
HEAD = "F16"
"""Of output matrices, where it is not known."""


@dataclass(frozen=True)
class Row:
    """A prompt or a token of one model: seconds that were published, cycles of our program, and
    what these come to on silicon in milliseconds, if that is known."""

    model: str
    precision: str
    sequence: int
    head: str
    what: str
    published_ms: float
    cycles: int
    estimate_ms: float
    on_silicon: dict[str, Any] | None


def rows(only: str) -> Iterator[Row]:
    """All rows, a prompt and a token for each that was published."""
    chip = load_chip("bm1684x")
    heads = {
        (row["model"], row["precision"], row["sequence"]): row["head_format"]
        for row in rows_of("vendor_llm_cycles.csv")
    }
    for row in usable_speeds():
        key = row["model"], row["precision"], row["sequence"]
        if row["model"] not in MODELS or not re.search(only, " ".join(key)):
            continue
        head = heads.get(key) or HEAD
        format = WeightFormat(FORMATS[row["precision"]], head=head)
        model = SeededModel(row["model"], format, configurations=MODELS)
        decode, prefill = phases(model, int(row["sequence"]), 1)
        measured = 1e3 * float(row["first_token_s"]), 1e3 / float(row["tokens_per_s"])
        cycles = _total(prefill) + _once(decode), _total(decode)
        for family, published, total in zip((PREFILL, DECODE), measured, cycles, strict=True):
            kind = Kind(row["precision"], family)
            yield Row(
                *key[:2],
                int(row["sequence"]),
                head,
                "prompt" if family == PREFILL else "token",
                published,
                total,
                chip.milliseconds(total),
                milliseconds(kind, chip, total),
            )


def _total(phase: Phase) -> int:
    return int(phase.total(lambda net: net.cycles))


def _once(phase: Phase) -> int:
    """Of the output matrix."""
    return 0 if phase.once is None else phase.once.cycles


def line(row: Row) -> str:
    """For a terminal, and as a row of a page."""
    return (
        f"| {row.model} | {row.precision} | {row.sequence} | {row.head} | {row.what} "
        f"| {row.published_ms:,.1f} | {row.estimate_ms:,.1f} | {_range(row)} "
        f"| {row.published_ms / row.estimate_ms:.2f} |"
    )


def _range(row: Row) -> str:
    found = row.on_silicon
    if found is None or found["low"] is None:
        return "not known"
    return f"{found['low']:,.1f} - {found['high']:,.1f}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="rows by model and format")
    parser.add_argument("--json", type=json_file, help="write the figures to this file")
    arguments = parser.parse_args()
    print(
        "| model | format | tokens | head | | published, ms | ours, ms | on silicon, ms | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    found: list[Row] = []
    for row in rows(arguments.only):
        found.append(row)
        print(line(row), flush=True)
    for what in ("prompt", "token"):
        ratios = [row.published_ms / row.estimate_ms for row in found if row.what == what]
        if ratios:
            print(f"{what}: published over ours {statistics.median(ratios):.2f} in the middle")
    write_json(arguments.json, {"rows": [asdict(row) for row in found]})


if __name__ == "__main__":
    main()
