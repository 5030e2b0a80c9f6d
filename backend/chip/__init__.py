"""Facts about a chip, read from a TOML file: no room asks for a chip by name.

The numbers of `bm1684x.toml` come from docs/hardware/machine.md and docs/hardware/cycles.md, those
of `bm1688.toml` from docs/hardware/bm1688.md; another file with the same keys describes another
chip with an instruction set that is known.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, cast

from xdsl_tpu.backend.isa.codes import ELEMENT_BYTES, Precision
from xdsl_tpu.backend.isa.instruction_set import (
    InstructionSet,
    known_instruction_sets,
    load_instruction_set,
)
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.lanes import Lanes

CHIPS = Path(__file__).parent
_WIDEST_ELEMENT = 4  # bytes
_RATE = (int, float)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "instruction_set": str,
    "tensor_derate": float,
    "transpose_share": float,
    "load_bytes_per_cycle": _RATE,
    "store_bytes_per_cycle": _RATE,
    "copy_bytes_per_cycle": _RATE,
    "gather_bytes_per_cycle": _RATE,
}
_MAY_BE_NOTHING = {
    "arena_base",
    "broadcast_row_bytes",
    "copy_start_cycles",
    "io_base",
    "io_base_in_files",
    "l2_base",
    "l2_bytes",
    "load_start_cycles",
    "local_base",
    "static_tiu_base",
    "store_start_cycles",
}
"""Figures that may be 0."""


@dataclass(frozen=True)
class Chip:
    """Facts about one chip; units are in the names or the field comments."""

    name: str
    instruction_set: str  # the name of its command forms and lowering rules
    lanes: int
    eu_bytes: int  # per lane and cycle
    local_bytes: int  # per lane
    banks: int
    local_base: int
    static_bytes: int
    static_base: int
    l2_bytes: int
    l2_base: int
    ddr_base: int
    ddr_bytes: int
    ddr_row_bytes: int
    ddr_channels: int
    ddr_interleave_bytes: int
    ddr_channel_window_bytes: int
    cube_channels: dict[int, int] = field(hash=False)  # operand bytes -> input channels per cycle
    cube_outputs: dict[int, int] = field(hash=False)  # bytes -> outputs per lane and cycle
    load_bytes_per_cycle: float
    store_bytes_per_cycle: float
    copy_bytes_per_cycle: float
    gather_bytes_per_cycle: float
    tensor_derate: float
    transpose_share: float
    clock_hertz: int
    static_tiu_base: int  # of static memory as the TIU sees it
    arena_base: int = 0  # of activations; 0: behind the coefficients, which begin at `ddr_base`
    io_base: int = 0  # of inputs and outputs that lie all together; 0: behind the coefficients
    io_base_in_files: int = 0  # what files call that address; 0: the same
    io_bases: tuple[int, ...] = ()  # of inputs and outputs, one each; without: in the arena
    load_start_cycles: int = 0  # of a transfer, before its first byte
    store_start_cycles: int = 0
    copy_start_cycles: int = 0  # also within local memory
    broadcast_row_bytes: int = 0  # as `ddr_row_bytes`, of loads to many lanes; 0: the same
    cores: int = 1  # each with lanes, local memory and engines of its own; they share DDR

    @cached_property
    def instructions(self) -> InstructionSet:
        """The commands it executes, with all that is declared of them."""
        return load_instruction_set(self.instruction_set)

    @cached_property
    def ddr_windows(self) -> tuple[int, ...]:
        """Where DDR is: the first addresses of windows, `ddr_bytes` long each, that name places of
        their own until a program is loaded."""
        return (self.ddr_base, *filter(None, (self.arena_base, self.io_base)), *self.io_bases)

    def in_ddr(self, address: int, size: int) -> bool:
        """Whether these bytes are all in one window of DDR."""
        return any(
            start <= address and address + size <= start + self.ddr_bytes
            for start in self.ddr_windows
        )

    @property
    def bank_bytes(self) -> int:
        """Bytes of one local-memory bank, per lane."""
        return self.local_bytes // self.banks

    @cached_property
    def lane_shift(self) -> int:
        """Bit position of the lane number in a local address."""
        return (self.local_bytes - 1).bit_length()

    @property
    def weight_lanes(self) -> Lanes:
        """What layouts of weights depend on."""
        words = self.instructions.requant_words
        return Lanes(self.lanes, self.eu_bytes, self.cube_channels[1], words)

    def eu(self, element_bytes: int) -> int:
        """Elements of `element_bytes` that one lane processes per cycle."""
        return self.eu_bytes // element_bytes

    def array_peak(self, width: int) -> int:
        """Multiply-accumulates per cycle of the whole array on operands of `width` bytes."""
        return self.lanes * self.cube_channels[width] * self.cube_outputs[width]

    def input_channels(self, code: int) -> int:
        """Input channels that the matrix unit multiplies per cycle, by precision code.

        Those of int4 are documented as the block width of its filters: twice those of int8.
        """
        if code == Precision.I4:
            return 2 * self.cube_channels[1]
        return self.cube_channels[ELEMENT_BYTES[code]]

    def milliseconds(self, cycles: int) -> float:
        """Time of `cycles` at the chip's clock."""
        return cycles / self.clock_hertz * 1e3


