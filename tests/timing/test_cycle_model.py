"""The cycle model against every instruction of real programs."""

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import FORMS, Command, Engine
from xdsl_tpu.backend.timing import simulate, tiu_cycles, transfer

DATA = Path(__file__).parents[1] / "data" / "cycles"
FILES = sorted(DATA.glob("*.csv.gz"))
CHIP = load_chip()


def command_of(row: dict[str, str]) -> Command:
    """The command that a row of the cycle data describes."""
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


def read(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name.split(".")[0])
def test_every_instruction_and_the_total(path: Path) -> None:
    rows = read(path)
    queues: dict[Engine, list[tuple[int, Command]]] = {engine: [] for engine in Engine}
    wrong: Counter[str] = Counter()
    for row in rows:
        command = command_of(row)
        queues[command.engine].append((int(row["seq"]), command))
        if command.engine is Engine.TIU:
            cycles = tiu_cycles(command, CHIP)
        else:
            moved = transfer(command, CHIP)
            cycles = moved.cycles
            if moved.bytes != int(row["bytes"]):
                wrong[f"bytes of {row['family']}"] += 1
        if cycles != int(row["cycles"]):
            wrong[row["family"]] += 1
    assert not wrong

    tiu, gdma = ([c for _, c in sorted(queues[e], key=lambda x: x[0])] for e in Engine)
    timeline = simulate(tiu, gdma, CHIP)
    assert timeline.total == max(int(row["end"]) for row in rows) + 1
    starts = {(row["engine"] == "BD", int(row["seq"])): int(row["start"]) for row in rows}
    for engine in Engine:
        for event in timeline.events[engine]:
            assert event.start == starts[engine is Engine.TIU, event.position]


def test_there_is_data() -> None:
    assert len(FILES) >= 5
