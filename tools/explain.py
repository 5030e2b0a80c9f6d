"""What a program's cycles are spent on, as tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import explain, read_groups
from xdsl_tpu.backend.report.explain import Explanation
from xdsl_tpu.backend.report.gap import Cause
from xdsl_tpu.backend.timing import Timeline
from xdsl_tpu.tools.folder import GROUPS
from xdsl_tpu.tools.provenance import network_floor

BLOCKS = 10
"""Blocks that are shown."""


def explain_program(
    bmodel: Path, program: Program, timelines: Sequence[Timeline], chip: Chip
) -> Explanation:
    """What a run of the program in a file is spent on, by what was compiled with it beside it."""
    groups = read_groups(bmodel.with_name(GROUPS))
    return explain(program, timelines, chip, network_floor(bmodel), groups)


def print_explanation(explanation: Explanation, console: Console) -> None:
    """Floor and cycles, their causes, blocks and ops that take most, what would gain most."""
    summary = Table(title="cycles by cause", show_header=False)
    summary.add_column(overflow="fold")
    summary.add_column(justify="right", no_wrap=True)
    summary.add_column(justify="right", no_wrap=True)
    for cause, cycles in sorted(explanation.causes.items(), key=lambda item: -item[1]):
        if cycles:
            summary.add_row(cause.text, f"{cycles:,}", _share(cycles, explanation.cycles))
    summary.add_section()
    summary.add_row("all", f"{explanation.cycles:,}", "")
    summary.add_row("floor", f"{explanation.floor:,}", f"{explanation.ratio:.2f} x")
    console.print(summary)
    for what, parts in (("op", explanation.ops), ("block", explanation.blocks)):
        if len(parts) > 1:
            console.print(_parts(what, parts, explanation.cycles))
    for number, one in enumerate(explanation.proposals, 1):
        layers = f"{one.layers} layers like " if one.layers > 1 else ""
        most = f"at most {one.cycles:,} cycles ({_share(one.cycles, explanation.cycles)})"
        console.print(
            Text(f"{number}. {most}: {one.cause.text}, {layers}'{one.example}' ({one.op})")
        )
        for line in filter(None, (one.why, one.advice)):
            console.print(Padding(Text(line), (0, 0, 0, 3)))


def _parts(what: str, parts: Mapping[str, Mapping[Cause, int]], cycles: int) -> Table:
    table = Table(title=f"cycles by {what}")
    table.add_column(what, overflow="fold")
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("most of it", overflow="fold")
    for name, causes in list(parts.items())[:BLOCKS]:
        own = sum(causes.values())
        most = max(causes, key=lambda cause: causes[cause])
        table.add_row(name, f"{own:,}", _share(own, cycles), most.text)
    return table


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.1%}"
