"""How far the cycle estimate is from silicon: a range, from published measurements.

The estimate of `backend/timing` is the vendor's: it knows no latency of memory and no contention.
What it misses is not modelled here. `hardware.toml` says by which factors measured times differ
from estimates, and `hardware_range` applies them. Nothing else reads these factors.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.program import Program

DATA = Path(__file__).with_name("hardware.toml")
"""Written by `benchmarks/hardware.py`."""

CNN, TRANSFORMER = "cnn", "transformer"
_ATTENTION_OPS = frozenset({"tpu.Softmax", "tpu.LayerNorm"})


@dataclass(frozen=True, slots=True)
class HardwareRange:
    """Measured times of comparable programs, scaled to one program: cycles at the chip's clock.

    `rows` measurements of `networks` are behind it; `scope` says which: a precision and a family,
    a precision, or all of them when there are too few of those. `wanted` is the kind of program
    that it was asked for: where the two differ, nobody has published times of that kind.
    """

    low: float
    median: float
    high: float
    rows: int
    networks: tuple[str, ...]
    scope: str
    wanted: str

    @property
    def borrowed(self) -> bool:
        """Whether the measurements are of other kinds of programs, too."""
        return self.scope != self.wanted

    @property
    def words(self) -> str:
        """What is behind the range, in words."""
        networks = f"{self.rows} rows of {len(self.networks)} network"
        networks += "s" if len(self.networks) > 1 else ""
        if not self.borrowed:
            return f"published measurements of {self.scope}: {networks}"
        return f"none published of {self.wanted}; of {self.scope}: {networks}"


@dataclass(frozen=True, slots=True)
class RatioGroup:
    """Measured over estimated time of one kind of program; an empty key stands for all."""

    precision: str
    family: str
    low: float
    median: float
    high: float
    rows: int
    networks: tuple[str, ...]

    @property
    def scope(self) -> str:
        """The kind of program in words."""
        return " ".join(filter(None, (self.precision, self.family))) or "all formats and families"


@cache
def ratio_groups() -> tuple[tuple[RatioGroup, ...], int]:
    """The groups of `hardware.toml`, and how many rows one needs to be used by itself."""
    data: dict[str, Any] = tomllib.loads(DATA.read_text(encoding="utf-8"))
    tables: list[dict[str, Any]] = data["group"]
    groups = (RatioGroup(networks=tuple(table.pop("networks")), **table) for table in tables)
    return tuple(groups), data["fewest_rows"]


def hardware_range(cycles: int, precision: str, family: str | None) -> HardwareRange:
    """What `cycles` of the estimate come to on silicon, by published measurements.

    `precision` is as in the IR (F16, F32, INT8, ..), `family` is `cnn`, `transformer` or None when
    unknown. With fewer than three measurements of that precision and family those of the precision
    count, and with fewer than three of these all do.
    """
    groups, fewest = ratio_groups()
    by_key = {(group.precision, group.family): group for group in groups}
    keys = ((precision, family or ""), (precision, ""))
    found = (by_key[key] for key in keys if key in by_key and by_key[key].rows >= fewest)
    group = next(found, by_key["", ""])
    low, median, high = (cycles * ratio for ratio in (group.low, group.median, group.high))
    wanted = " ".join(filter(None, (precision, family or "networks of its kind")))
    return HardwareRange(low, median, high, group.rows, group.networks, group.scope, wanted)


def family_of(ops: Collection[str]) -> str | None:
    """The family of a network by the names of its ops.

    One with both softmax and layer norm is a transformer (a ConvNeXt has only layer norms, a
    ResNet may end in a softmax); else one with convolutions is a CNN.
    """
    if _ATTENTION_OPS.issubset(ops):
        return TRANSFORMER
    return CNN if "tpu.Conv2D" in ops else None


def program_range(program: Program, chip: Chip, cycles: int) -> HardwareRange | None:
    """The range for a program; None when the chip is not the one that was measured."""
    if chip != load_chip("bm1684x"):
        return None
    family = family_of({layer.op for layer in program.layers})
    return hardware_range(cycles, program.quantize, family)
