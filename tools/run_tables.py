"""What `tpu-run` prints about a run."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.estimate import in_words, kind_of
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import Closeness, compare_layers
from xdsl_tpu.tools.check import unverified
from xdsl_tpu.tools.names import Name, in_bytes

Compared = tuple[str, Mapping[str, Closeness]]
"""The reference in words, and for every output how close it is."""
MOST_EXPENSIVE = 10
LAYER_COLUMNS = ("cycles", "share", "op", "TIU busy", "GDMA busy")
NARROW = 72
"""Columns of a terminal below which layers are shown with cycles and share only."""


def print_tables(
    program: Program,
    chip: Chip,
    compared: Compared | None,
    report: Mapping[str, Any],
    checked: bool,
) -> None:
    """The report as a table, and the layers that cost most."""
    console = Console()
    summary = Table(title=f"{program.name} {program.quantize} on {program.chip}", show_header=False)
    summary.add_column(overflow="fold")
    summary.add_column(overflow="fold")
    total, cores = report["cycles"], len(report.get("cores", [None]))
    summary.add_row("cycles", f"{total:,} ({report['milliseconds']:.3f} ms)")
    if cores > 1:
        shares = report["ddr"] == "shared"
        how = "sharing the bandwidth of DDR" if shares else "each with all of the bandwidth of DDR"
        summary.add_row("cores", f"{cores}, {how}")
        other = report["ddr_each" if shares else "ddr_shared"]
        label = "if each had all" if shares else "if shared"
        summary.add_row(label, f"{other:,} ({chip.milliseconds(other):.3f} ms)")
    if silicon := in_words(kind_of(program), chip, total):
        summary.add_row("on silicon", silicon)
    for engine in ("bdc", "gdma"):
        part = report[engine]
        share = part["busy_cycles"] / max(1, total * cores)
        summary.add_row(engine.upper(), f"{part['instructions']:,} instructions, {share:.1%} busy")
    moved = (f"{k.replace('_', ' ')} {in_bytes(v)}" for k, v in report["gdma"]["bytes"].items())
    summary.add_row("DDR traffic", ", ".join(moved))
    for name, output in report["outputs"].items():
        shape = "x".join(str(size) for size in output["shape"])
        summary.add_row("output", f"{name} {shape} {output['dtype']}")
        if compared is not None:
            summary.add_row(f"against {compared[0]}", _in_words(compared[1][name]))
    if checked:
        summary.add_row("check", "no findings")
    if commands := unverified(program):
        summary.add_row("unverified", f"from documentation alone: {commands}")
    wall = (f"{stage} {seconds:.2f}" for stage, seconds in report["wall_seconds"].items())
    summary.add_row("wall seconds", ", ".join(wall))
    console.print(summary)
    console.print(_layer_table(report, console.width))


def _in_words(close: Closeness) -> str:
    return (
        f"cosine {close.cosine:.7f}, max abs error {close.max_abs_error:.3g}, "
        f"SQNR {close.sqnr_db:.1f} dB"
    )


def difference_table(report: dict[str, Any], other: dict[str, Any], name: str) -> Table:
    """The layers whose cycles differ most from another run's."""
    table = Table(title=f"against {name}: {report['cycles'] - other['cycles']:+,} cycles")
    table.add_column("layer")
    for heading in ("cycles", "other", "difference"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = compare_layers(report, other)[:MOST_EXPENSIVE]
    names = [row["name"] for row in rows]
    for row in rows:
        cycles = (
            "-" if row[key] is None else f"{row[key]:,}" for key in ("cycles", "other_cycles")
        )
        table.add_row(Name(row["name"], names), *cycles, f"{row['difference']:+,}")
    return table


def _layer_table(report: Mapping[str, Any], width: int) -> Table:
    """The layers that moved the end of the run most; narrow terminals show fewer columns."""
    shown = len(LAYER_COLUMNS) if width >= NARROW else 2
    table = Table(title="most expensive layers")
    table.add_column("layer")
    for heading in LAYER_COLUMNS[:shown]:
        table.add_column(heading, justify="left" if heading == "op" else "right", no_wrap=True)
    rows = sorted(report["layers"], key=lambda row: -row["cycles"])
    names = [row["name"] for row in rows[:MOST_EXPENSIVE]]
    for row in rows[:MOST_EXPENSIVE]:
        share = row["cycles"] / max(1, report["cycles"])
        figures = (f"{row['cycles']:,}", f"{share:.1%}", row["op"])
        figures += (f"{row['bdc_cycles']:,}", f"{row['gdma_cycles']:,}")
        table.add_row(Name(row["name"], names), *figures[:shown])
    return table
