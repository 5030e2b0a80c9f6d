"""The points of a sweep as a table that fits its terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from xdsl_tpu.tools.names import Name, in_bytes
from xdsl_tpu.tools.sweep.grid import Grid, short_name
from xdsl_tpu.tools.sweep.point import Point
from xdsl_tpu.tools.sweep.results import Result

FIGURES = ("cycles", "ratio", "gap", "ms", "TIU busy", "GDMA busy", "moved")
FEWEST = 3
"""So many of the figures are shown however narrow the terminal is."""


def points_table(grid: Grid, rows: Sequence[tuple[Point, Result]], console: Console) -> Table:
    """A row for each point, with as many of `FIGURES` as the console has room for.

    The ratio is to the model's first point that succeeded. All figures are in `sweep.csv`.
    """
    tables = (_table(grid, rows, count) for count in range(len(FIGURES), FEWEST - 1, -1))
    folded = _table(grid, rows, FEWEST, whole=False)
    room = console.options.update(width=1 << 16)  # measures what a table takes, not what there is
    fits = (one for one in tables if Measurement.get(console, room, one).minimum <= console.width)
    return next(fits, folded)


def _table(
    grid: Grid, rows: Sequence[tuple[Point, Result]], count: int, whole: bool = True
) -> Table:
    """The first `count` figures; what a column has no room for is folded unless `whole`."""
    headers = ["format", *(short_name(key) for key in grid), *FIGURES[:count]]
    names = [point.model for point, _ in rows]
    first: dict[str, int] = {}
    cells: list[list[str]] = []
    for point, result in rows:
        done = result["status"] == "done"
        figures = [*_figures(result, first, point.model)] if done else ["failed"]
        figures = [*figures, *[""] * count][:count]
        cells.append([point.quantize, *(str(value) for _, value in point.changes), *figures])
    table = Table()
    table.add_column("model", overflow="fold", min_width=len("model"))
    for index, name in enumerate(headers):
        table.add_column(
            name,
            justify="right" if index >= len(headers) - count else "left",
            no_wrap=whole,
            overflow="fold",
            # Rich measures words, whether or not they may be parted.
            min_width=max(len(row[index]) for row in (headers, *cells)) if whole else None,
        )
    for name, row in zip(names, cells, strict=True):
        table.add_row(Name(name, names) if whole else name, *row)
    return table


def _figures(result: Result, first: dict[str, int], model: str) -> Iterator[str]:
    cycles = result["cycles"]
    yield f"{cycles:,}"
    yield f"{cycles / first.setdefault(model, cycles):.2f}"
    yield f"{result['gap']:.2f}"
    yield f"{result['milliseconds']:.3f}"
    yield from (f"{result[engine]['busy_cycles'] / cycles:.0%}" for engine in ("bdc", "gdma"))
    yield in_bytes(sum(result["gdma"]["bytes"].values()))
