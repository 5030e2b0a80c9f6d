"""Writes into pages what their console sessions print today; what still matches stays as it is.

usage: python tests/docs/rewrite.py PAGE...
"""

import doctest
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from sybil import Document, Example  # noqa: E402
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser  # noqa: E402
from tests.docs import console  # noqa: E402

LINKED = ("examples", "benchmarks", "docs", "backend")


WALL_SECONDS = re.compile(r"│ wall seconds.*?(?=\n[└├])", re.DOTALL)


def without_times(text: str) -> str:
    """An output as a page shows it: wall times differ from run to run."""

    def hide(row: re.Match[str]) -> str:
        lines = row[0].splitlines()
        hidden = [re.sub(r"\d+\.\d+", "...", line) for line in lines]
        pairs = zip(lines, hidden, strict=True)
        return "\n".join(f"{new[:-1]:<{len(old) - 1}}│" for old, new in pairs)

    lines = WALL_SECONDS.sub(hide, text).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def session(old: str) -> str:
    """A session with the present output of every command whose output differs from the shown."""
    checker = doctest.OutputChecker()
    parts: list[str] = []
    for command, shown in console.commands(old):
        ran = without_times(console.run(command, Path.cwd()))
        got = console.with_shown_rounding(shown, ran)
        same = checker.check_output(shown, got, console.OPTIONS)
        lines = command.rstrip("\n").replace("\n", "\n> ")
        parts.append(f"$ {lines}\n{shown if same else got}")
    return "".join(parts)


def rewrite(page: Path) -> None:
    """Runs all blocks of a page in an empty folder, then writes the page."""
    text = page.read_text(encoding="utf-8")
    news: list[tuple[str, str]] = []

    def run_again(example: Example) -> None:
        news.append((str(example.parsed), session(example.parsed)))

    parsers = (
        PythonCodeBlockParser(),
        CodeBlockParser(language="console", evaluator=run_again),
    )
    examples = list(Document.parse(str(page.resolve()), *parsers).examples())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in LINKED:
            Path(folder, name).symlink_to(ROOT / name)
        for example in examples:
            example.evaluate()
        os.chdir(ROOT)
    for old, new in news:
        text = text.replace(old, new, 1)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name).resolve())
