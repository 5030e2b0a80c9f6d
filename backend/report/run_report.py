"""The report of one run, as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.estimate import kind_of, milliseconds
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.compare import Closeness
from xdsl_tpu.backend.report.layers import REPORTED, layer_rows
from xdsl_tpu.backend.report.local_use import byte_cycles, local_use
from xdsl_tpu.backend.report.totals import totals
from xdsl_tpu.backend.report.usage import core_usage, floor, usage
from xdsl_tpu.backend.timing import Ddr, Timeline, simulate_program


def run_report(
    program: Program,
    chip: Chip,
    timelines: Sequence[Timeline],
    comparison: tuple[str, Mapping[str, Closeness]] | None,
    wall_seconds: Mapping[str, float],
    ddr: Ddr = "each",
) -> dict[str, Any]:
    """What `report.json` holds. Instruction counts leave out the two end markers.

    `timelines` has one for each core. Counts, bytes and cycles of engines are those of all cores
    together, `usage` and the use of local memory means. `cores` has the figures of each; `ddr` says
    what the timelines go by, `ddr_each` and `ddr_shared` are the cycles with either.

    How many numbers of an output are not finite is None: nobody has looked.
    """
    compared = None
    if comparison is not None:
        reference, tensors = comparison
        figures = {name: close.as_dict() for name, close in tensors.items()}
        compared = {"reference": reference, "tensors": figures}
    total = timelines[0].total
    figures = [
        _figures(core, line, chip) for core, line in zip(program.cores, timelines, strict=True)
    ]
    rows = [row.as_dict() for row in layer_rows(program, timelines, chip)]
    return {
        "model": program.name,
        "chip": chip.name,
        "quantize": program.quantize,
        "cycles": total,
        "milliseconds": round(chip.milliseconds(total), 6),
        "floor": asdict(floor(program, timelines, chip)),
        **_several(program, chip, timelines, figures, ddr),
        "on_silicon": milliseconds(kind_of(program), chip, total),
        "usage": asdict(usage(timelines)),
        "bdc": _sum([one["bdc"] for one in figures]) | {"macs": sum(row["macs"] for row in rows)},
        "gdma": _sum([one["gdma"] for one in figures]),
        "local_memory": {
            "bytes_per_lane": chip.local_bytes,
            "peak": max(one["local_memory"]["peak"] for one in figures),
            "mean": round(sum(one["local_memory"]["mean"] for one in figures) / len(figures), 3),
        },
        "outputs": {
            t.name: {"shape": list(t.shape), "dtype": t.dtype.label, "not_finite": None}
            for t in program.outputs
        },
        "comparison": compared,
        "wall_seconds": {stage: round(seconds, 3) for stage, seconds in wall_seconds.items()},
        "totals": totals(rows),
        "layers": rows,
    }


def _figures(core: Program, timeline: Timeline, chip: Chip) -> dict[str, Any]:
    """What one core does."""
    use = local_use(core, timeline, chip)
    return {
        "bdc": {"instructions": len(core.tiu) - 1, "busy_cycles": timeline.busy[Engine.TIU]},
        "gdma": {
            "instructions": len(core.gdma) - 1,
            "busy_cycles": timeline.busy[Engine.GDMA],
            "bytes": {d.value: timeline.bytes_moved[d] for d in REPORTED},
        },
        "usage": asdict(core_usage(timeline)),
        "local_memory": {
            "peak": max(use.bytes, default=0),
            "mean": round(byte_cycles(use) / max(1, timeline.total), 3),
        },
    }


def _sum(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures with the same keys, added up."""
    return {
        key: _sum([one[key] for one in parts])
        if isinstance(value, dict)
        else sum(one[key] for one in parts)
        for key, value in parts[0].items()
    }


def _several(
    program: Program,
    chip: Chip,
    timelines: Sequence[Timeline],
    figures: Sequence[Mapping[str, Any]],
    ddr: Ddr,
) -> dict[str, Any]:
    """What each core does, of programs for several, and what DDR makes of it."""
    if len(timelines) == 1:
        return {}
    other: Ddr = "shared" if ddr == "each" else "each"
    totals = {ddr: timelines[0].total, other: simulate_program(program, chip, other)[0].total}
    return {
        "cores": list(figures),
        "ddr": ddr,
        "ddr_each": totals["each"],
        "ddr_shared": totals["shared"],
    }
