"""The cycle model against commands that were put to the vendor's compiler one by one."""

import re
from collections import Counter
from pathlib import Path

from tests.bm1684x import FORMS
from tests.timing.lone_commands import SUFFIX, Recorded, lone_commands

from xdsl_tpu.backend.chip import load_chip

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "data" / "cycles").glob(f"*{SUFFIX}"))
CHIP = load_chip()


def _recorded() -> list[Recorded]:
    return [item for path in FILES for item in lone_commands(path)]


def test_every_command_has_the_cycles_of_the_vendor() -> None:
    recorded = _recorded()
    assert len(recorded) > 5000
    assert not Counter(item.name for item in recorded if not item.agrees(CHIP))


def test_the_page_names_what_was_never_compared() -> None:
    compared = {(item.command.form.family, item.command.function) for item in _recorded()}
    named = set(re.findall(r"`(\w+\.\w+)`", _section("Never compared")))
    missing = {
        f"{form.name.removeprefix('s')}.{text}"
        for form in FORMS.values()
        for function, text in form.functions.items()
        if form.family not in ("DMA_sys", "SYSID") and (form.family, function) not in compared
    }
    assert named == missing


def _section(title: str) -> str:
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    return page.split(f"### {title}")[1].split("\n#")[0]
