"""What the kinds of ops and the blocks of a network cost together."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl_tpu.backend.report.blocks import block_of

Row = Mapping[str, Any]
_SUMMED = ("cycles", "bdc_cycles", "gdma_cycles", "critical_cycles", "macs")


def totals(layers: Sequence[Row]) -> dict[str, list[dict[str, Any]]]:
    """`ops` and `blocks` of a report's layers, the most expensive first."""
    return {
        "ops": _grouped(layers, lambda row: row["op"]),
        "blocks": _grouped(layers, lambda row: block_of(row["name"])),
    }


def _grouped(layers: Sequence[Row], key: Callable[[Row], str]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in layers:
        name = key(row)
        one = found.setdefault(name, {"name": name, "layers": 0, **dict.fromkeys(_SUMMED, 0)})
        one["layers"] += 1
        for column in _SUMMED:
            one[column] += row[column]
    return sorted(found.values(), key=lambda one: -one["cycles"])
