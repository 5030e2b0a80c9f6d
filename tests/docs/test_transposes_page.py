"""The page on transposes names the patterns that exist, where they are."""

import re
from pathlib import Path

from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pipelines import patterns_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "transposes.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`\w+`.*?) \| (`.*?) \| ", PAGE, re.MULTILINE)


def test_patterns_are_in_the_passes_and_files_of_their_row() -> None:
    assert len(ROWS) > 15
    for names, places in ROWS:
        words: list[str] = re.findall(r"`([\w.-]+)`", places)
        passes = [word for word in words if word in PASSES]
        files = [path for word in words for path in (ROOT / "passes").rglob(word) if ".py" in word]
        assert files
        for name in re.findall(r"`(\w+)`", names):
            assert all(name in patterns_of(one) for one in passes), name
            assert any(f"class {name}(" in file.read_text(encoding="utf-8") for file in files), name


def test_every_pattern_of_the_permute_files_is_named() -> None:
    for file in (ROOT / "passes" / "processor_tpu_optimize").glob("*permute*.py"):
        for name in re.findall(r"^class (\w+)\(RewritePattern\)", file.read_text(), re.MULTILINE):
            assert f"`{name}`" in PAGE, name
