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
from xdsl_tpu.backend.report.usage import floor, usage
from xdsl_tpu.backend.timing import Timeline, simulate_program


def run_report(
    program: Program,
    chip: Chip,
    timeline: Timeline,
    comparison: tuple[str, Mapping[str, Closeness]] | None,
    wall_seconds: Mapping[str, float],
    others: Sequence[Timeline] = (),
) -> dict[str, Any]:
    """What `report.json` holds. Instruction counts leave out the two end markers.

    Of a program for several cores all figures are the first one's but for `cores`, which has those
    of each, and `ddr_shared`, the cycles if they share the bandwidth of DDR; `others` are the
    timelines behind the first.

    How many numbers of an output are not finite is None: nobody has looked.
    """
    compared = None
    if comparison is not None:
        reference, tensors = comparison
        figures = {name: close.as_dict() for name, close in tensors.items()}
        compared = {"reference": reference, "tensors": figures}
    moved = {d.value: timeline.bytes_moved[d] for d in REPORTED}
    rows = [row.as_dict() for row in layer_rows(program, timeline, chip)]
    use = local_use(program, timeline, chip)
    return {
        "model": program.name,
        "chip": chip.name,
        "quantize": program.quantize,
        "cycles": timeline.total,
        "milliseconds": round(chip.milliseconds(timeline.total), 6),
        "floor": asdict(floor(program, timeline, chip)),
        **_several(program, chip, [timeline, *others]),
        "on_silicon": milliseconds(kind_of(program), chip, timeline.total),
        "usage": asdict(usage(timeline)),
        "bdc": {
            "instructions": len(program.tiu) - 1,
            "busy_cycles": timeline.busy[Engine.TIU],
            "macs": sum(row["macs"] for row in rows),
        },
        "gdma": {
            "instructions": len(program.gdma) - 1,
            "busy_cycles": timeline.busy[Engine.GDMA],
            "bytes": moved,
        },
        "local_memory": {
            "bytes_per_lane": chip.local_bytes,
            "peak": max(use.bytes, default=0),
            "mean": round(byte_cycles(use) / max(1, timeline.total), 3),
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


def _several(program: Program, chip: Chip, cores: Sequence[Timeline]) -> dict[str, Any]:
    """What each core does, of programs for several."""
    if len(cores) == 1:
        return {}
    figures = [
        {
            "bdc": {"instructions": len(core.tiu) - 1, "busy_cycles": line.busy[Engine.TIU]},
            "gdma": {
                "instructions": len(core.gdma) - 1,
                "busy_cycles": line.busy[Engine.GDMA],
                "bytes": {d.value: line.bytes_moved[d] for d in REPORTED},
            },
        }
        for core, line in zip(program.cores, cores, strict=True)
    ]
    return {"cores": figures, "ddr_shared": simulate_program(program, chip, "shared")[0].total}
