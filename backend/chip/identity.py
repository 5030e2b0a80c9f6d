"""Which chip a program is for: the figures that its commands and data were made with.

A program holds lane numbers, addresses, and filters in blocks as wide as the array, so on a chip
with other figures its numbers are garbage. Figures that only say how long commands take change no
value: running a program with other rates is a question about the chip that may be asked.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeAlias

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.errors import TpuError

Figures: TypeAlias = Mapping[str, Any]
"""The fields of a chip by name, as JSON has them; its name is not among them."""

RATES = frozenset(
    {
        "broadcast_row_bytes",
        "clock_hertz",
        "copy_bytes_per_cycle",
        "copy_start_cycles",
        "cube_outputs",
        "ddr_channel_window_bytes",
        "ddr_channels",
        "ddr_interleave_bytes",
        "ddr_row_bytes",
        "gather_bytes_per_cycle",
        "load_bytes_per_cycle",
        "load_start_cycles",
        "store_bytes_per_cycle",
        "store_start_cycles",
        "tensor_derate",
        "transpose_share",
    }
)
"""Figures that only timing asks for."""

CAPACITY = frozenset({"cores", "ddr_bytes", "io_base", "io_base_in_files"})
"""Figures that may be others as long as the program fits, which is checked by itself: a program
says where its inputs and outputs are."""

_SHOWN = 4
"""Differences that a message lists."""


def figures_of(chip: Chip) -> dict[str, Any]:
    """What a program notes about its chip: plain values, dictionaries keyed by text.

    What is as it is for most chips, a figure's default, is left out.
    """
    figures: dict[str, Any] = json.loads(json.dumps(asdict(chip), sort_keys=True))
    del figures["name"]
    usual: dict[str, Any] = {one.name: one.default for one in fields(chip)}
    usual |= {"static_tiu_base": chip.static_base, "io_bases": []}
    return {key: value for key, value in figures.items() if value != usual[key]}


def fingerprint(figures: Figures) -> str:
    """SHA-256 of the figures, whatever their order."""
    return hashlib.sha256(json.dumps(figures, sort_keys=True).encode()).hexdigest()


def check_same_layout(noted: Figures, chip: Chip, assumed: str = "") -> None:
    """Raise TpuError when a program made for `noted` means something else on `chip`.

    `assumed` says in words why a program without a note is taken to be for that chip.
    """
    found = [line for key, line in _differences(noted, chip) if key not in RATES | CAPACITY]
    if not found:
        return
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise TpuError(
        f"the program is for another chip than this {chip.name}: {'; '.join(found[:_SHOWN])}{more}"
        f"{assumed}. Run it with the description that it was compiled for (--chip), or compile it "
        "for this one"
    )


def other_rates(noted: Figures, chip: Chip) -> list[str]:
    """The figures that change times only and differ, in words."""
    return [line for key, line in _differences(noted, chip) if key in RATES]


def _differences(noted: Figures, chip: Chip) -> list[tuple[str, str]]:
    """Key and words of each figure that differs, in the order of the description."""
    here = figures_of(chip)
    return [
        (key, f"{key} is {_shown(noted.get(key))} there, {_shown(here.get(key))} here")
        for key in dict.fromkeys([*here, *noted])
        if noted.get(key) != here.get(key)
    ]


def _shown(value: Any) -> str:
    return "not given" if value is None else str(value)
