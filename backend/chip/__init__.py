"""Facts about a chip, read from a TOML file: no room asks for a chip by name.

Every number of `bm1684x.toml` comes from docs/hardware/machine.md and docs/hardware/cycles.md;
another file with the same keys describes another chip with the same instruction set.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

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
_KINDS = {"name": str, "instruction_set": str, "tensor_derate": float, "transpose_share": float}


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
    load_bytes_per_cycle: int
    store_bytes_per_cycle: int
    copy_bytes_per_cycle: int
    gather_bytes_per_cycle: int
    tensor_derate: float
    transpose_share: float
    clock_hertz: int

    @cached_property
    def instructions(self) -> InstructionSet:
        """The commands it executes, with all that is declared of them."""
        return load_instruction_set(self.instruction_set)

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
        return Lanes(self.lanes, self.eu_bytes, self.cube_channels[1])

    def eu(self, element_bytes: int) -> int:
        """Elements of `element_bytes` that one lane processes per cycle."""
        return self.eu_bytes // element_bytes

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


def _from_table(table: dict[str, Any]) -> Chip:
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
        cube_channels={int(k): v for k, v in cube["input_channels"].items()},
        cube_outputs={int(k): v for k, v in cube["outputs"].items()},
        load_bytes_per_cycle=gdma["load"],
        store_bytes_per_cycle=gdma["store"],
        copy_bytes_per_cycle=gdma["ddr_to_ddr"],
        gather_bytes_per_cycle=gdma["gather"],
        tensor_derate=gdma["tensor_derate"],
        transpose_share=gdma["transpose_share"],
        clock_hertz=table["clock"]["hertz"],
    )


def known_chips() -> list[str]:
    """The names `load_chip` takes."""
    return sorted(path.stem for path in CHIPS.glob("*.toml"))


@cache
def load_chip(name: str = "bm1684x") -> Chip:
    """Read the chip called `name`, or the description in the TOML file at that path.

    Raises TpuError when there is no such chip, the file lacks a key or a value cannot be.
    """
    path = Path(name) if name.endswith(".toml") else CHIPS / f"{name.lower()}.toml"
    if not path.is_file():
        raise TpuError(
            f"no chip '{name}': give one of {', '.join(known_chips())}, "
            "or the path of a .toml description"
        )
    try:
        chip = _from_table(tomllib.loads(path.read_text(encoding="utf-8")))
    except KeyError as missing:
        raise TpuError(f"{path}: the chip description lacks the key {missing}") from missing
    except (ValueError, TypeError) as error:  # UnicodeDecodeError and TOMLDecodeError, too
        raise TpuError(f"{path}: not a chip description: {error}") from error
    problem = next(_problems(chip, shipped=path.parent == CHIPS), None)
    if problem is not None:
        raise TpuError(f"{path}: {problem}")
    return chip


def _problems(chip: Chip, shipped: bool) -> Iterator[str]:
    """What cannot be in a description."""
    for name, value in asdict(chip).items():
        values: list[Any] = [*value.values()] if isinstance(value, dict) else [value]
        kind = _KINDS.get(name, int)
        for number in values:
            if not isinstance(number, kind):
                yield f"{name} is {number!r}, not of type {kind.__name__}"
            elif not isinstance(number, str) and number <= 0:
                yield f"{name} is {number}; it must be above 0"
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
    elif not shipped:
        channels = load_chip(chip.instruction_set).cube_channels
        if chip.cube_channels != channels:
            yield f"cube input_channels must be {channels}: filters are laid out for them"


def _overlaps(chip: Chip) -> Iterator[str]:
    """Memories that share addresses."""
    memories = sorted(
        (
            (chip.local_base, chip.lanes * chip.local_bytes, "local memory"),
            (chip.static_base, chip.static_bytes, "static memory"),
            (chip.l2_base, chip.l2_bytes, "L2 memory"),
            (chip.ddr_base, chip.ddr_bytes, "DDR"),
        )
    )
    for (base, size, name), (next_base, _, next_name) in pairwise(memories):
        if base + size > next_base:
            yield f"the {name} ends at {base + size:#x}, the {next_name} begins at {next_base:#x}"