class _Table(dict[str, Any]):
    """A table of a description, and those in it, that know what was asked for."""

    def __init__(self, table: Mapping[str, Any], name: str = "") -> None:
        self._name = name
        self._asked: set[str] = set()
        for key, value in table.items():
            inner = cast("dict[str, Any]", value)
            self[key] = _Table(inner, f"{name}{key}.") if isinstance(value, dict) else value

    def __getitem__(self, key: str) -> Any:
        self._asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """As that of a dictionary."""
        self._asked.add(key)
        return super().get(key, default)

    def not_asked_for(self) -> Iterator[str]:
        """What is wrong with keys that nobody reads: misspelt ones would be taken for left out."""
        for key, value in self.items():
            if key not in self._asked:
                near = get_close_matches(key, self._asked, 1)
                hint = f"; did you mean '{self._name}{near[0]}'?" if near else ""
                yield f"there is no key '{self._name}{key}' in a chip description{hint}"
            elif isinstance(value, _Table):
                yield from value.not_asked_for()


def _from_table(table: _Table) -> Chip:
    lanes, local, static = table["lanes"], table["local_memory"], table["static_memory"]
    ddr, cube, gdma = table["ddr"], table["cube"], table["gdma"]
    return Chip(
        name=table["name"],
        instruction_set=table["instruction_set"],
        lanes=lanes["count"],
        eu_bytes=lanes["eu_bytes"],
        local_bytes=local["bytes_per_lane"],
        banks=local["banks"],
        local_base=local["base"],
        static_bytes=static["bytes"],
        static_base=static["base"],
        l2_bytes=table["l2_sram"]["bytes"],
        l2_base=table["l2_sram"]["base"],
        ddr_base=ddr["base"],
        ddr_bytes=ddr["bytes"],
        ddr_row_bytes=ddr["row_bytes"],
        ddr_channels=ddr["channels"],
        ddr_interleave_bytes=ddr["interleave_bytes"],
        ddr_channel_window_bytes=ddr["channel_window_bytes"],
        cube_channels=_by_bytes(cube["input_channels"]),
        cube_outputs=_by_bytes(cube["outputs"]),
        load_bytes_per_cycle=gdma["load"],
        store_bytes_per_cycle=gdma["store"],
        copy_bytes_per_cycle=gdma["ddr_to_ddr"],
        gather_bytes_per_cycle=gdma["gather"],
        tensor_derate=gdma["tensor_derate"],
        transpose_share=gdma["transpose_share"],
        clock_hertz=table["clock"]["hertz"],
        static_tiu_base=static.get("tiu_base", static["base"]),
        arena_base=ddr.get("arena_base", 0),
        io_base=ddr.get("io_base", 0),
        io_base_in_files=ddr.get("io_base_in_files", 0),
        io_bases=tuple(ddr.get("io_bases", ())),
        load_start_cycles=gdma.get("load_start", 0),
        store_start_cycles=gdma.get("store_start", 0),
        copy_start_cycles=gdma.get("ddr_to_ddr_start", 0),
        broadcast_row_bytes=ddr.get("broadcast_row_bytes", 0),
        cores=table.get("cores", 1),
    )


