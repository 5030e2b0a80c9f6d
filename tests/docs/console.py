"""Console sessions in pages: commands after `$ `, and what they print."""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sybil import Example

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
"""`...` stands for anything, on one line or several; runs of spaces and line ends are alike."""

ENVIRONMENT = {
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "OPENBLAS_NUM_THREADS": "1",
}


ROUNDING = re.compile(r"(?:max abs error|SQNR) (\d[\d.e+-]*\d)")
"""Figures of the agreement with a float reference: the order in which a processor's matrix
library adds is in them."""

SLACK = 0.25
"""By how much of itself such a figure may differ from the page's (an SQNR counts decibels: a
tenth of this)."""


def with_shown_rounding(shown: str, got: str) -> str:
    """An output with the page's figures of agreement in place of its own where they are near."""
    figures = iter(ROUNDING.finditer(shown))

    def settle(own: re.Match[str]) -> str:
        page = next(figures, None)
        if page is None:
            return own[0]
        slack = SLACK / 10 if own[0].startswith("SQNR") else SLACK
        is_near = abs(float(own[1]) / float(page[1]) - 1) <= slack
        return page[0] if is_near else own[0]

    return ROUNDING.sub(settle, got)


def commands(session: str) -> Iterator[tuple[str, str]]:
    """Each command of a session with the output that it shows; `> ` continues a command."""
    command: list[str] = []
    output: list[str] = []
    for line in session.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield "".join(command), "".join(output)
            command, output = [line[2:]], []
        elif line.startswith("> ") and command and not output:
            command.append(line[2:])
        elif command:
            output.append(line)
        elif line.strip():
            raise ValueError(f"{line!r} stands before the first command")
    if command:
        yield "".join(command), "".join(output)


def run(command: str, folder: Path) -> str:
    """Both streams of a command in bash, with this environment's programs first.

    A command that fails shows it: `[status 1]` is its last line.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | ENVIRONMENT | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout + (f"[status {done.returncode}]\n" if done.returncode else "")


def evaluate(example: Example) -> str | None:
    """Runs a session in the current folder; None, or how its output differs from the page's."""
    checker = doctest.OutputChecker()
    for command, shown in commands(example.parsed):
        got = with_shown_rounding(shown, run(command, Path.cwd()))
        if not checker.check_output(shown, got, OPTIONS):
            difference = checker.output_difference(doctest.Example(command, shown), got, OPTIONS)
            return f"$ {command}{difference}"
    return None
