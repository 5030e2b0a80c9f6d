"""`tpu-sweep`: many compilations, over chips and number formats."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.pipelines import check_disabled
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.files import check_writable
from xdsl_tpu.tools.progress import counting
from xdsl_tpu.tools.sweep.grid import Grid, combinations, describe, parse_grid
from xdsl_tpu.tools.sweep.plot import check_plot, plot
from xdsl_tpu.tools.sweep.point import Files, Point, model_files
from xdsl_tpu.tools.sweep.results import Result, Store
from xdsl_tpu.tools.sweep.runners import run_locally, run_on_dask
from xdsl_tpu.tools.sweep_table import points_table
from xdsl_tpu.tools.tpu_sweep_arguments import arguments

INT8 = "INT8"


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 when a point failed, after all others have been done."""
    run(arguments(argv))


def run(args: argparse.Namespace) -> NoReturn:
    """Carry out a command line that has been read, and exit as `main` does."""
    sys.exit(guarded(lambda: _run(args), show_traceback=args.debug))


def _run(args: argparse.Namespace) -> None:
    check_disabled(args.disable_pass)
    grid = parse_grid(args.chip_grid, args.chip)
    if args.plot is not None:
        check_plot(args.plot)
        check_writable(args.plot)
    files = _files(args.models, args.calibration_table)
    points = _points(args, grid)
    store = Store(args.output)
    keyed = {point.key(files[point.model]): point for point in points}
    for point in points:
        store.save_chip(point)
    results = {} if args.fresh else _finished(store, keyed)
    console = Console(stderr=True, quiet=args.quiet)
    if results:
        console.print(f"{len(results)} of {len(keyed)} points are done already", highlight=False)
    work = [(key, point) for key, point in keyed.items() if key not in results]
    _compute(args, work, files, store, results, console)
    rows = [(point, results[key]) for key, point in keyed.items()]
    store.summarise(rows)
    if args.plot is not None:
        plot(args.plot, grid, rows)
    if not args.quiet:
        _print(grid, rows, args.output)
    failed = [(point, result) for point, result in rows if result["status"] == "failed"]
    if failed:
        lines = [f"{point.label()}: {result['error']}" for point, result in failed]
        raise TpuError(f"{len(failed)} of {len(rows)} points failed\n  " + "\n  ".join(lines))


def _files(models: Sequence[Path], table: Path | None) -> dict[str, Files]:
    files: dict[str, Files] = {}
    for model in models:
        if model.name in files:
            raise TpuError(f"{model}: another model has the same file name; rename one")
        files[model.name] = model_files(model, table)
    return files


def _points(args: argparse.Namespace, grid: Grid) -> list[Point]:
    chips = [(tuple(c.items()), describe(args.chip, c)) for c in combinations(grid)]
    name = None if args.calibration_table is None else args.calibration_table.name
    tables = {quantize: name if quantize == INT8 else None for quantize in args.quantize}
    return [
        Point(model.name, quantize, changes, chip, tables[quantize], tuple(args.disable_pass))
        for model in args.models
        for quantize in args.quantize
        for changes, chip in chips
    ]


def _finished(store: Store, keyed: dict[str, Point]) -> dict[str, Result]:
    """Points that need no work; failed ones are tried again."""
    known = {key: store.load(key) for key in keyed}
    return {
        key: result
        for key, result in known.items()
        # A folder of an older version has points without some figures.
        if result and result["status"] == "done" and "gap" in result
    }


def _compute(
    args: argparse.Namespace,
    work: Sequence[tuple[str, Point]],
    files: dict[str, Files],
    store: Store,
    results: dict[str, Result],
    console: Console,
) -> None:
    if not work:
        return
    keyed = dict(work)
    run = (
        run_locally(work, files, args.jobs)
        if args.scheduler is None
        else run_on_dask(work, files, args.scheduler)
    )
    with counting(console, "compiling", len(work)) as advance:
        for key, result in run:
            results[key] = result
            store.save(key, keyed[key], result)
            advance()


def _print(grid: Grid, rows: Sequence[tuple[Point, Result]], folder: Path) -> None:
    console = Console()
    console.print(points_table(grid, rows, console))
    console.print(f"written to {folder}", highlight=False)
