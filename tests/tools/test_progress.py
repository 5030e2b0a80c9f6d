"""A log gets a line now and then, and no lines about short work."""

import io
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from tests.tools.running import Run

from xdsl_tpu.tools import progress, tpu_run
from xdsl_tpu.tools.progress import counting, working

PERIOD = 0.02


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setattr(progress, "PERIOD", PERIOD)
    return Console(file=io.StringIO(), width=20)


def lines_of(log: Console) -> list[str]:
    assert isinstance(log.file, io.StringIO)
    return log.file.getvalue().splitlines()


def wait_for(log: Console, count: int) -> None:
    end = time.monotonic() + 30
    while len(lines_of(log)) < count:
        assert time.monotonic() < end
        time.sleep(PERIOD)


def test_lines_say_what_is_done_at_the_moment(log: Console) -> None:
    with working(log, "model [x]: the first, rather long step") as update:
        wait_for(log, 1)
        update("the second step")
        wait_for(log, len(lines_of(log)) + 2)
    lines = lines_of(log)
    assert re.fullmatch(r"model \[x\]: the first, rather long step \(\d+ s\)", lines[0])
    assert re.fullmatch(r"the second step \(\d+ s\)", lines[-1])
    time.sleep(3 * PERIOD)
    assert lines_of(log) == lines


def test_lines_say_how_much_is_done(log: Console) -> None:
    with counting(log, "simulating", 5000) as advance:
        for _ in range(1234):
            advance()
        wait_for(log, 1)
    assert re.fullmatch(r"simulating: [\d,]+ of 5,000 \(\d+ s\)", lines_of(log)[0])
    assert lines_of(log)[-1].startswith("simulating: 1,234 of")


@pytest.mark.parametrize("quiet", [False, True])
def test_none_when_it_is_short_or_quiet(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if quiet:
        monkeypatch.setattr(progress, "PERIOD", PERIOD)
    log = Console(file=io.StringIO(), quiet=quiet)
    with working(log, "anything"), counting(log, "numbers", 3) as advance:
        advance()
        time.sleep(3 * PERIOD)
    assert not lines_of(log)


def test_a_run_that_takes_long(
    compiled: Callable[[str], Path], call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PERIOD", PERIOD)
    simulate = tpu_run.simulate_program

    def slow(*arguments: object) -> object:
        time.sleep(5 * PERIOD)
        return simulate(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(tpu_run, "simulate_program", slow)
    done = call("tpu-run", compiled("cnn"))
    assert done.status == 0
    assert re.search(r"^timeline \(\d+ s\)$", done.err, re.MULTILINE)
    assert call("tpu-run", compiled("cnn"), "--quiet").err == ""
