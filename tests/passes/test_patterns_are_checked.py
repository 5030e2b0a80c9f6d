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
from xdsl_tpu.tools.tpu_opt import TpuOptMain
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


class Watch:
    """`tpu-opt` with some patterns off, knowing which ones acted.

    What became of a part of a file in which a pattern that is off now never acted is what became
    of it before: only the other parts are worked on again.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.off: set[str] = set()
        self.acted: set[str] = set()
        self.acted_in: dict[tuple[str, ...], tuple[frozenset[str], object]] = {}
        process: Callable[[TpuOptMain, str], object] = vars(TpuOptMain)["_process"]

        def match(patterns: PatternsByOp, op: Operation, rewriter: PatternRewriter) -> None:
            for pattern in patterns.patterns.get(type(op), ()):
                name = type(pattern).__name__
                if name not in self.off:
                    pattern.match_and_rewrite(op, rewriter)
                if rewriter.has_done_action:
                    self.acted.add(name)
                    return

        def once(main: TpuOptMain, chunk: str) -> object:
            part = (*self.run, chunk)
            known = self.acted_in.get(part)
            if known is not None and not known[0] & self.off:
                return known[1]
            before, self.acted = self.acted, set()
            result = process(main, chunk)
            if not self.off:
                self.acted_in[part] = frozenset(self.acted), result
            self.acted |= before
            return result

        self.run: tuple[str, ...] = ()
        monkeypatch.setattr(PatternsByOp, "match_and_rewrite", match)
        monkeypatch.setattr(TpuOptMain, "_process", once)

    def passes(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> bool:
        """Whether a run succeeds; `acted` are the patterns that acted in it."""
        self.run = run.compiler
        self.acted = set()
        return run.passes(monkeypatch)


def test_each_pattern_is_missed_when_it_is_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # changed weights are written beside the output
    watch = Watch(monkeypatch)
    acts_in: dict[str, list[Run]] = {}
    for run in runs():
        assert watch.passes(run, monkeypatch), f"fails without any change: {run}"
        for name in watch.acted:
            acts_in.setdefault(name, []).append(run)
    loaded = [load() for load in PASSES.values()]
    names = {n for one in loaded if issubclass(one, PatternPass) for n in one.pattern_names()}
    assert names - acts_in.keys() == set()
    for name in sorted(names):
        watch.off = {name}
        caught = any(not watch.passes(run, monkeypatch) for run in acts_in[name])
        assert caught, f"all FileCheck tests pass without {name}"
