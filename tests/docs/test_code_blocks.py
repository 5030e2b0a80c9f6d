"""Every ```console and ```python block of every page runs, and prints what the page shows.

The blocks of a page run in their order, in one empty folder with links to the repository's folders,
and python blocks share their names; one that begins with `>>>` is a doctest. An ```asm block is
`listing` to the python blocks after it.
"""

from pathlib import Path

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from tests.docs import console

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*.md")]
    if any(f"```{kind}\n" in page.read_text(encoding="utf-8") for kind in ("python", "console"))
)
LINKED = ("examples", "benchmarks", "docs", "backend")


def test_there_are_pages() -> None:
    names = {page.name for page in PAGES}
    assert {"get_started.md", "tutorial_swin.md", "extending.md"} <= names


def keep_listing(example: Example) -> None:
    """Gives the text of the block to the blocks after it."""
    example.namespace["listing"] = str(example.parsed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    parsers = (
        PythonCodeBlockParser(),
        CodeBlockParser(language="console", evaluator=console.evaluate),
        CodeBlockParser(language="asm", evaluator=keep_listing),
    )
    for example in Document.parse(str(page), *parsers).examples():
        example.evaluate()


def test_a_wrong_output_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one;\\\n> echo two\none\n...\n$ false\n[status 1]\n```\n")
    monkeypatch.chdir(tmp_path)
    parser = CodeBlockParser(language="console", evaluator=console.evaluate)
    for example in Document.parse(str(page), parser).examples():
        example.evaluate()
    page.write_text("```console\n$ echo one\ntwo\n```\n")
    (example,) = Document.parse(str(page), parser).examples()
    with pytest.raises(Exception, match="two"):
        example.evaluate()


@pytest.mark.parametrize(
    ("printed", "is_right"),
    [
        ("max abs error 0.000613, SQNR 61.1 dB", True),
        ("max abs error 0.000900, SQNR 61.1 dB", False),
        ("max abs error 0.000613, SQNR 55.0 dB", False),
        ("max abs error 0.000613, SQNR 61.1 dB, SQNR 61.1 dB", False),
    ],
)
def test_figures_of_rounding_may_differ_a_little(printed: str, is_right: bool) -> None:
    shown = "max abs error 0.000557, SQNR 60.9 dB"
    assert (console.with_shown_rounding(shown, printed) == shown) is is_right


def test_the_readme_s_sessions_fit_80_columns() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sessions = [block.split("```")[0] for block in text.split("```console\n")[1:]]
    assert sessions
    assert [line for one in sessions for line in one.splitlines() if len(line) > 80] == []
