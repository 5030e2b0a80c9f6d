"""How far the cycle estimate is from silicon: a range, from published measurements.

The estimate of `backend/timing` is the vendor's: it knows no latency of memory and no contention.
What it misses is not modelled here. `hardware.toml` says by which factors measured times differ
from estimates, for each kind of program of which times were published, and `hardware_range` applies
them. No kind borrows another's factors. Nothing else reads them.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.estimate.families import family_of
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.packed_weights import floats_of

DATA = Path(__file__).with_name("hardware.toml")
"""Written by `benchmarks/hardware.py`."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of program: `precision` as in the IR (F16, F32, INT8, ..), or W8 or W4 for packed
    matrices of language models; `family` as in `families.py`, None when unknown."""

    precision: str
    family: str | None

    @property
    def words(self) -> str:
        """For people and for JSON."""
        return " ".join(filter(None, (self.precision, self.family or "networks of its kind")))


@dataclass(frozen=True, slots=True)
class HardwareRange:
    """Measured times of programs of one kind, scaled to one program: cycles at the chip's clock.

    `rows` measurements of `networks` are behind it.
    """

    low: float
    median: float
    high: float
    rows: int
    networks: tuple[str, ...]
    kind: str

    @property
    def words(self) -> str:
        """What is behind the range, in words."""
        return f"published measurements of {self.kind}: {_counted(self.rows, self.networks)}"


@dataclass(frozen=True, slots=True)
class RatioGroup:
    """Measured over estimated time of one kind of program."""

    precision: str
    family: str
    low: float
    median: float
    high: float
    rows: int
    networks: tuple[str, ...]


@cache
def ratio_groups() -> tuple[tuple[RatioGroup, ...], int]:
    """The groups of `hardware.toml`, and how many rows one needs to be used."""
    data: dict[str, Any] = tomllib.loads(DATA.read_text(encoding="utf-8"))
    tables: list[dict[str, Any]] = data["group"]
    groups = (RatioGroup(networks=tuple(table.pop("networks")), **table) for table in tables)
    return tuple(groups), data["fewest_rows"]


def _group(kind: Kind) -> RatioGroup | None:
    found = (one for one in ratio_groups()[0] if (one.precision, one.family) == _key(kind))
    return next(found, None)


def _key(kind: Kind) -> tuple[str, str | None]:
    return kind.precision, kind.family


def hardware_range(cycles: int, kind: Kind) -> HardwareRange | None:
    """What `cycles` of the estimate come to on silicon, by published measurements of programs of
    this kind; None where there are fewer than three."""
    group = _group(kind)
    if group is None or group.rows < ratio_groups()[1]:
        return None
    low, median, high = (cycles * ratio for ratio in (group.low, group.median, group.high))
    return HardwareRange(low, median, high, group.rows, group.networks, kind.words)


def why_none(kind: Kind) -> str:
    """In words, why there is no range for programs of this kind."""
    group = _group(kind)
    if group is None:
        return f"not known: nobody published times of {kind.words} that can be compared"
    few = _counted(group.rows, group.networks)
    return f"not known: too few comparable times of {kind.words} were published: {few}"


def _counted(rows: int, networks: Collection[str]) -> str:
    """`3 rows of 1 network`."""
    pairs = ((rows, "row"), (len(networks), "network"))
    return " of ".join(f"{count} {noun}{'s' if count > 1 else ''}" for count, noun in pairs)


def is_measured(chip: Chip) -> bool:
    """Whether the published times are of this chip."""
    return chip == load_chip("bm1684x")


def kind_of(program: Program) -> Kind:
    """The kind of a program that is a whole network. With packed matrices it is of no kind that was
    measured: those are nets of language models, which their manifest tells apart."""
    shapes = [[one.shape for one in tensors] for tensors in (program.inputs, program.outputs)]
    ops = {layer.op for layer in program.layers}
    if tpu.A16MatMulOp.name in ops:
        return Kind(f"{floats_of(program.quantize)} with packed matrices,", None)
    return Kind(program.quantize, family_of(ops, *shapes))


def program_range(program: Program, chip: Chip, cycles: int) -> HardwareRange | None:
    """The range for a program; None when nobody measured the chip, or published such programs."""
    return hardware_range(cycles, kind_of(program)) if is_measured(chip) else None


def milliseconds(kind: Kind, chip: Chip, cycles: int) -> dict[str, Any] | None:
    """The range for JSON, in milliseconds, and what is behind it.

    Its ends are None where too few times were published of the kind that is `wanted`; all of it is
    None for a chip that nobody measured.
    """
    if not is_measured(chip):
        return None
    found, group = hardware_range(cycles, kind), _group(kind)
    figures = (found.low, found.median, found.high) if found else (None,) * 3
    ends = (None if one is None else round(chip.milliseconds(round(one)), 6) for one in figures)
    return {
        **dict(zip(("low", "median", "high"), ends, strict=True)),
        "wanted": kind.words,
        "rows": group.rows if group else 0,
        "networks": list(group.networks) if group else [],
    }


def in_words(kind: Kind, chip: Chip, cycles: int) -> str:
    """The range in milliseconds, or why there is none; empty for a chip that nobody measured."""
    if not is_measured(chip):
        return ""
    found = hardware_range(cycles, kind)
    if found is None:
        return why_none(kind)
    low, high = (chip.milliseconds(round(end)) for end in (found.low, found.high))
    return f"{low:.3f} - {high:.3f} ms ({found.words})"