def _by_bytes(figures: _Table) -> dict[int, int]:
    """Figures by the bytes of an element."""
    return {int(size): figures[size] for size in figures}


def known_chips() -> list[str]:
    """The names `load_chip` takes."""
    return sorted(path.stem for path in CHIPS.glob("*.toml"))


@cache
def load_chip(name: str = "bm1684x") -> Chip:
    """Read the chip called `name`, or the description in the TOML file at that path.

    Raises TpuError when there is no such chip, the file lacks a key or has one that says nothing,
    or a value cannot be.
    """
    path = Path(name) if name.endswith(".toml") else CHIPS / f"{name.lower()}.toml"
    if not path.is_file():
        raise TpuError(
            f"no chip '{name}': give one of {', '.join(known_chips())}, "
            "or the path of a .toml description"
        )
    try:
        table = _Table(tomllib.loads(path.read_text(encoding="utf-8")))
        chip = _from_table(table)
    except KeyError as missing:
        raise TpuError(f"{path}: the chip description lacks the key {missing}") from missing
    except (ValueError, TypeError) as error:  # UnicodeDecodeError and TOMLDecodeError, too
        raise TpuError(f"{path}: not a chip description: {error}") from error
    problem = next(chain(_problems(chip), table.not_asked_for()), None)
    if problem is not None:
        raise TpuError(f"{path}: {problem}")
    return chip


def _problems(chip: Chip) -> Iterator[str]:
    """What cannot be in a description."""
    for name, value in asdict(chip).items():
        values: list[Any] = [value]
        if isinstance(value, dict | tuple):
            values = [*(value.values() if isinstance(value, dict) else value)]
        kind = _KINDS.get(name, int)
        for number in values:
            if not isinstance(number, kind) or isinstance(number, bool):
                shown = kind if isinstance(kind, type) else kind[-1]
                yield f"{name} is {number!r}, not of type {shown.__name__}"
            elif isinstance(number, str):
                continue
            elif not math.isfinite(number) or number <= -(name in _MAY_BE_NOTHING):
                yield f"{name} is {number}; it must be above 0 and finite"
    if chip.local_bytes & (chip.local_bytes - 1):
        yield f"bytes_per_lane is {chip.local_bytes}, no power of two: lanes are address bits"
    if chip.eu_bytes % _WIDEST_ELEMENT or chip.local_bytes % chip.eu_bytes:
        yield (
            f"eu_bytes is {chip.eu_bytes}; it must be a multiple of {_WIDEST_ELEMENT} "
            f"that divides bytes_per_lane ({chip.local_bytes})"
        )
    if chip.local_bytes % chip.banks:
        yield f"banks is {chip.banks}; it must divide bytes_per_lane ({chip.local_bytes})"
    for name in ("cube_channels", "cube_outputs"):
        if missing := {1, 2, _WIDEST_ELEMENT} - getattr(chip, name).keys():
            yield f"{name} has no figure for operands of {min(missing)} bytes"
    yield from _overlaps(chip)
    if chip.instruction_set not in known_instruction_sets():
        known = ", ".join(known_instruction_sets())
        yield f"instruction_set is '{chip.instruction_set}'; known: {known}"
    one, two, four = (chip.cube_channels.get(size) for size in (1, 2, _WIDEST_ELEMENT))
    if (one, four) != (2 * (two or 0), 1):
        yield (
            f"cube input_channels are {chip.cube_channels}: those of 16 bits must be half of those "
            "of 8, of 32 bits 1, as filters are laid out"
        )


def _overlaps(chip: Chip) -> Iterator[str]:
    """Memories that share addresses."""
    memories = sorted(
        (
            (chip.local_base, chip.lanes * chip.local_bytes, "local memory"),
            (chip.static_base, chip.static_bytes, "static memory"),
            (chip.l2_base, chip.l2_bytes, "L2 memory"),
            *((start, chip.ddr_bytes, "DDR") for start in chip.ddr_windows),
        )
    )
    for (base, size, name), (next_base, _, next_name) in pairwise(memories):
        if base + size > next_base:
            yield (
                f"the {name} ends at {base + size:#x}, the {next_name} begins at {next_base:#x}: "
                f"give the {next_name} another base"
            )
