"""What a tool shows while it works: a bar or a spinner on a terminal, lines in a log.

A log gets a line every `PERIOD` seconds, and none about work that is done before.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PERIOD = 30.0
"""Seconds between two lines of a log."""


@contextmanager
def working(console: Console, what: str) -> Generator[Callable[[str], None]]:
    """Say what is being done for as long as it is; the function says it in other words."""
    if console.is_terminal:
        with console.status(what) as status:
            yield status.update
        return
    said = what

    def update(text: str) -> None:
        nonlocal said
        said = text

    with _lines(console, lambda: said):
        yield update


@contextmanager
def counting(console: Console, what: str, total: int) -> Generator[Callable[[], None]]:
    """Say how much of `total` is done; the function is called after each.

    A bar is redrawn at most every hundredth of the way.
    """
    done, step = 0, max(1, total // 100)
    if not console.is_terminal:

        def count() -> None:
            nonlocal done
            done += 1

        with _lines(console, lambda: f"{what}: {done:,} of {total:,}"):
            yield count
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(what, total=total)

        def advance() -> None:
            nonlocal done
            done += 1
            if done % step == 0 or done == total:
                progress.update(task, completed=done)

        yield advance


@contextmanager
def _lines(console: Console, text: Callable[[], str]) -> Generator[None]:
    """A thread that prints the text of the moment and the seconds since the start."""
    if console.quiet:
        yield
        return
    over, start = threading.Event(), time.monotonic()

    def report() -> None:
        while not over.wait(PERIOD):
            line = f"{text()} ({round(time.monotonic() - start)} s)"
            console.print(line, highlight=False, soft_wrap=True, markup=False)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
