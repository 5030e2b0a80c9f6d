"""Rows of the cycle data: one instruction of a real program with the vendor's estimate for it."""

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

from tests.bm1684x import FORMS

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.timing import tiu_cycles, transfer

Row = dict[str, str]


@dataclass(frozen=True)
class Estimate:
    """What our cycle model says of a row; `bytes` is None for TIU commands."""

    cycles: int
    bytes: int | None


def read(path: Path) -> list[Row]:
    """All rows of a `.csv.gz` file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def command_of(row: Row) -> Command:
    """The command that a row describes."""
    engine = Engine.TIU if row["engine"] == "BD" else Engine.GDMA
    name = row["op"].replace("&", "_s" if "TRANS" in row["op"] else "_")
    name = {"TRANS_sBC": "TRANS_BC"}.get(name, name)
    form = FORMS[f"s{name}" if engine is Engine.TIU else name]
    fields = {n: int(float(row[n])) for n in form.by_name if row.get(n)}
    fields |= {"cmd_id": int(row["cmd_id"]), "cmd_id_dep": int(row["dep_id"])}
    fields[form.function_field] = int(row["eu_type"])
    if engine is Engine.GDMA:
        for side in ("src", "dst"):
            address = int(row[f"{side}_addr"])
            fields[f"{side}_start_addr_l32"] = address & 0xFFFFFFFF
            fields[f"{side}_start_addr_h8"] = address >> 32
    return Command(form, fields)


def estimate(command: Command, chip: Chip) -> Estimate:
    """Cycles, and for the GDMA bytes, by our cycle model."""
    if command.engine is Engine.TIU:
        return Estimate(tiu_cycles(command, chip), None)
    moved = transfer(command, chip)
    return Estimate(moved.cycles, moved.bytes)


def agrees(row: Row, chip: Chip) -> bool:
    """Whether our model says the cycles and bytes of a row.

    The profile gives neither direction nor bytes of a transfer that takes no cycle.
    """
    mine = estimate(command_of(row), chip)
    recorded = mine.bytes is not None and bool(row["dir"])
    return mine.cycles == int(row["cycles"]) and (not recorded or mine.bytes == int(row["bytes"]))


def queue_of(rows: list[Row], commands: list[Command], engine: Engine) -> list[Command]:
    """One engine's commands in the order of its queue."""
    numbered = zip(rows, commands, strict=True)
    mine = [(int(row["seq"]), command) for row, command in numbered if command.engine is engine]
    return [command for _, command in sorted(mine, key=lambda pair: pair[0])]
