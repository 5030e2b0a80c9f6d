"""The report of one run, as plain values."""

import math
from collections.abc import Mapping
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.compare import Closeness
from xdsl_tpu.backend.timing import Direction, Timeline

_DIRECTIONS = (Direction.LOAD, Direction.STORE, Direction.COPY)


def run_report(
    program: Program,
    chip: Chip,
    timeline: Timeline,
    comparison: tuple[str, Mapping[str, Closeness]] | None,
    wall_seconds: Mapping[str, float],
) -> dict[str, Any]:
    """What `report.json` holds. Instruction counts leave out the two end markers."""
    compared = None
    if comparison is not None:
        reference, tensors = comparison
        figures = {name: _finite(close.as_dict()) for name, close in tensors.items()}
        compared = {"reference": reference, "tensors": figures}
    moved = {d.value: timeline.bytes_moved[d] for d in _DIRECTIONS}
    return {
        "model": program.name,
        "chip": chip.name,
        "quantize": program.quantize,
        "cycles": timeline.total,
        "milliseconds": round(chip.milliseconds(timeline.total), 6),
        "bdc": {
            "instructions": len(program.tiu) - 1,
            "busy_cycles": timeline.busy[Engine.TIU],
        },
        "gdma": {
            "instructions": len(program.gdma) - 1,
            "busy_cycles": timeline.busy[Engine.GDMA],
            "bytes": moved,
        },
        "outputs": {
            t.name: {"shape": list(t.shape), "dtype": t.dtype.label} for t in program.outputs
        },
        "comparison": compared,
        "wall_seconds": {stage: round(seconds, 3) for stage, seconds in wall_seconds.items()},
    }


def _finite(figures: dict[str, float]) -> dict[str, float | None]:
    """JSON has neither infinity (the noise ratio of equal tensors) nor NaN: both become null."""
    return {k: v if math.isfinite(v) else None for k, v in figures.items()}
