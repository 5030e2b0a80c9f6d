"""Every rewrite pattern is held by a FileCheck test: one fails when the pattern is off."""

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from filecheck.main import main as filecheck_main
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pattern_table import PatternPass, PatternsByOp
from xdsl_tpu.tools.tpu_opt import main as tpu_opt_main

FILES = Path(__file__).parents[1] / "filecheck" / "passes"
RUN = re.compile(r"// RUN: tpu-opt (%s [^|]*)\| filecheck (%s.*)")


@dataclass(frozen=True)
class Run:
    """One RUN line: the arguments of both programs."""

    compiler: tuple[str, ...]
    checker: tuple[str, ...]

    def output(self) -> str:
        """What `tpu-opt` writes."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            _finished(tpu_opt_main, list(self.compiler))
        return out.getvalue()

    def passes(self, monkeypatch: pytest.MonkeyPatch) -> bool:
        """Whether `filecheck` finds what it wants in the output."""
        monkeypatch.setattr("sys.stdin", io.StringIO(self.output()))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return not _finished(filecheck_main, ["filecheck", *self.checker])


def _finished(program: Callable[[list[str]], object], arguments: list[str]) -> bool:
    """Run a program to its end; whether it failed."""
    try:
        return bool(program(arguments))
    except SystemExit as end:
        return bool(end.code)


def runs() -> Iterator[Run]:
    """The RUN lines that only compile and check, of passes that have patterns."""
    names = [name for name, load in PASSES.items() if issubclass(load(), PatternPass)]
    for path in sorted(FILES.glob("*.mlir")):
        for compiler, checker in RUN.findall(path.read_text(encoding="utf-8")):
            if any(f"--{name}" in compiler for name in names) and ">" not in compiler:
                yield Run(_words(compiler, path), _words(checker, path))


def _words(text: str, path: Path) -> tuple[str, ...]:
    text = text.replace("%s", shlex.quote(str(path))).replace("%S", shlex.quote(str(path.parent)))
    return tuple(shlex.split(text))


def test_each_pattern_is_missed_when_it_is_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # changed weights are written beside the output
    off: set[str] = set()
    acted: set[str] = set()

    def watched(self: PatternsByOp, op: Operation, rewriter: PatternRewriter) -> None:
        for pattern in self.patterns.get(type(op), ()):
            name = type(pattern).__name__
            if name not in off:
                pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                acted.add(name)
                return

    monkeypatch.setattr(PatternsByOp, "match_and_rewrite", watched)
    acts_in: dict[str, list[Run]] = {}
    for run in runs():
        acted.clear()
        assert run.passes(monkeypatch), f"fails without any change: {run}"
        for name in acted:
            acts_in.setdefault(name, []).append(run)
    loaded = [load() for load in PASSES.values()]
    names = {n for one in loaded if issubclass(one, PatternPass) for n in one.pattern_names()}
    assert names - acts_in.keys() == set()
    for name in sorted(names):
        off.clear()
        off.add(name)
        caught = any(not run.passes(monkeypatch) for run in acts_in[name])
        assert caught, f"all FileCheck tests pass without {name}"
