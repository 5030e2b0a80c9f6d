"""The cycle model against every instruction of real programs."""

from collections import Counter
from pathlib import Path

import pytest
from tests.timing.cycle_rows import agrees, command_of, queue_of, read

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate

DATA = Path(__file__).parents[1] / "data" / "cycles"
FILES = sorted(DATA.glob("*.csv.gz"))
CHIP = load_chip()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name.split(".")[0])
def test_every_instruction_and_the_total(path: Path) -> None:
    rows = read(path)
    commands = [command_of(row) for row in rows]
    assert not Counter(row["family"] for row in rows if not agrees(row, CHIP))

    tiu, gdma = (queue_of(rows, commands, engine) for engine in Engine)
    timeline = simulate(tiu, gdma, CHIP)
    assert timeline.total == max(int(row["end"]) for row in rows) + 1
    starts = {(row["engine"] == "BD", int(row["seq"])): int(row["start"]) for row in rows}
    for engine in Engine:
        for event in timeline.events[engine]:
            assert event.start == starts[engine is Engine.TIU, event.position]


def test_there_is_data() -> None:
    assert len(FILES) >= 5
