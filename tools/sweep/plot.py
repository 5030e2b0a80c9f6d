"""Cycles of a sweep over its first figure, and how many times the floor they are, as a picture."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.files import write_bytes
from xdsl_tpu.tools.sweep.grid import Grid, short_name
from xdsl_tpu.tools.sweep.point import Point
from xdsl_tpu.tools.sweep.results import Result

SHOWN: dict[str, Callable[[Result], float]] = {
    "thousand cycles": lambda result: result["cycles"] / 1e3,
    "gap: cycles over the floor": lambda result: result["gap"],
}
"""What is drawn of every point, in words, and how it is read."""

FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Raise TpuError before any work when a plot could not be written."""
    if path.suffix.lower() not in FORMATS:
        raise TpuError(f"{path}: a plot is one of {', '.join(FORMATS)}")
    try:
        import_module("matplotlib")
    except ImportError:
        raise TpuError(
            "--plot needs matplotlib: install the extra 'plots' (pip install 'xdsl-tpu[plots]')"
        ) from None


def plot(path: Path, grid: Grid, rows: Sequence[tuple[Point, Result]]) -> None:
    """Write `draw` in the format that the path's suffix names."""
    figure, kind = draw(grid, rows), path.suffix[1:].lower()
    write_bytes(path, lambda stream: figure.savefig(stream, format=kind, dpi=120))


def draw(grid: Grid, rows: Sequence[tuple[Point, Result]]) -> Any:
    """A figure with two panels per model, cycles and gap; x is the grid's first key, a line for
    each choice of the others. Without a grid there is a bar for each number format."""
    from matplotlib.figure import Figure

    done = [(point, result) for point, result in rows if result["status"] == "done"]
    models = list(dict.fromkeys(point.model for point, _ in done)) or [""]
    figure: Any = Figure(figsize=(10, 4 * len(models)), layout="constrained")
    panels: Any = figure.subplots(len(models), len(SHOWN), squeeze=False)
    for line, model in zip(panels, models, strict=True):
        of_model = [row for row in done if row[0].model == model]
        for panel, (words, value) in zip(line, SHOWN.items(), strict=True):
            panel.set_title(model)
            panel.set_ylabel(words)
            _panel(panel, grid, of_model, value)
    return figure


def _panel(
    panel: Any,
    grid: Grid,
    rows: Sequence[tuple[Point, Result]],
    value: Callable[[Result], float],
) -> None:
    if not grid:
        panel.bar([p.quantize for p, _ in rows], [value(r) for _, r in rows])
        return
    key = next(iter(grid))
    lines: dict[str, list[tuple[float, float]]] = {}
    for point, result in rows:
        changes = dict(point.changes)
        label = " ".join(
            (point.quantize, *(f"{short_name(k)}={v}" for k, v in changes.items() if k != key))
        )
        lines.setdefault(label, []).append((changes[key], value(result)))
    for label, values in lines.items():
        panel.plot(*zip(*sorted(values), strict=True), marker="o", label=label)
    panel.set_ylim(bottom=0)  # only now: a limit that is set stops the fitting to the lines
    panel.set_xlabel(short_name(key))
    panel.set_xticks(sorted({x for values in lines.values() for x, _ in values}))
    if lines:
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14)}
        panel.legend(fontsize="small", ncols=2, **below)
