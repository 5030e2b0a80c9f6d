"""The assembly and the error messages that the documentation shows are real."""

import re
from pathlib import Path

import pytest

from xdsl_tpu.backend.asm import AsmError, assemble, disassemble
from xdsl_tpu.backend.estimate import ratio_groups

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "isa.md").read_text(encoding="utf-8")
ACCURACY = (DOCS / "accuracy.md").read_text(encoding="utf-8")


def test_the_program_shown_is_a_program() -> None:
    (shown,) = re.findall(r"```asm\n(.*?)```", TEXT, re.DOTALL)
    program = assemble(shown)
    assert (len(program.tiu), len(program.gdma)) == (2, 3)
    assert disassemble(program) == shown


@pytest.mark.parametrize("line", ["sAR.add rez0=@0", "sAR.add id=1048576"])
def test_the_messages_shown_are_those(line: str) -> None:
    with pytest.raises(AsmError) as caught:
        assemble(f"\n\n\n{line}", "prog.asm")
    assert f"\n{caught.value}\n" in TEXT


def test_the_ratios_shown_are_those_of_the_data() -> None:
    names = {"cnn": "CNN"}
    shown = {
        row[0]: row[1:]
        for row in re.findall(
            r"^\| (.*?) \| (\d+) \| .* \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$",
            ACCURACY,
            re.MULTILINE,
        )
    }
    groups, _ = ratio_groups()
    for group in groups:
        key = f"{group.precision}, {names.get(group.family, group.family)}"
        figures = tuple(map(float, shown[key]))
        assert figures[0] == group.rows
        assert figures[1:] == pytest.approx((group.low, group.median, group.high), abs=0.0051)
